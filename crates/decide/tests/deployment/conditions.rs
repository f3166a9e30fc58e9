//! How conditions are set.

use gantry_decide::deployment::{is_complete, is_progressing};
use gantry_model::{ConditionStatus, Deployment, DeploymentCondition, DeploymentConditionType, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, status_after};

fn web() -> Deployment {
    deployment("web").size(4).annotated(keys::REVISION, "1").deadline(None)
}

fn available(status: ConditionStatus, reason: &str) -> DeploymentCondition {
    DeploymentCondition {
        condition_type: DeploymentConditionType::Available,
        status,
        reason: reason.to_owned(),
        message: "as first recorded".to_owned(),
        last_update: Some(noon_plus(-60)),
        last_transition: Some(noon_plus(-90)),
    }
}

fn after(conditions: Vec<DeploymentCondition>, ready: u16) -> Vec<DeploymentCondition> {
    let mut web = web();
    web.status.conditions = conditions;
    let set = replica_set("new").owned_by(&web).revision(1).size(4).available(ready).sized_for(4, 5);
    status_after(&web, &decided(&web, &[set])).conditions
}

/// D15.1: the same status and reason change nothing, not even the message.
#[test]
fn the_same_condition_again_is_no_change() {
    let recorded = available(ConditionStatus::True, "MinimumReplicasAvailable");
    assert_eq!(after(vec![recorded.clone()], 4), [recorded]);
}

/// D15.2: another reason replaces it at the end; the transition time moves only with the status.
#[test]
fn a_changed_condition_moves_to_the_end() {
    let other = DeploymentCondition {
        condition_type: DeploymentConditionType::Other("Mine".to_owned()),
        ..available(ConditionStatus::True, "Whatever")
    };
    let now_false =
        after(vec![available(ConditionStatus::True, "MinimumReplicasAvailable"), other.clone()], 0);
    assert_eq!(now_false[0], other, "a condition of another component is carried over");
    assert_eq!(now_false[1].status, ConditionStatus::False);
    assert_eq!(
        (now_false[1].last_update, now_false[1].last_transition),
        (Some(noon_plus(0)), Some(noon_plus(0)))
    );
    let another_reason = after(vec![available(ConditionStatus::True, "SomeOlderWord")], 4);
    assert_eq!(another_reason[0].reason, "MinimumReplicasAvailable");
    let times = (another_reason[0].last_update, another_reason[0].last_transition);
    assert_eq!(times, (Some(noon_plus(0)), Some(noon_plus(-90))));
}

/// D15.4: all four must hold.
#[test]
fn a_rollout_is_complete_if_all_pods_are_updated_and_available_and_the_spec_is_observed() {
    let web = deployment("web").size(5);
    let complete = |replicas, updated, available| {
        is_complete(&web, &web.clone().reported(replicas, updated, available).status)
    };
    assert!(complete(5, 5, 5));
    assert!(!complete(5, 4, 5));
    assert!(!complete(6, 5, 5));
    assert!(!complete(5, 5, 4));
    let mut behind = web.clone().reported(5, 5, 5);
    behind.meta.generation = 2;
    assert!(!is_complete(&behind, &behind.status));
}

/// D15.5: each of the four changes alone is progress, and nothing else is.
#[test]
fn four_changes_count_as_progress() {
    let status = |replicas: u16, updated: u16, ready: u16, available: u16| {
        let mut status = deployment("web").reported(replicas, updated, available).status;
        status.ready = ready.into();
        status
    };
    let before = status(10, 4, 4, 4);
    assert!(is_progressing(&before, &status(11, 5, 4, 4)), "more updated");
    assert!(is_progressing(&before, &status(9, 4, 4, 4)), "fewer old");
    assert!(is_progressing(&before, &status(10, 4, 5, 4)), "more ready");
    assert!(is_progressing(&before, &status(10, 4, 4, 5)), "more available");
    assert!(!is_progressing(&before, &before.clone()));
    assert!(!is_progressing(&before, &status(11, 4, 3, 3)));
    assert!(!is_progressing(&before, &status(9, 3, 4, 4)), "a new pod was deleted, not an old one");
}
