//! Problems of pods: each blocks the rollout, is reported with its details, and comes with advice.

use gantry_json::json;

use super::world::{World, at, container, new_pod, pod, rolling};

fn is_stuck(world: &World, first_cause: &str) {
    assert_eq!(world.report().verdict.as_str(), "stuck", "{}", world.why());
    assert_eq!(world.codes().first().map(String::as_str), Some(first_cause), "{}", world.why());
}

fn waiting(reason: &str, message: &str) -> gantry_json::Value {
    json!({"waiting": {"reason": reason, "message": message}})
}

#[test]
fn an_image_that_cannot_be_pulled_is_named_with_the_limits_it_runs_into() {
    let world = rolling(new_pod(&waiting("ImagePullBackOff", "Back-off pulling image \"nginx:2\"")));
    assert_eq!(
        world.why(),
        "\
deployment/web is stuck: 1 pod: image nginx:2 cannot be pulled (container main)

Pods      1 of 3 updated, 3 ready, 3 available, 3 old remaining (revision 2)
Budget    4 of at most 4 pods (maxSurge 1), 3 available of at least 3 (maxUnavailable 0); at the surge limit and at the availability floor
Deadline  fires in 9m, at 2026-01-01T12:10:00Z

Blocking
  image nginx:2 cannot be pulled (container main)
    1 pod: web-2-a
    Back-off pulling image \"nginx:2\"

Suggested actions
  use another image: gantry set image deployment/web main=IMAGE
  or push nginx:2, or give the pods an image pull secret that may read it
  or go back to revision 1: gantry rollout undo deployment/web
"
    );
    for reason in ["ErrImagePull", "InvalidImageName", "ErrImageNeverPull"] {
        is_stuck(&rolling(new_pod(&waiting(reason, ""))), "blocks ImagePull");
    }
}

#[test]
fn a_crash_loop_reports_the_last_exit_code() {
    let mut crashing = container(&waiting("CrashLoopBackOff", "back-off 40s"), 4);
    crashing["lastState"] = json!({"terminated": {"exitCode": 137, "reason": "Error", "message": "no database", "finishedAt": at(40)}});
    let mut pod = new_pod(&json!({}));
    pod["status"]["containerStatuses"] = json!([crashing]);
    let world = rolling(pod);
    assert_eq!(
        world.why(),
        "\
deployment/web is stuck: 1 pod: container main is in a crash loop: 4 restarts, last with exit code 137

Pods      1 of 3 updated, 3 ready, 3 available, 3 old remaining (revision 2)
Budget    4 of at most 4 pods (maxSurge 1), 3 available of at least 3 (maxUnavailable 0); at the surge limit and at the availability floor
Deadline  fires in 9m, at 2026-01-01T12:10:00Z

Blocking
  container main is in a crash loop: 4 restarts, last with exit code 137
    1 pod: web-2-a
    no database

Suggested actions
  show the last log: kubectl logs web-2-a -c main --previous
  or go back to revision 1: gantry rollout undo deployment/web
"
    );
    let cause = &world.json()["causes"][0];
    assert_eq!(
        cause["details"],
        json!({"restarts": 4, "exitCode": 137, "exitReason": "Error", "memoryLimit": null})
    );
}

/// The kubelet restarts the container, and it is not known yet whether that helps.
#[test]
fn a_container_that_ended_once_is_not_a_loop_yet() {
    let ended = json!({"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": at(59)}});
    let world = rolling(new_pod(&ended));
    assert_eq!(world.report().verdict.as_str(), "moving");
    assert_eq!(world.codes()[0], "waits CrashLoop");
}

#[test]
fn a_container_that_is_killed_for_its_memory_is_reported_as_such() {
    let mut crashing = container(&waiting("CrashLoopBackOff", ""), 2);
    crashing["lastState"] =
        json!({"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": at(40)}});
    let mut pod = new_pod(&json!({}));
    pod["status"]["containerStatuses"] = json!([crashing]);
    let world = rolling(pod);
    is_stuck(&world, "blocks OutOfMemory");
    assert!(world.why().contains("raise the memory limit of container main"), "{}", world.why());
}

#[test]
fn a_missing_config_map_is_reported_with_the_message_of_the_node() {
    let world = rolling(new_pod(&waiting("CreateContainerConfigError", "configmap \"settings\" not found")));
    is_stuck(&world, "blocks ContainerConfig");
    assert!(world.why().contains("configmap \"settings\" not found"), "{}", world.why());
}

#[test]
fn an_init_container_that_fails_is_reported_by_its_name() {
    let mut pod = new_pod(&waiting("PodInitializing", ""));
    pod["spec"]["initContainers"] = json!([{"name": "migrate", "image": "migrate:1"}]);
    let mut migrate = container(&waiting("CrashLoopBackOff", ""), 3);
    migrate["name"] = json!("migrate");
    migrate["lastState"] = json!({"terminated": {"exitCode": 2, "finishedAt": at(40)}});
    pod["status"]["initContainerStatuses"] = json!([migrate]);
    let world = rolling(pod);
    is_stuck(&world, "blocks CrashLoop");
    assert!(
        world
            .report()
            .headline
            .contains("container migrate is in a crash loop: 3 restarts, last with exit code 2")
    );
}

#[test]
fn an_unschedulable_pod_reports_the_message_of_the_scheduler() {
    let mut lonely = pod("web-2", "web-2-a", 0);
    lonely["spec"]["nodeName"] = json!(null);
    lonely["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient cpu."}]);
    let world = rolling(lonely);
    assert_eq!(
        world.why(),
        "\
deployment/web is stuck: 1 pod: no node fits the pod: 3 nodes short of cpu

Pods      1 of 3 updated, 3 ready, 3 available, 3 old remaining (revision 2)
Budget    4 of at most 4 pods (maxSurge 1), 3 available of at least 3 (maxUnavailable 0); at the surge limit and at the availability floor
Deadline  fires in 9m, at 2026-01-01T12:10:00Z

Blocking
  no node fits the pod: 3 nodes short of cpu
    1 pod: web-2-a
    0/3 nodes are available: 3 Insufficient cpu.

Suggested actions
  add or free nodes, or request less cpu
  or go back to revision 1: gantry rollout undo deployment/web
"
    );
}

#[test]
fn a_scheduling_gate_and_a_missing_scheduler_are_different_things() {
    let mut gated = pod("web-2", "web-2-a", 0);
    gated["spec"]["nodeName"] = json!(null);
    let forgotten = gated.clone();
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/quota"}]);
    is_stuck(&rolling(gated), "blocks SchedulingGate");
    is_stuck(&rolling(forgotten.clone()), "blocks NoScheduler");
    let fresh = rolling(forgotten).but(|world| world.now = super::world::noon_plus(5));
    assert_eq!(fresh.report().verdict.as_str(), "moving", "a scheduler needs some time");
}

fn probed(probe: &str, started: bool) -> gantry_json::Value {
    let mut pod = new_pod(&json!({"running": {"startedAt": at(2)}}));
    pod["spec"]["containers"][0][probe] =
        json!({"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5, "failureThreshold": 3});
    pod["status"]["containerStatuses"][0]["started"] = json!(started);
    pod["status"]["phase"] = json!("Running");
    pod
}

#[test]
fn a_failing_readiness_probe_is_reported_with_request_and_response() {
    let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
    let world = rolling(probed("readinessProbe", true)).warning("web-2-a", "Unhealthy", message);
    is_stuck(&world, "blocks ReadinessProbe");
    let text = world.why();
    assert!(text.contains("the readiness probe of container main fails (HTTP GET :8080/ready)"), "{text}");
    assert!(text.contains("statuscode: 503"), "{text}");
    let early = world.but(|world| world.now = super::world::noon_plus(10));
    assert_eq!(early.report().verdict.as_str(), "moving", "the probe has fifteen seconds to succeed");
}

#[test]
fn a_failing_startup_probe_is_reported_once_its_container_was_killed_for_it() {
    let mut pod = probed("startupProbe", false);
    pod["status"]["containerStatuses"][0]["restartCount"] = json!(1);
    let world = rolling(pod).warning("web-2-a", "Unhealthy", "Startup probe failed: connection refused");
    is_stuck(&world, "blocks StartupProbe");
}

#[test]
fn a_failing_liveness_probe_is_the_reason_for_the_restarts() {
    let mut pod = new_pod(&json!({}));
    pod["status"]["containerStatuses"] = json!([container(&waiting("CrashLoopBackOff", ""), 3)]);
    let world = rolling(pod).warning("web-2-a", "Unhealthy", "Liveness probe failed: timeout");
    is_stuck(&world, "blocks LivenessProbe");
}

#[test]
fn a_volume_that_cannot_be_mounted_is_reported_by_its_event() {
    let world = rolling(new_pod(&waiting("ContainerCreating", ""))).warning(
        "web-2-a",
        "FailedMount",
        "MountVolume.SetUp failed for volume \"data\": secret \"tls\" not found",
    );
    is_stuck(&world, "blocks PodSetup");
    assert!(world.why().contains("secret \"tls\" not found"), "{}", world.why());
}

#[test]
fn an_unmet_readiness_gate_is_named() {
    let mut pod = new_pod(&json!({"running": {"startedAt": at(2)}}));
    pod["spec"]["readinessGates"] = json!([{"conditionType": "example.com/balanced"}]);
    pod["status"]["containerStatuses"][0]["ready"] = json!(true);
    let world = rolling(pod);
    is_stuck(&world, "blocks ReadinessGate");
    assert!(world.why().contains("example.com/balanced"), "{}", world.why());
}

#[test]
fn a_node_that_does_not_report_is_named() {
    is_stuck(&rolling(pod("web-2", "web-2-a", 0)), "blocks NodeSilent");
}

#[test]
fn pods_with_the_same_problem_are_reported_once() {
    let broken = new_pod(&waiting("ErrImagePull", "not found"));
    let mut second = broken.clone();
    second["metadata"]["name"] = json!("web-2-b");
    second["metadata"]["uid"] = json!("uid-of-web-2-b");
    let world = rolling(broken).but(|world| world.pods.push(second));
    let causes = world.report().causes;
    assert_eq!(causes[0].pods.len(), 2);
    assert!(world.report().headline.starts_with("2 pods: image nginx:2 cannot be pulled"));
}

/// Messages of the cluster may contain escape codes.
#[test]
fn escape_sequences_in_messages_are_removed() {
    let text = rolling(new_pod(&waiting("ErrImagePull", "\u{1b}[2J\u{7}gone"))).why();
    assert!(!text.contains('\u{1b}') && text.contains("[2J"), "{text}");
}
