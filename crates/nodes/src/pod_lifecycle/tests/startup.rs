//! How pods start.

use super::*;

#[test]
fn a_pod_is_prepared_pulled_started_and_ready() {
    let mut pod = TestPod::of(&json!({}));
    pod.until(60);
    assert_story(
        &pod.take_story(),
        r#"
        0.0 Pending initialized web:ContainerCreating
        0.1 Pulling Pulling image "nginx:1"
        0.1 Pending up initialized web:ContainerCreating
        1.1 Pulled Successfully pulled image "nginx:1" in 1s (1s including waiting). Image size: 55606757 bytes.
        2.1 Created Container created
        2.1 Started Container started
        2.1 Running up initialized ready web:running
        "#,
    );
    assert_eq!((pod.wake, pod.completion), (None, Completion::Active), "a healthy pod needs no further sync");
    let status = &pod.status;
    assert_eq!(status.pod_ip.as_deref(), Some("10.128.0.7"));
    assert_eq!(status.host_ip.as_deref(), Some("172.18.0.2"));
    assert_eq!(status.observed_generation, Some(1));
    let web = &status.container_statuses.as_ref().unwrap()[0];
    assert_eq!(web.image, "docker.io/library/nginx:1");
    assert!(web.image_id.starts_with("docker.io/library/nginx@sha256:"));
    assert!(web.container_id.as_ref().unwrap().starts_with("simulated://"));
    assert_eq!((web.started, web.ready), (Some(true), true));
    let types: Vec<_> =
        status.conditions.iter().flatten().map(|condition| condition.type_.as_str()).collect();
    assert_eq!(
        types,
        ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
    );
    assert!(status.conditions.iter().flatten().all(|condition| condition.observed_generation == Some(1)));
}

#[test]
fn a_pod_without_delays_is_reported_without_a_sandbox_and_runs_at_once() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("pull-seconds", "0"), ("start-seconds", "0")]);
    let story = pod.until(1).take_story();
    let statuses: Vec<_> = story.lines().filter(|line| line.contains("web:")).map(str::trim).collect();
    assert_eq!(
        statuses,
        ["0.0 Pending initialized web:ContainerCreating", "0.0 Running up initialized ready web:running"]
    );
}

#[test]
fn an_unready_pod_names_its_unready_containers() {
    let mut pod =
        TestPod::of(&json!({"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]}));
    pod.until(0);
    for name in ["Ready", "ContainersReady"] {
        let condition = pod.condition(name);
        assert_eq!(condition.reason.as_deref(), Some("ContainersNotReady"));
        assert_eq!(condition.message.as_deref(), Some("containers with unready status: [a b]"));
    }
    let unready_since = pod.condition("Ready").last_transition_time.clone();
    pod.until(60);
    assert_eq!(pod.condition("Ready").reason, None);
    assert_ne!(pod.condition("Ready").last_transition_time, unready_since);
}

#[test]
fn an_image_on_the_node_is_not_pulled_again_unless_the_policy_is_always() {
    let mut pod = TestPod::of(&json!({}));
    pod.images.insert("nginx:1".to_owned());
    let story = pod.until(10).take_story();
    assert!(
        story.contains(
            "Container image \"nginx:1\" already present on machine and can be accessed by the pod"
        )
    );
    assert!(!story.contains("Pulling"));
    let mut pod =
        TestPod::of(&json!({"containers": [{"name": "web", "image": "nginx", "imagePullPolicy": "Always"}]}));
    pod.images.insert("nginx".to_owned());
    assert!(pod.until(10).take_story().contains("Pulling image \"nginx\""));
}

#[test]
fn init_containers_run_to_completion_one_by_one_while_sidecars_run() {
    let mut pod = TestPod::of(&json!({"initContainers": [
        {"name": "first", "image": "x:1"},
        {"name": "proxy", "image": "p:1", "restartPolicy": "Always"},
        {"name": "second", "image": "x:1"},
    ]}));
    pod.until(30);
    let story = pod.take_story();
    let states: Vec<_> = story.lines().filter(|line| line.contains("web:")).collect();
    assert_story(
        &states.join("\n"),
        "
        0.0 Pending first:PodInitializing proxy:PodInitializing second:PodInitializing web:PodInitializing
        0.1 Pending up first:PodInitializing proxy:PodInitializing second:PodInitializing web:PodInitializing
        2.1 Pending up first:running proxy:PodInitializing second:PodInitializing web:PodInitializing
        4.1 Pending up first:Completed(0) proxy:PodInitializing second:PodInitializing web:PodInitializing
        6.1 Pending up first:Completed(0) proxy:running second:PodInitializing web:PodInitializing
        7.1 Pending up first:Completed(0) proxy:running second:running web:PodInitializing
        9.1 Pending up initialized first:Completed(0) proxy:running second:Completed(0) web:PodInitializing
        11.1 Running up initialized ready first:Completed(0) proxy:running second:Completed(0) web:running
        ",
    );
}

#[test]
fn probes_decide_when_a_container_is_ready() {
    let probe = |delay: u32, period: u32, successes: u32| json!({"initialDelaySeconds": delay, "periodSeconds": period, "successThreshold": successes});
    let ready_at = |container: Value, annotations: &[(&str, &str)]| {
        let mut pod = TestPod::of(&json!({"containers": [container]})).annotated(annotations);
        let story = pod.until(120).take_story();
        let shown = story.lines().find(|line| line.contains(" ready ")).map(str::trim);
        shown.map(|line| line.split(' ').next().unwrap().to_owned())
    };
    let web = |probes: Value| {
        let mut web = json!({"name": "web", "image": "nginx:1"});
        web.as_object_mut().unwrap().extend(probes.as_object().unwrap().clone());
        web
    };
    // It runs from 2.1 on.
    assert_eq!(ready_at(web(json!({"readinessProbe": probe(5, 10, 1)})), &[]).as_deref(), Some("7.1"));
    let slow = [("ready-seconds", "12")];
    assert_eq!(ready_at(web(json!({"readinessProbe": probe(5, 10, 1)})), &slow).as_deref(), Some("17.1"));
    assert_eq!(ready_at(web(json!({"readinessProbe": probe(5, 10, 3)})), &[]).as_deref(), Some("27.1"));
    assert_eq!(ready_at(web(json!({})), &slow).as_deref(), Some("14.1"));
    let both = json!({"startupProbe": probe(0, 5, 1), "readinessProbe": probe(0, 2, 1)});
    assert_eq!(ready_at(web(both), &[("ready-seconds", "6")]).as_deref(), Some("12.1"));
    assert_eq!(ready_at(web(json!({"readinessProbe": probe(5, 10, 1)})), &[("ready", "never")]), None);
}

#[test]
fn readiness_gates_are_kept() {
    let mut pod = TestPod::of(&json!({"readinessGates": [{"conditionType": "shop.io/open"}]}));
    pod.until(10);
    let ready = pod.condition("Ready");
    assert_eq!(ready.reason.as_deref(), Some("ReadinessGatesNotReady"));
    let message = "corresponding condition of pod readiness gate \"shop.io/open\" does not exist.";
    assert_eq!(ready.message.as_deref(), Some(message));
    assert_eq!(pod.condition("ContainersReady").status, "True");
    pod.object["status"] = json!({"conditions": [{"type": "shop.io/open", "status": "True"}]});
    pod.until(11);
    assert_eq!(pod.condition("Ready").status, "True");
}

#[test]
fn durations_depend_on_the_uid() {
    let story = |uid: &str| {
        let mut pod = TestPod::of(&json!({}));
        pod.profile = Profile::built_in();
        pod.object["metadata"]["uid"] = json!(uid);
        pod.until(30).take_story()
    };
    assert_eq!(story("u1"), story("u1"));
    assert_ne!(story("u1"), story("u2"));
}
