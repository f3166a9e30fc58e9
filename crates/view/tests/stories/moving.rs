//! Rollouts that progress by themselves, and complete ones.

use gantry_json::json;

use super::world::{World, at, new_pod, noon_plus, pod, rolling, serving, set};
use gantry_view::live::{Log, time_left};
use gantry_view::{RolloutState, why};

#[test]
fn a_rollout_with_starting_pods_is_moving_without_advice() {
    let world = rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})));
    assert_eq!(
        world.why(),
        "\
deployment/web is moving: 1 of 3 pods updated, 3 available, 3 old remaining; 1 pod: starting, no errors reported

Pods      1 of 3 updated, 3 ready, 3 available, 3 old remaining (revision 2)
Budget    4 of at most 4 pods (maxSurge 1), 3 available of at least 3 (maxUnavailable 0); at the surge limit and at the availability floor
Deadline  fires in 9m, at 2026-01-01T12:10:00Z

Under way
  starting, no errors reported
    1 pod: web-2-a
"
    );
}

#[test]
fn a_pod_within_min_ready_seconds_reports_when_it_is_available() {
    let world = rolling(serving(pod("web-2", "web-2-a", 0), 40)).but(|world| {
        world.deployment["spec"]["minReadySeconds"] = json!(30);
        for set in &mut world.sets {
            set["spec"]["minReadySeconds"] = json!(30);
        }
        world.sets[1]["status"]["readyReplicas"] = json!(1);
    });
    assert_eq!(world.report().verdict.as_str(), "moving");
    assert_eq!(world.codes()[0], "waits MinReadySeconds");
    assert!(
        world.why().contains("ready, but must be for 30s (minReadySeconds); the next counts in 10s"),
        "{}",
        world.why()
    );
}

#[test]
fn one_failing_pod_does_not_change_the_verdict_moving() {
    let world = rolling(new_pod(&json!({"waiting": {"reason": "ErrImagePull"}}))).but(|world| {
        world.pods.push(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})));
        world.pods[4]["metadata"]["name"] = json!("web-2-b");
    });
    assert_eq!(world.report().verdict.as_str(), "moving");
    assert_eq!(world.codes()[0], "blocks ImagePull", "it is reported first");
}

/// Problems of old pods block nothing: unhealthy pods are removed first.
#[test]
fn problems_of_old_pods_are_notes() {
    let world = rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}}))).but(|world| {
        world.pods[0]["status"] = json!({"phase": "Running", "containerStatuses": [
            super::world::container(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), 9)]});
    });
    assert!(world.codes().contains(&"notes CrashLoop".to_owned()), "{:?}", world.codes());
}

#[test]
fn a_pending_step_of_the_controller_is_moving() {
    let world = rolling(serving(pod("web-2", "web-2-a", 0), 40)).but(|world| {
        world.sets[1] = set("web-2", 2, 1, 1);
    });
    assert_eq!(world.report().verdict.as_str(), "moving");
    assert!(world.codes().contains(&"waits OwnWrites".to_owned()), "{:?}", world.codes());
}

fn done() -> World {
    rolling(serving(pod("web-2", "web-2-a", 0), 10)).but(|world| {
        world.sets = vec![set("web-1", 1, 0, 0), set("web-2", 2, 3, 3)];
        world.pods = (1..=3).map(|n| serving(pod("web-2", &format!("web-2-{n}"), n), n + 10)).collect();
        let status = &mut world.deployment["status"];
        status["replicas"] = json!(3);
        status["updatedReplicas"] = json!(3);
        status["unavailableReplicas"] = json!(0);
        status["conditions"][1]["reason"] = json!("NewReplicaSetAvailable");
    })
}

#[test]
fn a_completed_rollout_is_done() {
    assert_eq!(
        done().why(),
        "\
deployment/web is done: all 3 pods of revision 2 are available

Pods      3 of 3 updated, 3 ready, 3 available (revision 2)
Budget    3 of at most 4 pods (maxSurge 1), 3 available of at least 3 (maxUnavailable 0)
Deadline  not running, the rollout is complete
"
    );
    assert_eq!(done().json()["verdict"], "done");
    let paused = done().but(|world| world.deployment["spec"]["paused"] = json!(true));
    assert_eq!(paused.report().headline, "no pending rollout");
}

#[test]
fn a_deployment_of_no_pods_is_done() {
    let none = done().but(|world| {
        world.deployment["spec"]["replicas"] = json!(0);
        world.deployment["status"] = json!({"observedGeneration": 2});
        world.sets = vec![set("web-2", 2, 0, 0)];
        world.pods.clear();
    });
    assert_eq!(none.report().verdict.as_str(), "done", "{}", none.why());
    assert_eq!(none.report().headline, "0 of 0 replicas, nothing to do");
}

#[test]
fn a_pod_that_breaks_after_the_rollout_is_reported() {
    let world = done().but(|world| {
        world.pods[0] = new_pod(&json!({}));
        world.pods[0]["status"]["containerStatuses"] =
            json!([super::world::container(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), 5)]);
        world.sets[1]["status"]["availableReplicas"] = json!(2);
        world.sets[1]["status"]["readyReplicas"] = json!(2);
    });
    assert_eq!(world.report().verdict.as_str(), "stuck");
    assert_eq!(world.codes()[0], "blocks CrashLoop");
    assert_eq!(world.json()["deadline"]["state"], "none", "a rollout that was done has no deadline");
}

#[test]
fn the_remaining_time_is_estimated_from_the_pace() {
    let world = rolling(serving(pod("web-2", "web-2-a", 0), 10)).but(|world| world.now = noon_plus(20));
    let snapshot = world.snapshot();
    let left = time_left(&RolloutState::of(world.now, &snapshot)).unwrap();
    assert_eq!(left.as_secs(), 40, "one in twenty seconds leaves forty for two");
    let nothing_yet = rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})));
    assert_eq!(time_left(&RolloutState::of(world.now, &nothing_yet.snapshot())), None);
}

#[test]
fn the_log_has_each_change_once() {
    let mut log = Log::new();
    let next_lines = |log: &mut Log, world: &World| {
        let snapshot = world.snapshot();
        log.next(&snapshot, &why::explain(world.now, &snapshot, &world.flags))
    };
    let world = rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})))
        .warning("web-1-1", "Old", "news");
    let first = next_lines(&mut log, &world);
    assert_eq!(first.len(), 1, "earlier events are not logged: {first:?}");
    assert!(
        first[0].starts_with("2026-01-01T12:01:00Z deployment/web is moving: 1 of 3 pods updated"),
        "{first:?}"
    );
    assert_eq!(next_lines(&mut log, &world), Vec::<String>::new());
    let failing = world.warning("web-2-a", "Failed", "Error: ErrImagePull").but(|world| {
        world.pods[3]["status"]["containerStatuses"][0]["state"] =
            json!({"waiting": {"reason": "ErrImagePull"}});
    });
    assert_eq!(
        next_lines(&mut log, &failing),
        [
            format!("{} Warning Failed pod/web-2-a: Error: ErrImagePull", at(50)),
            format!(
                "{} deployment/web is stuck: 1 pod: image nginx:2 cannot be pulled (container main)",
                at(60)
            ),
        ]
    );
}
