//! Causes that are not about single pods: quotas, selectors, fields, strategies, deadlines, pauses, missing
//! controllers.

use gantry_json::json;

use super::world::{World, at, deployment, new_pod, noon_plus, owner, pod, rolling, serving, set};

fn starting() -> World {
    rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})))
}

/// A new set without pods that reports this refusal.
fn refused(message: &str) -> World {
    starting().but(|world| {
        world.pods.pop();
        world.sets[1]["status"] = json!({"observedGeneration": 1, "replicas": 0, "conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message,
                "lastTransitionTime": at(1)}]});
    })
}

/// R7.4: the set's condition has the API's message, which names the quota.
#[test]
fn a_quota_that_refuses_pods_is_named() {
    let world = refused(
        "pods \"web-2-x\" is forbidden: exceeded quota: team, requested: pods=1, used: pods=3, limited: pods=3",
    );
    assert_eq!(
        world.why(),
        "\
deployment/web is stuck: quota team is exhausted

Pods      0 of 3 updated, 3 ready, 3 available, 3 old remaining (revision 2)
Budget    4 of at most 4 pods (maxSurge 1), 3 available of at least 3 (maxUnavailable 0); at the surge limit and at the availability floor
Deadline  fires in 9m, at 2026-01-01T12:10:00Z

Blocking
  web-2: quota team is exhausted
    pods \"web-2-x\" is forbidden: exceeded quota: team, requested: pods=1, used: pods=3, limited: pods=3

Suggested actions
  raise the quota team, or free part of it: delete pods, or request fewer or smaller ones
  or go back to revision 1: gantry rollout undo deployment/web
"
    );
    assert_eq!(world.json()["causes"][0]["details"], json!({"quota": "team"}));
}

#[test]
fn pods_refused_for_another_reason_are_reported_with_the_message_of_the_api() {
    let world = refused("pods \"web-2-x\" is forbidden: violates PodSecurity \"restricted:latest\"");
    assert_eq!(world.codes()[0], "blocks CreateRefused");
    assert!(world.why().contains("violates PodSecurity"), "{}", world.why());
}

#[test]
fn a_new_set_that_cannot_be_created_is_reported_by_the_condition() {
    let message = "Failed to create new replica set \"web-2\": replicasets.apps \"web-2\" is forbidden: exceeded quota: sets, requested: count/replicasets.apps=1";
    let world = starting().but(|world| {
        world.sets.pop();
        world.pods.pop();
        world.deployment["status"]["conditions"][1] = json!({"type": "Progressing", "status": "False",
            "reason": "ReplicaSetCreateError", "message": message, "lastUpdateTime": at(10)});
    });
    assert_eq!(world.codes()[0], "blocks Quota");
    assert!(world.report().headline.contains("quota sets"), "{}", world.why());
}

#[test]
fn a_selector_that_others_share_is_a_note_that_names_them() {
    let world = starting().but(|world| {
        let mut other = deployment("shop", "shop:1");
        other["metadata"]["uid"] = json!("uid-of-shop");
        world.others = vec![world.deployment.clone(), other];
        let mut foreign = pod("db", "db-0", -60);
        foreign["metadata"]["ownerReferences"] = json!([owner("StatefulSet", "db")]);
        world.pods.push(serving(foreign, -50));
    });
    let note =
        world.report().causes.into_iter().find(|cause| cause.reason.code() == "SelectorConflict").unwrap();
    let describe = note.reason.summary_line(world.now);
    assert_eq!(describe, "the selector also matches what belongs to deployment/shop, statefulset/db");
    assert_eq!(world.report().verdict.as_str(), "moving", "owner references keep them apart");
}

#[test]
fn a_deployment_with_a_selector_of_its_own_has_no_such_note() {
    let world = starting().but(|world| {
        let mut other = deployment("shop", "shop:1");
        other["spec"]["selector"]["matchLabels"] = json!({"app": "shop"});
        other["spec"]["template"]["metadata"]["labels"] = json!({"app": "shop"});
        world.others = vec![world.deployment.clone(), other];
    });
    assert!(!world.codes().iter().any(|code| code.contains("SelectorConflict")), "{:?}", world.codes());
}

#[test]
fn unsupported_fields_are_named() {
    let broken = |change: fn(&mut World)| starting().but(change);
    let worlds = [
        (broken(|world| world.deployment["spec"]["selector"] = json!({})), "spec.selector"),
        (
            broken(|world| {
                let foo = json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]});
                world.deployment["spec"]["selector"] = foo;
            }),
            "spec.selector",
        ),
        (
            broken(|world| {
                world.deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"] = json!("many");
            }),
            "spec.strategy.rollingUpdate",
        ),
        (broken(|world| world.deployment["spec"]["strategy"]["type"] = json!("Big")), "spec.strategy.type"),
    ];
    for (world, field) in worlds {
        let report = world.json();
        let cause = report["causes"].as_array().unwrap().iter().find(|cause| cause["code"] == "InvalidField");
        assert_eq!(cause.unwrap()["details"]["field"], field);
        assert_eq!(cause.unwrap()["weight"], "blocks");
    }
}

#[test]
fn a_missed_deadline_is_stuck_without_pod_problems() {
    let world = starting().but(|world| {
        world.now = noon_plus(700);
        world.deployment["status"]["conditions"][1] = json!({"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded", "message": "", "lastUpdateTime": at(601)});
    });
    assert_eq!(world.report().verdict.as_str(), "stuck");
    assert!(world.report().headline.starts_with("no progress for more than 10m; 1 of 3 pods updated"));
    assert_eq!(world.json()["deadline"]["state"], "exceeded");
}

/// The controller reports the exceeded deadline a second later; the report does not wait for that.
#[test]
fn a_deadline_that_has_just_passed_is_shown_before_the_condition_reports_it() {
    let world = starting().but(|world| world.now = noon_plus(602));
    assert_eq!(world.report().verdict.as_str(), "stuck", "{}", world.why());
}

#[test]
fn a_running_deadline_reports_its_time() {
    let deadline = &starting().json()["deadline"];
    let expected =
        json!({"state": "running", "at": "2026-01-01T12:10:00Z", "secondsLeft": 540, "seconds": 600});
    assert_eq!(*deadline, expected);
}

#[test]
fn a_paused_deployment_is_neither_moving_nor_stuck() {
    let world = starting().but(|world| {
        world.deployment["spec"]["paused"] = json!(true);
        world.sets.pop();
        world.pods.pop();
    });
    assert_eq!(world.report().verdict.as_str(), "paused");
    let text = world.why();
    assert!(
        text.starts_with("deployment/web is paused: the current template is rolled out after resume"),
        "{text}"
    );
    assert!(text.contains("resume it: gantry rollout resume deployment/web"), "{text}");
}

fn recreating() -> World {
    let mut leaving = serving(pod("web-1", "web-1-1", -600), -590);
    leaving["metadata"]["deletionTimestamp"] = json!(at(80));
    starting().but(|world| {
        world.deployment["spec"]["strategy"] = json!({"type": "Recreate"});
        world.sets = vec![set("web-1", 1, 0, 0)];
        world.pods = vec![leaving];
    })
}

#[test]
fn recreate_waits_until_the_last_old_pod_is_deleted() {
    let world = recreating();
    assert_eq!(world.report().verdict.as_str(), "moving");
    assert_eq!(world.codes(), ["waits Terminating", "waits OldPods"]);
    assert_eq!(world.report().budget, None, "Recreate has no budget");
}

#[test]
fn an_old_pod_with_a_finalizer_blocks_recreate_and_is_named() {
    let late = recreating().but(|world| {
        world.now = noon_plus(200);
        world.pods[0]["metadata"]["finalizers"] = json!(["example.com/backup"]);
    });
    assert_eq!(late.report().verdict.as_str(), "stuck");
    assert_eq!(late.codes(), ["blocks Terminating", "blocks OldPods"]);
    assert!(late.why().contains("held by finalizer example.com/backup"), "{}", late.why());
}

/// A rolling update does not wait for terminating pods.
#[test]
fn slowly_terminating_pods_are_a_note_in_a_rolling_update() {
    let world = starting().but(|world| {
        world.now = noon_plus(100);
        world.pods[0]["metadata"]["deletionTimestamp"] = json!(at(10));
    });
    assert!(world.codes().contains(&"notes Terminating".to_owned()), "{:?}", world.codes());
    assert!(world.why().contains("not deleted yet, 1m30s past their grace period"), "{}", world.why());
}

#[test]
fn a_recreate_with_two_active_sets_cannot_be_scaled() {
    let world = starting().but(|world| {
        world.deployment["spec"]["strategy"] = json!({"type": "Recreate"});
        world.deployment["spec"]["replicas"] = json!(5);
    });
    assert_eq!(world.codes()[0], "blocks ScalingRecreate");
}

#[test]
fn an_unobserved_change_suggests_that_no_controller_runs() {
    let world = starting().but(|world| {
        world.deployment["metadata"]["generation"] = json!(3);
        world.deployment["metadata"]["managedFields"] = json!([
            {"manager": "kubectl", "operation": "Update", "time": at(20)},
            {"manager": "controller", "operation": "Update", "time": at(59), "subresource": "status"}]);
    });
    assert!(world.codes().contains(&"blocks NotSeen".to_owned()), "{:?}", world.codes());
    assert!(
        world.why().contains("no controller has reacted to the Deployment's last change for 40s"),
        "{}",
        world.why()
    );
    let fresh = world.but(|world| world.now = noon_plus(22));
    assert!(fresh.codes().contains(&"waits NotSeen".to_owned()), "{:?}", fresh.codes());
}

#[test]
fn a_set_that_no_controller_observes_is_reported_by_its_name() {
    let world = starting().but(|world| {
        world.pods.pop();
        world.sets[1]["status"] = json!({"replicas": 0});
    });
    assert_eq!(world.report().verdict.as_str(), "stuck");
    assert!(
        world.why().contains("web-2: no controller has reacted to the ReplicaSet's last change"),
        "{}",
        world.why()
    );
}

#[test]
fn a_terminating_deployment_names_its_finalizer() {
    let world = starting().but(|world| {
        world.deployment["metadata"]["deletionTimestamp"] = json!(at(30));
        world.deployment["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    });
    assert_eq!(world.report().verdict.as_str(), "moving");
    assert!(world.why().contains("held by finalizer foregroundDeletion"), "{}", world.why());
}
