//! The events and messages of a kubelet.

use std::time::Duration;

use gantry_formats::duration;
use gantry_json::{Value, json};
use gantry_model::Event;
use gantry_rng::Rng;

use super::actions::{ContainerProbe, PodRejection, PulledImage};
use super::container_run::CreateError;
use super::dependencies::{MountProblems, ReferenceKind, References, aggregated};
use super::pod::{Container, Role};
use super::resize::PendingResize;
use super::{Pod, PodEvent};
use crate::behaviour::InvalidTrait;

/// Returns an event about one container.
pub(super) fn container_event(container: &Container, event: Event) -> PodEvent {
    let list = match container.role {
        Role::Init | Role::Sidecar => "initContainers",
        Role::Main => "containers",
        Role::Ephemeral => "ephemeralContainers",
    };
    PodEvent { event, field: Some(format!("spec.{list}{{{}}}", container.name)) }
}

/// Returns the event about an invalid annotation, which a kubelet does not have.
pub(crate) fn invalid_annotation(problem: &InvalidTrait) -> Event {
    Event::warning(
        "InvalidSimulation",
        format!("annotation {}{problem}", crate::behaviour::ANNOTATION_PREFIX),
    )
}

pub(super) fn pulling(image: &str) -> Event {
    Event::normal("Pulling", format!("Pulling image \"{image}\""))
}

pub(super) fn pulled(image: &str, pulled: &PulledImage) -> Event {
    let (took, with_waiting) = (go_duration(pulled.took), go_duration(pulled.with_waiting));
    let message = format!(
        "Successfully pulled image \"{image}\" in {took} ({with_waiting} including waiting). Image size: {} bytes.",
        pulled.bytes
    );
    Event::normal("Pulled", message)
}

pub(super) fn image_present(image: &str) -> Event {
    let message =
        format!("Container image \"{image}\" already present on machine and can be accessed by the pod");
    Event::normal("Pulled", message)
}

pub(super) fn pull_failed(image: &str, why: &str) -> [Event; 2] {
    [
        Event::warning("Failed", format!("Failed to pull image \"{image}\": {why}")),
        Event::warning("Failed", "Error: ErrImagePull".to_owned()),
    ]
}

pub(super) fn pull_back_off_events(image: &str) -> [Event; 2] {
    [
        Event::normal("BackOff", format!("Back-off pulling image \"{image}\"")),
        Event::warning("Failed", "Error: ImagePullBackOff".to_owned()),
    ]
}

/// Returns the event about missing image pull secrets; the image is pulled regardless.
pub(super) fn missing_pull_secrets(pod: &Pod, found: &References) -> Option<PodEvent> {
    let missing: Vec<_> = pod
        .pull_secrets
        .iter()
        .filter(|name| found.is_missing(ReferenceKind::Secret, name))
        .map(String::as_str)
        .collect();
    let message = format!(
        "Unable to retrieve some image pull secrets ({}); attempting to pull the image may not succeed.",
        missing.join(", ")
    );
    let event = Event::warning("FailedToRetrieveImagePullSecret", message);
    (!missing.is_empty()).then_some(PodEvent { event, field: None })
}

/// Returns the events about a container that could not be created.
pub(super) fn create_failed(error: &CreateError, image: &str) -> Vec<Event> {
    let failed = |why: &str| Event::warning("Failed", format!("Error: {why}"));
    match error {
        CreateError::ImageName(why) => {
            vec![Event::warning("InspectFailed", why.clone()), failed("InvalidImageName")]
        }
        CreateError::NeverPulled => {
            vec![Event::warning("ErrImageNeverPull", never_pull(image)), failed("ErrImageNeverPull")]
        }
        CreateError::Configuration(why) | CreateError::Runtime(why) => vec![failed(why)],
    }
}

/// Returns the message about an image that is not on the node and whose pull policy is `Never`.
pub(super) fn never_pull(image: &str) -> String {
    format!("Container image \"{image}\" is not present with pull policy of Never")
}

/// Returns the events about volumes that could not be mounted.
pub(super) fn mounts_failed(problems: &MountProblems) -> Vec<PodEvent> {
    let event = |message: String| PodEvent { event: Event::warning("FailedMount", message), field: None };
    let contents = problems.contents.iter();
    let mut events: Vec<_> = contents
        .map(|(volume, why)| event(format!("MountVolume.SetUp failed for volume \"{volume}\" : {why}")))
        .collect();
    let volumes: Vec<_> = problems.claims.iter().map(|(volume, _)| volume.as_str()).collect();
    let volumes = volumes.join(" ");
    let why = aggregated(problems.claims.iter().map(|(_, why)| why.clone()));
    events.extend(why.map(|why| {
        event(format!(
            "Unable to attach or mount volumes: unmounted volumes=[{volumes}], unattached volumes=[], \
             failed to process volumes=[{volumes}]: {why}"
        ))
    }));
    events
}

pub(super) fn created() -> Event {
    Event::normal("Created", "Container created".to_owned())
}

pub(super) fn started() -> Event {
    Event::normal("Started", "Container started".to_owned())
}

pub(super) fn killing(container: &str) -> Event {
    Event::normal("Killing", format!("Stopping container {container}"))
}

pub(super) fn restart_back_off(container: &str, pod: &Pod) -> Event {
    let message = format!("Back-off restarting failed container {container} in pod {}", pod.long_name());
    Event::warning("BackOff", message)
}

pub(super) fn start_failed(why: &str) -> Event {
    Event::warning("Failed", format!("Error: {why}"))
}

pub(super) fn post_start_failed() -> [Event; 2] {
    [
        Event::warning("FailedPostStartHook", "PostStartHook failed".to_owned()),
        Event::normal("Killing", "FailedPostStartHook".to_owned()),
    ]
}

/// Returns the event about a sandbox that could not be created.
pub(super) fn sandbox_failed(why: &str) -> PodEvent {
    let message = format!("Failed to create pod sandbox: {why}");
    PodEvent { event: Event::warning("FailedCreatePodSandBox", message), field: None }
}

/// Returns the event about a sandbox that does not work any more.
pub(super) fn sandbox_changed() -> PodEvent {
    let message = "Pod sandbox changed, it will be killed and re-created.".to_owned();
    PodEvent { event: Event::normal("SandboxChanged", message), field: None }
}

/// Returns the event about a failed probe of a real container.
pub(super) fn probe_failed(probe: ContainerProbe, why: &str) -> Event {
    Event::warning("Unhealthy", format!("{} probe failed: {why}", probe.title()))
}

/// Returns the event about a probe of a real container that could not be run.
pub(super) fn probe_errored(probe: ContainerProbe, why: &str) -> Event {
    let probe = probe.title();
    Event::warning("Unhealthy", format!("{probe} probe errored and resulted in unknown state: {why}"))
}

pub(super) fn readiness_failed() -> Event {
    Event::warning("Unhealthy", "Readiness probe failed: the simulated container is not ready".to_owned())
}

pub(super) fn startup_failed() -> Event {
    Event::warning("Unhealthy", "Startup probe failed: the simulated container has not started up".to_owned())
}

pub(super) fn liveness_failed() -> Event {
    Event::warning("Unhealthy", "Liveness probe failed: the simulated container does not answer".to_owned())
}

/// The reason and message of a pod whose active deadline has passed.
pub(super) const DEADLINE_EXCEEDED: &str = "DeadlineExceeded";
pub(super) const DEADLINE_MESSAGE: &str = "Pod was active on the node longer than the specified deadline";

/// Returns the event about a pod whose active deadline has passed.
pub(super) fn deadline_exceeded() -> PodEvent {
    PodEvent { event: Event::normal(DEADLINE_EXCEEDED, DEADLINE_MESSAGE.to_owned()), field: None }
}

/// Returns the event about a change of resources beyond the capacity of the node.
pub(super) fn resize_deferred(pod: &Pod, pending: &PendingResize) -> PodEvent {
    let allocation = allocation(pod).to_string();
    // A kubelet writes the error last.
    let begin = allocation.strip_suffix('}').unwrap_or(&allocation);
    let error = json!(pending.message);
    let message = format!("Pod resize OutOf{}: {begin},\"error\":{error}}}", pending.resource);
    PodEvent { event: Event::warning("ResizeDeferred", message), field: None }
}

/// Returns the event about a change of resources that is being carried out.
pub(super) fn resize_started(pod: &Pod) -> PodEvent {
    let message = format!("Pod resize started: {}", allocation(pod));
    PodEvent { event: Event::normal("ResizeStarted", message), field: None }
}

/// Returns the event about a change of resources that was carried out.
pub(super) fn resize_completed(pod: &Pod) -> PodEvent {
    let message = format!("Pod resize completed: {}", allocation(pod));
    PodEvent { event: Event::normal("ResizeCompleted", message), field: None }
}

/// Returns the event about a container that is restarted with other resources.
pub(super) fn resize_restart(container: &str) -> Event {
    Event::normal("Killing", format!("Container {container} resize requires restart"))
}

/// Returns the resources of a pod's containers as JSON.
fn allocation(pod: &Pod) -> Value {
    let of = |wanted: fn(Role) -> bool| -> Vec<Value> {
        let containers = pod.containers.iter().filter(|container| wanted(container.role));
        let resources = |container: &Container| container.wanted().cloned().unwrap_or_default().render();
        containers.map(|it| json!({"name": it.name, "resources": resources(it)})).collect()
    };
    let mut allocation = json!({});
    for (name, list) in [
        ("initContainers", of(|role| matches!(role, Role::Init | Role::Sidecar))),
        ("containers", of(|role| role == Role::Main)),
    ] {
        if !list.is_empty() {
            allocation[name] = list.into();
        }
    }
    allocation["generation"] = json!(pod.generation.unwrap_or(0));
    allocation
}

/// The reason of a pod that was ended because the node has too little of a resource.
pub(super) const EVICTED: &str = "Evicted";

/// Returns the event about a pod that its node does not accept.
pub(super) fn rejected(rejection: &PodRejection) -> PodEvent {
    PodEvent { event: Event::warning(rejection.reason, rejection.message.clone()), field: None }
}

/// Returns the event about a pod that is ended because the node has too little of a resource.
pub(super) fn evicted(why: &str) -> PodEvent {
    PodEvent { event: Event::warning(EVICTED, why.to_owned()), field: None }
}

pub(super) fn failed_probe(container: &str, probe: &str) -> Event {
    Event::normal("Killing", format!("Container {container} failed {probe} probe, will be restarted"))
}

/// Returns the message of a container that waits to be restarted.
pub(super) fn crash_loop(container: &str, pod: &Pod, delay: Duration) -> String {
    let delay = go_duration(delay);
    format!("back-off {delay} restarting failed container={container} pod={}", pod.long_name())
}

/// Returns the message of a container that waits for the next pull.
pub(super) fn pull_back_off(image: &str, why: &str) -> String {
    format!("Back-off pulling image \"{image}\": ErrImagePull: {why}")
}

/// Returns containerd's message about an image that its registry does not have.
pub(super) fn pull_error(image: &str) -> String {
    let full = full_name(image);
    format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image \"{full}\": failed to resolve image: \
         {full}: not found"
    )
}

/// Returns the image with its registry and tag: `docker.io/library/nginx:latest`.
pub(super) fn full_name(image: &str) -> String {
    let (first, _) = image.split_once('/').unwrap_or(("", image));
    let has_registry = first.contains('.') || first.contains(':') || first == "localhost";
    let registry = match (has_registry, first) {
        (true, _) => "",
        (false, "") => "docker.io/library/",
        (false, _) => "docker.io/",
    };
    let last = image.rsplit('/').next().unwrap_or(image);
    let tag = if last.contains(':') || last.contains('@') { "" } else { ":latest" };
    format!("{registry}{image}{tag}")
}

/// Returns an image ID: the repository and a made-up digest.
pub(super) fn image_id(image: &str) -> String {
    let full = full_name(image);
    let name_ends = full.rfind('/').map_or(0, |slash| slash + 1);
    let repository = match full[name_ends..].find([':', '@']) {
        Some(at) => &full[..name_ends + at],
        None => &full,
    };
    format!("{repository}@sha256:{}", Rng::keyed(&full, "digest").hex(64))
}

pub(super) fn image_bytes(image: &str) -> u64 {
    5_000_000 + Rng::keyed(image, "size").below(95_000_000)
}

/// Formats a duration in Go's format, truncated to milliseconds.
fn go_duration(length: Duration) -> String {
    duration::format(i64::try_from(length.as_millis() * 1_000_000).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_truncated_to_milliseconds() {
        assert_eq!(go_duration(Duration::from_nanos(1_250_999_999)), "1.25s");
        assert_eq!(go_duration(Duration::from_secs(300)), "5m0s");
    }

    #[test]
    fn an_image_has_a_full_name() {
        for (image, full) in [
            ("nginx", "docker.io/library/nginx:latest"),
            ("nginx:1", "docker.io/library/nginx:1"),
            ("me/app", "docker.io/me/app:latest"),
            ("r.io:5000/app:2", "r.io:5000/app:2"),
            ("localhost/app@sha256:ab", "localhost/app@sha256:ab"),
        ] {
            assert_eq!(full_name(image), full);
        }
        assert!(image_id("r.io:5000/app:2").starts_with("r.io:5000/app@sha256:"));
    }
}
