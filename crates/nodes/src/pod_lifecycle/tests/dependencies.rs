//! The objects that pods depend on. Messages are those of Kubernetes 1.37.

use super::*;

const PRESENT: &str = "Container image \"nginx:1\" already present on machine and can be accessed by the pod";

/// Creates a pod of one container with these fields, whose image is on the node.
fn pod_with(container: &Value, volumes: &Value) -> TestPod {
    let mut web = json!({"name": "web", "image": "nginx:1", "imagePullPolicy": "IfNotPresent"});
    web.as_object_mut().unwrap().extend(container.as_object().unwrap().clone());
    let mut pod = TestPod::of(&json!({"containers": [web], "volumes": volumes}));
    pod.images.insert("nginx:1".to_owned());
    pod
}

/// Creates a pod whose container mounts this volume.
fn mounting(volume: &Value) -> TestPod {
    let mut volume = volume.clone();
    volume["name"] = json!("v");
    pod_with(&json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}), &json!([volume]))
}

fn waiting(pod: &TestPod) -> (String, String) {
    let web = &pod.status.container_statuses.as_ref().unwrap()[0];
    let waiting = web.state.as_ref().unwrap().waiting.clone().unwrap_or_default();
    (waiting.reason.unwrap_or_default(), waiting.message.unwrap_or_default())
}

fn is_ready(pod: &TestPod) -> bool {
    pod.condition("Ready").status == "True"
}

#[test]
fn a_container_is_not_created_without_the_sources_of_its_environment() {
    for (container, message) in [
        (json!({"envFrom": [{"configMapRef": {"name": "none"}}]}), "configmap \"none\" not found"),
        (json!({"envFrom": [{"secretRef": {"name": "none"}}]}), "secret \"none\" not found"),
        (
            json!({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "there", "key": "no"}}}]}),
            "couldn't find key no in ConfigMap shop/there",
        ),
        (
            json!({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "there", "key": "no"}}}]}),
            "couldn't find key no in Secret shop/there",
        ),
    ] {
        let mut pod = pod_with(&container, &json!([]));
        pod.with(ReferenceKind::ConfigMap, "there", &["a"]).with(ReferenceKind::Secret, "there", &["a"]);
        pod.until(60);
        assert_eq!(waiting(&pod), ("CreateContainerConfigError".to_owned(), message.to_owned()));
        assert_eq!((pod.status.phase.as_deref(), is_ready(&pod)), (Some("Pending"), false));
        assert!(pod.take_story().contains(&format!("Failed Error: {message}")));
    }
}

#[test]
fn a_container_is_created_when_a_missing_object_appears() {
    let mut pod = pod_with(&json!({"envFrom": [{"configMapRef": {"name": "late"}}]}), &json!([]));
    let story = pod.until(40).take_story();
    let tries = story.matches(&format!("Pulled {PRESENT}")).count();
    assert!((3..=5).contains(&tries), "every ten to fifteen seconds: {story}");
    assert_eq!(story.matches("Failed Error: configmap \"late\" not found").count(), tries);
    pod.with(ReferenceKind::ConfigMap, "late", &[]).until(60);
    assert!(is_ready(&pod));
    assert_eq!(pod.wake, None, "a healthy pod needs no further sync");
}

#[test]
fn the_status_keeps_the_error_while_the_image_is_pulled_again() {
    let container = json!({"envFrom": [{"secretRef": {"name": "none"}}], "imagePullPolicy": "Always"});
    let mut pod = pod_with(&container, &json!([]));
    pod.until(5);
    pod.take_story();
    let story = pod.until(40).take_story();
    assert!(story.contains("Pulling Pulling image \"nginx:1\""), "{story}");
    assert!(!story.contains("Pending"), "its status does not change: {story}");
}

#[test]
fn volumes_are_not_mounted_without_their_content() {
    let projected = json!({"projected": {"sources": [
        {"secret": {"name": "none"}}, {"configMap": {"name": "none2"}},
        {"configMap": {"name": "there", "items": [{"key": "no", "path": "p"}]}},
    ]}});
    let token = json!({"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}});
    for (volume, problem) in [
        (json!({"configMap": {"name": "none"}}), "configmap \"none\" not found"),
        (json!({"secret": {"secretName": "none"}}), "secret \"none\" not found"),
        (
            json!({"configMap": {"name": "there", "items": [{"key": "no", "path": "p"}]}}),
            "configmap references non-existent config key: no",
        ),
        (
            json!({"secret": {"secretName": "there", "items": [{"key": "no", "path": "p"}]}}),
            "references non-existent secret key: no",
        ),
        (
            projected,
            "[secret \"none\" not found, configmap \"none2\" not found, configmap references non-existent config key: no]",
        ),
        (token, "failed to fetch token: serviceaccounts \"default\" not found"),
    ] {
        let mut pod = mounting(&volume);
        pod.with(ReferenceKind::ConfigMap, "there", &["a"]).with(ReferenceKind::Secret, "there", &["a"]);
        let story = pod.until(33).take_story();
        let event = format!("FailedMount MountVolume.SetUp failed for volume \"v\" : {problem}");
        assert_eq!(story.matches(&event).count(), 7, "after 0.5, 1, 2, 4, 8 and 16 s: {story}");
        assert_eq!(waiting(&pod), ("ContainerCreating".to_owned(), String::new()));
        let prepared = pod.condition("PodReadyToStartContainers");
        assert_eq!(prepared.message.as_deref(), Some("no pod sandbox exists"));
    }
}

#[test]
fn a_volume_is_mounted_when_its_content_appears() {
    let mut pod = mounting(&json!({"configMap": {"name": "late"}}));
    pod.until(10);
    assert!(!is_ready(&pod));
    pod.with(ReferenceKind::ConfigMap, "late", &["a"]).until(20);
    assert!(is_ready(&pod));
}

#[test]
fn a_claim_without_a_volume_is_not_mounted() {
    let mut pod = mounting(&json!({"persistentVolumeClaim": {"claimName": "data"}}));
    let event = "FailedMount Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], \
                failed to process volumes=[v]: error processing PVC shop/data: ";
    let missing =
        format!("{event}failed to fetch PVC from API server: persistentvolumeclaims \"data\" not found");
    assert!(pod.until(1).take_story().contains(&missing));
    let data = Reference { kind: ReferenceKind::Claim, name: "data".to_owned() };
    pod.objects.push((data.clone(), Lookup::Claim { bound: false }));
    assert!(pod.until(20).take_story().contains(&format!("{event}PVC is not bound")));
    pod.objects.push((data, Lookup::Claim { bound: true }));
    pod.until(40);
    assert!(is_ready(&pod));
}

#[test]
fn optional_or_unmounted_objects_are_not_required() {
    let key = |name: &str| json!({"name": name, "key": "no", "optional": true});
    let container = json!({
        "envFrom": [{"secretRef": {"name": "none", "optional": true}}],
        "env": [
            {"name": "A", "valueFrom": {"configMapKeyRef": key("there")}},
            {"name": "B", "valueFrom": {"secretKeyRef": key("none")}},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
    });
    let sources = json!([
        {"secret": {"name": "none", "optional": true}},
        {"configMap": {"name": "there", "optional": true, "items": [{"key": "no", "path": "p"}]}},
        {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    ]);
    let volumes = json!([
        {"name": "v", "projected": {"sources": sources}},
        {"name": "unused", "configMap": {"name": "none"}},
    ]);
    let mut pod = pod_with(&container, &volumes);
    pod.with(ReferenceKind::ConfigMap, "there", &["a"]).until(10);
    assert!(is_ready(&pod), "{}", pod.take_story());
}

#[test]
fn denied_access_is_reported_with_the_servers_message() {
    let mut pod = pod_with(&json!({"envFrom": [{"secretRef": {"name": "s", "optional": true}}]}), &json!([]));
    let secret = Reference { kind: ReferenceKind::Secret, name: "s".to_owned() };
    pod.objects.push((secret, Lookup::Denied("secrets \"s\" is forbidden".to_owned())));
    pod.until(10);
    assert_eq!(waiting(&pod).1, "secrets \"s\" is forbidden");
}

#[test]
fn a_restarted_container_reads_its_environment_again() {
    let mut pod = pod_with(&json!({"envFrom": [{"secretRef": {"name": "s"}}]}), &json!([]))
        .annotated(&[("crash-after", "5")]);
    pod.with(ReferenceKind::Secret, "s", &[]).until(3);
    assert!(is_ready(&pod));
    pod.objects.clear();
    pod.until(8);
    assert_eq!(waiting(&pod).0, "CreateContainerConfigError");
    let web = &pod.status.container_statuses.as_ref().unwrap()[0];
    assert!(web.last_state.as_ref().unwrap().terminated.is_some());
    pod.with(ReferenceKind::Secret, "s", &[]).until(24);
    assert_eq!(pod.status.container_statuses.as_ref().unwrap()[0].restart_count, 1);
}

#[test]
fn an_invalid_image_name_is_reported_and_retried() {
    let mut pod = pod_with(&json!({"image": "nginx::bad"}), &json!([]));
    let story = pod.until(40).take_story();
    let why = "Failed to apply default image tag \"nginx::bad\": couldn't parse image name \"nginx::bad\": \
               invalid reference format";
    assert_eq!(waiting(&pod), ("InvalidImageName".to_owned(), why.to_owned()));
    let tries = story.matches(&format!("InspectFailed {why}")).count();
    assert!((3..=5).contains(&tries), "{story}");
    assert_eq!(story.matches("Failed Error: InvalidImageName").count(), tries);
}

#[test]
fn an_image_that_may_not_be_pulled_must_be_on_the_node() {
    let never = json!({"image": "app:1", "imagePullPolicy": "Never"});
    let why = "Container image \"app:1\" is not present with pull policy of Never";
    let mut pod = pod_with(&never, &json!([]));
    let story = pod.until(5).take_story();
    assert_eq!(waiting(&pod), ("ErrImageNeverPull".to_owned(), why.to_owned()));
    assert!(story.contains(&format!("ErrImageNeverPull {why}")), "{story}");
    assert!(story.contains("Failed Error: ErrImageNeverPull"), "{story}");
    let mut pod = pod_with(&never, &json!([])).annotated(&[("image-pull", "present")]);
    pod.until(5);
    assert!(is_ready(&pod));
}

#[test]
fn a_missing_secret_for_pulling_images_is_only_a_warning() {
    let mut pod =
        TestPod::of(&json!({"imagePullSecrets": [{"name": "a"}, {"name": "there"}, {"name": "b"}]}));
    pod.with(ReferenceKind::Secret, "there", &[]);
    let story = pod.until(10).take_story();
    assert!(
        story.contains(
            "FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (a, b); \
             attempting to pull the image may not succeed."
        ),
        "{story}"
    );
    assert!(is_ready(&pod));
}
