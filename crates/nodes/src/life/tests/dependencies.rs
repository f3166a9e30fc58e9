//! What pods depend on, and what a kubelet says of what is missing. The words are those of Kubernetes 1.37.

use super::*;

const PRESENT: &str = "Container image \"nginx:1\" already present on machine and can be accessed by the pod";

/// A pod of one container with these fields, whose image is on the node.
fn pod(container: &Value, volumes: &Value) -> Life {
    let mut web = json!({"name": "web", "image": "nginx:1", "imagePullPolicy": "IfNotPresent"});
    web.as_object_mut().unwrap().extend(container.as_object().unwrap().clone());
    let mut life = Life::of(&json!({"containers": [web], "volumes": volumes}));
    life.images.insert("nginx:1".to_owned());
    life
}

/// A pod whose container mounts this volume.
fn mounting(volume: &Value) -> Life {
    let mut volume = volume.clone();
    volume["name"] = json!("v");
    pod(&json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}), &json!([volume]))
}

fn waiting(life: &Life) -> (String, String) {
    let web = &life.status.container_statuses.as_ref().unwrap()[0];
    let waiting = web.state.as_ref().unwrap().waiting.clone().unwrap_or_default();
    (waiting.reason.unwrap_or_default(), waiting.message.unwrap_or_default())
}

fn is_ready(life: &Life) -> bool {
    life.condition("Ready").status == "True"
}

#[test]
fn a_container_is_not_created_without_what_its_environment_is_read_from() {
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
        let mut life = pod(&container, &json!([]));
        life.with(ReferenceKind::ConfigMap, "there", &["a"]).with(ReferenceKind::Secret, "there", &["a"]);
        life.until(60);
        assert_eq!(waiting(&life), ("CreateContainerConfigError".to_owned(), message.to_owned()));
        assert_eq!((life.status.phase.as_deref(), is_ready(&life)), (Some("Pending"), false));
        assert!(life.take_story().contains(&format!("Failed Error: {message}")));
    }
}

#[test]
fn a_container_is_created_when_what_was_missing_appears() {
    let mut life = pod(&json!({"envFrom": [{"configMapRef": {"name": "late"}}]}), &json!([]));
    let story = life.until(40).take_story();
    let tries = story.matches(&format!("Pulled {PRESENT}")).count();
    assert!((3..=5).contains(&tries), "every ten to fifteen seconds: {story}");
    assert_eq!(story.matches("Failed Error: configmap \"late\" not found").count(), tries);
    life.with(ReferenceKind::ConfigMap, "late", &[]).until(60);
    assert!(is_ready(&life));
    assert_eq!(life.wake, None, "a pod that runs well is left alone");
}

#[test]
fn a_container_says_what_it_lacks_while_its_image_is_pulled_again() {
    let container = json!({"envFrom": [{"secretRef": {"name": "none"}}], "imagePullPolicy": "Always"});
    let mut life = pod(&container, &json!([]));
    life.until(5);
    life.take_story();
    let story = life.until(40).take_story();
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
        let mut life = mounting(&volume);
        life.with(ReferenceKind::ConfigMap, "there", &["a"]).with(ReferenceKind::Secret, "there", &["a"]);
        let story = life.until(33).take_story();
        let told = format!("FailedMount MountVolume.SetUp failed for volume \"v\" : {problem}");
        assert_eq!(story.matches(&told).count(), 7, "after 0.5, 1, 2, 4, 8 and 16 s: {story}");
        assert_eq!(waiting(&life), ("ContainerCreating".to_owned(), String::new()));
        let prepared = life.condition("PodReadyToStartContainers");
        assert_eq!(prepared.message.as_deref(), Some("no pod sandbox exists"));
    }
}

#[test]
fn a_volume_is_mounted_when_its_content_appears() {
    let mut life = mounting(&json!({"configMap": {"name": "late"}}));
    life.until(10);
    assert!(!is_ready(&life));
    life.with(ReferenceKind::ConfigMap, "late", &["a"]).until(20);
    assert!(is_ready(&life));
}

#[test]
fn a_claim_without_a_volume_is_not_mounted() {
    let mut life = mounting(&json!({"persistentVolumeClaim": {"claimName": "data"}}));
    let told = "FailedMount Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], \
                failed to process volumes=[v]: error processing PVC shop/data: ";
    let missing =
        format!("{told}failed to fetch PVC from API server: persistentvolumeclaims \"data\" not found");
    assert!(life.until(1).take_story().contains(&missing));
    let data = Reference { kind: ReferenceKind::Claim, name: "data".to_owned() };
    life.objects.push((data.clone(), Lookup::Claim { bound: false }));
    assert!(life.until(20).take_story().contains(&format!("{told}PVC is not bound")));
    life.objects.push((data, Lookup::Claim { bound: true }));
    life.until(40);
    assert!(is_ready(&life));
}

#[test]
fn what_is_optional_or_not_mounted_is_not_missed() {
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
    let mut life = pod(&container, &volumes);
    life.with(ReferenceKind::ConfigMap, "there", &["a"]).until(10);
    assert!(is_ready(&life), "{}", life.take_story());
}

#[test]
fn what_the_server_refuses_is_told_in_its_words() {
    let mut life = pod(&json!({"envFrom": [{"secretRef": {"name": "s", "optional": true}}]}), &json!([]));
    let secret = Reference { kind: ReferenceKind::Secret, name: "s".to_owned() };
    life.objects.push((secret, Lookup::Refused("secrets \"s\" is forbidden".to_owned())));
    life.until(10);
    assert_eq!(waiting(&life).1, "secrets \"s\" is forbidden");
}

#[test]
fn a_container_that_is_started_again_needs_its_environment_again() {
    let mut life = pod(&json!({"envFrom": [{"secretRef": {"name": "s"}}]}), &json!([]))
        .annotated(&[("crash-after", "5")]);
    life.with(ReferenceKind::Secret, "s", &[]).until(3);
    assert!(is_ready(&life));
    life.objects.clear();
    life.until(8);
    assert_eq!(waiting(&life).0, "CreateContainerConfigError");
    let web = &life.status.container_statuses.as_ref().unwrap()[0];
    assert!(web.last_state.as_ref().unwrap().terminated.is_some());
    life.with(ReferenceKind::Secret, "s", &[]).until(24);
    assert_eq!(life.status.container_statuses.as_ref().unwrap()[0].restart_count, 1);
}

#[test]
fn an_image_name_that_is_none_is_told_and_tried_again() {
    let mut life = pod(&json!({"image": "nginx::bad"}), &json!([]));
    let story = life.until(40).take_story();
    let why = "Failed to apply default image tag \"nginx::bad\": couldn't parse image name \"nginx::bad\": \
               invalid reference format";
    assert_eq!(waiting(&life), ("InvalidImageName".to_owned(), why.to_owned()));
    let tries = story.matches(&format!("InspectFailed {why}")).count();
    assert!((3..=5).contains(&tries), "{story}");
    assert_eq!(story.matches("Failed Error: InvalidImageName").count(), tries);
}

#[test]
fn an_image_that_may_not_be_pulled_must_be_on_the_node() {
    let never = json!({"image": "app:1", "imagePullPolicy": "Never"});
    let why = "Container image \"app:1\" is not present with pull policy of Never";
    let mut life = pod(&never, &json!([]));
    let story = life.until(5).take_story();
    assert_eq!(waiting(&life), ("ErrImageNeverPull".to_owned(), why.to_owned()));
    assert!(story.contains(&format!("ErrImageNeverPull {why}")), "{story}");
    assert!(story.contains("Failed Error: ErrImageNeverPull"), "{story}");
    let mut life = pod(&never, &json!([])).annotated(&[("image-pull", "present")]);
    life.until(5);
    assert!(is_ready(&life));
}

#[test]
fn a_missing_secret_for_pulling_images_is_only_a_warning() {
    let mut life = Life::of(&json!({"imagePullSecrets": [{"name": "a"}, {"name": "there"}, {"name": "b"}]}));
    life.with(ReferenceKind::Secret, "there", &[]);
    let story = life.until(10).take_story();
    assert!(
        story.contains(
            "FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (a, b); \
             attempting to pull the image may not succeed."
        ),
        "{story}"
    );
    assert!(is_ready(&life));
}
