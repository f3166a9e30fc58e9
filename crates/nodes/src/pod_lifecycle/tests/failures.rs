//! Failures of containers, images and probes.

use super::*;

#[test]
fn a_failed_init_container_that_is_not_restarted_fails_the_pod() {
    let mut pod = TestPod::of(&json!({
        "restartPolicy": "Never",
        "initContainers": [{"name": "setup", "image": "setup:bad"}],
    }));
    pod.profile = Profile::read("images: [{pattern: \"setup:bad\", exit-code: 3, crash-after: 1}]").unwrap();
    pod.until(60);
    assert_eq!((pod.status.phase.as_deref(), pod.completion), (Some("Failed"), Completion::Finished));
    assert_eq!(pod.condition("Initialized").reason.as_deref(), Some("ContainersNotInitialized"));
}

#[test]
fn a_crashing_container_is_restarted_with_backoff() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("crash-after", "3"), ("exit-code", "7")]);
    pod.until(2);
    pod.take_story();
    pod.until(40);
    assert_story(
        &pod.take_story(),
        r#"
        2.1 Created Container created
        2.1 Started Container started
        2.1 Running up initialized ready web:running
        5.1 Running up initialized web:Error(7)
        6.1 Pulled Container image "nginx:1" already present on machine and can be accessed by the pod
        6.1 Created Container created
        6.1 Started Container started
        6.1 Running up initialized ready web:running*1
        9.1 Running up initialized web:Error(7)*1
        10.1 BackOff Back-off restarting failed container web in pod web-1_shop(u1)
        10.1 Running up initialized web:CrashLoopBackOff*1
        19.1 Pulled Container image "nginx:1" already present on machine and can be accessed by the pod
        19.1 Created Container created
        19.1 Started Container started
        19.1 Running up initialized ready web:running*2
        22.1 Running up initialized web:Error(7)*2
        23.1 BackOff Back-off restarting failed container web in pod web-1_shop(u1)
        23.1 Running up initialized web:CrashLoopBackOff*2
        "#,
    );
    let web = &pod.status.container_statuses.as_ref().unwrap()[0];
    let waiting = web.state.as_ref().unwrap().waiting.as_ref().unwrap();
    assert_eq!(
        waiting.message.as_deref(),
        Some("back-off 20s restarting failed container=web pod=web-1_shop(u1)")
    );
    assert_eq!(web.last_state.as_ref().unwrap().terminated.as_ref().unwrap().exit_code, 7);
    pod.until(3600);
    let delays: Vec<_> =
        pod.take_story().lines().filter(|line| line.contains("running*")).map(str::to_owned).collect();
    let at = |line: &str| line.trim().split('.').next().unwrap().parse::<i64>().unwrap();
    let (a, b) = (at(&delays[delays.len() - 2]), at(&delays[delays.len() - 1]));
    assert_eq!(b - a, 303, "the maximum is five minutes");
}

#[test]
fn a_long_run_resets_the_backoff() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("crash-after", "700")]);
    pod.until(3000);
    assert!(!pod.take_story().contains("BackOff"));
    assert_eq!(pod.status.container_statuses.as_ref().unwrap()[0].restart_count, 4);
}

#[test]
fn a_failing_pull_is_retried_with_backoff() {
    let mut pod = TestPod::of(&json!({"containers": [{"name": "web", "image": "nginx:broken"}]}));
    pod.until(14);
    let error = "rpc error: code = NotFound desc = failed to pull and unpack image \
                 \"docker.io/library/nginx:broken\": failed to resolve image: docker.io/library/nginx:broken: not found";
    assert_story(
        &pod.take_story(),
        &format!(
            r#"
        0.0 Pending initialized web:ContainerCreating
        0.1 Pulling Pulling image "nginx:broken"
        0.1 Pending up initialized web:ContainerCreating
        1.1 Failed Failed to pull image "nginx:broken": {error}
        1.1 Failed Error: ErrImagePull
        1.1 Pending up initialized web:ErrImagePull
        2.1 BackOff Back-off pulling image "nginx:broken"
        2.1 Failed Error: ImagePullBackOff
        2.1 Pending up initialized web:ImagePullBackOff
        11.1 Pulling Pulling image "nginx:broken"
        12.1 Failed Failed to pull image "nginx:broken": {error}
        12.1 Failed Error: ErrImagePull
        12.1 Pending up initialized web:ErrImagePull
        13.1 BackOff Back-off pulling image "nginx:broken"
        13.1 Failed Error: ImagePullBackOff
        13.1 Pending up initialized web:ImagePullBackOff
        "#
        ),
    );
    let web = &pod.status.container_statuses.as_ref().unwrap()[0];
    let waiting = web.state.as_ref().unwrap().waiting.as_ref().unwrap();
    let message = format!("Back-off pulling image \"nginx:broken\": ErrImagePull: {error}");
    assert_eq!(waiting.message.as_deref(), Some(message.as_str()));
    assert_eq!((web.image.as_str(), web.image_id.as_str()), ("nginx:broken", ""));
}

#[test]
fn a_container_that_is_never_ready_has_one_event() {
    let probe = json!({"periodSeconds": 10, "initialDelaySeconds": 3});
    let mut pod =
        TestPod::of(&json!({"containers": [{"name": "web", "image": "nginx:1", "readinessProbe": probe}]}))
            .annotated(&[("ready", "never")]);
    let story = pod.until(300).take_story();
    let events: Vec<_> = story.lines().filter(|line| line.contains("Unhealthy")).map(str::trim).collect();
    assert_eq!(events, ["5.1 Unhealthy Readiness probe failed: the simulated container is not ready"]);
    assert_eq!(pod.status.phase.as_deref(), Some("Running"));
    assert_eq!(pod.wake, None);
}

#[test]
fn readiness_can_flap() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("flap-seconds", "10")]);
    pod.until(2);
    pod.take_story();
    pod.until(40);
    assert_story(
        &pod.take_story(),
        "
        2.1 Created Container created
        2.1 Started Container started
        2.1 Running up initialized ready web:running
        12.1 Running up initialized web:running
        22.1 Running up initialized ready web:running
        32.1 Running up initialized web:running
        ",
    );
}

#[test]
fn invalid_annotations_are_reported_and_ignored() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("start-seconds", "soon"), ("colour", "red")]);
    let story = pod.until(0).take_story();
    assert!(story.contains(
        "InvalidSimulation annotation sim.gantry.dev/start-seconds: \"soon\" is not a number of seconds such as 2.5, \
         or a range such as 1..3"
    ));
    assert!(story.contains("InvalidSimulation annotation sim.gantry.dev/colour: unknown trait"));
}

#[test]
fn a_container_that_exceeds_its_memory_limit_is_killed_and_restarted() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("oom-after", "3")]);
    let story = pod.until(12).take_story();
    assert!(story.contains("Running up initialized web:OOMKilled(137)"), "{story}");
    let web = &pod.status.container_statuses.as_ref().unwrap()[0];
    let last = web.last_state.as_ref().unwrap().terminated.as_ref().unwrap();
    assert_eq!((last.reason.as_deref(), last.exit_code), (Some("OOMKilled"), 137));
    pod.restarted().until(12);
    let web = &pod.status.container_statuses.as_ref().unwrap()[0];
    let last = web.last_state.as_ref().unwrap().terminated.as_ref().unwrap();
    assert_eq!(
        last.reason.as_deref(),
        Some("OOMKilled"),
        "the last state is kept after a restart of the node"
    );
}

#[test]
fn a_crashing_init_container_blocks_the_pod() {
    let init = json!([{"name": "setup", "image": "setup:1"}]);
    let mut pod = TestPod::of(&json!({"initContainers": init}))
        .annotated(&[("init-crash-after", "1"), ("init-exit-code", "3")]);
    let story = pod.until(40).take_story();
    assert!(story.contains("Pending up setup:Error(3) web:PodInitializing"), "{story}");
    assert!(story.contains("setup:CrashLoopBackOff*1 web:PodInitializing"), "{story}");
    assert!(story.contains("BackOff Back-off restarting failed container setup in pod web-1_shop(u1)"));
    assert_eq!(pod.status.phase.as_deref(), Some("Pending"));
}

#[test]
fn a_startup_probe_that_never_passes_restarts_the_container() {
    let probe = json!({"periodSeconds": 3, "failureThreshold": 3});
    let container = json!([{"name": "web", "image": "nginx:1", "startupProbe": probe}]);
    for annotation in [("startup", "never"), ("ready", "never"), ("ready-seconds", "60")] {
        let mut pod = TestPod::of(&json!({"containers": container})).annotated(&[annotation]);
        pod.until(2);
        pod.take_story();
        pod.until(13);
        assert_story(
            &pod.take_story(),
            r#"
            2.1 Created Container created
            2.1 Started Container started
            2.1 Unhealthy Startup probe failed: the simulated container has not started up
            2.1 Running up initialized web:running
            5.1 Unhealthy Startup probe failed: the simulated container has not started up
            8.1 Unhealthy Startup probe failed: the simulated container has not started up
            8.1 Killing Container web failed startup probe, will be restarted
            10.1 Running up initialized web:Completed(0)
            11.1 Pulled Container image "nginx:1" already present on machine and can be accessed by the pod
            11.1 Created Container created
            11.1 Started Container started
            11.1 Unhealthy Startup probe failed: the simulated container has not started up
            11.1 Running up initialized web:running*1
            "#,
        );
        pod.until(600);
        assert!(pod.take_story().contains("web:CrashLoopBackOff"), "{annotation:?}");
    }
}

#[test]
fn a_failing_liveness_probe_restarts_the_container() {
    let probe = json!({"periodSeconds": 5, "failureThreshold": 2, "initialDelaySeconds": 1});
    let container = json!([{"name": "web", "image": "nginx:1", "livenessProbe": probe}]);
    let mut pod = TestPod::of(&json!({"containers": container})).annotated(&[("liveness-fails-after", "7")]);
    pod.until(2);
    pod.take_story();
    pod.until(21);
    assert_story(
        &pod.take_story(),
        "
        2.1 Created Container created
        2.1 Started Container started
        2.1 Running up initialized ready web:running
        13.1 Unhealthy Liveness probe failed: the simulated container does not answer
        18.1 Unhealthy Liveness probe failed: the simulated container does not answer
        18.1 Killing Container web failed liveness probe, will be restarted
        18.1 Running up initialized web:running
        20.1 Running up initialized web:Completed(0)
        ",
    );
    pod.until(600);
    assert!(
        pod.take_story().contains("BackOff Back-off restarting failed container web in pod web-1_shop(u1)")
    );
}

#[test]
fn a_liveness_probe_is_not_tried_before_the_startup_probe_has_passed() {
    let startup = json!({"periodSeconds": 10, "failureThreshold": 30});
    let liveness = json!({"periodSeconds": 1, "failureThreshold": 1});
    let container =
        json!([{"name": "web", "image": "nginx:1", "startupProbe": startup, "livenessProbe": liveness}]);
    let mut pod = TestPod::of(&json!({"containers": container}))
        .annotated(&[("ready-seconds", "15"), ("liveness-fails-after", "0")]);
    let story = pod.until(40).take_story();
    let first = story.lines().find(|line| line.contains("Liveness")).unwrap();
    assert!(first.trim().starts_with("22.1 "), "{story}");
}

#[test]
fn a_liveness_trait_without_a_liveness_probe_kills_nothing() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("liveness-fails-after", "1")]);
    pod.until(600);
    assert_eq!(pod.status.container_statuses.as_ref().unwrap()[0].restart_count, 0);
    assert_eq!(pod.wake, None);
}
