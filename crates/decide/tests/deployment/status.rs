//! The status of a Deployment.

use gantry_decide::deployment::IfRefused;
use gantry_model::{ConditionStatus, Deployment, DeploymentConditionType, ReplicaSet, Replicas, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, lines, status_after};

fn web() -> Deployment {
    deployment("web").size(3).annotated(keys::REVISION, "2")
}

fn sets(web: &Deployment) -> [ReplicaSet; 2] {
    [
        replica_set("old")
            .owned_by(web)
            .image("old:1")
            .created(noon_plus(-60))
            .revision(1)
            .size(3)
            .available(2),
        replica_set("new").owned_by(web).revision(2).size(1),
    ]
}

/// D14.1 and the table of D14: sums over all sets; terminating pods are counted separately.
#[test]
fn the_counters_are_sums_over_the_sets() {
    let web = web();
    let mut sets = sets(&web);
    sets[0].status.ready = 3.into();
    sets[0].status.terminating = Some(2.into());
    sets[1].status.replicas = 0.into();
    let status = status_after(&web, &decided(&web, &sets));
    let counters = (status.replicas, status.updated, status.ready, status.available, status.unavailable);
    assert_eq!(counters, (3.into(), 0.into(), 3.into(), 2.into(), 2.into()));
    assert_eq!(status.terminating, Some(2.into()));
    assert_eq!(status.observed_generation, 1);
    let more_available_than_wished = [replica_set("new").owned_by(&web).revision(2).size(3).available(9)];
    let status = status_after(&web, &decided(&web, &more_available_than_wished));
    assert_eq!(status.unavailable, Replicas::ZERO, "never negative");
}

/// D14: a set without a status has no terminating pods; a status without the field makes the sum unknown.
#[test]
fn terminating_pods_are_unknown_if_a_set_does_not_report_them() {
    let web = web();
    let mut sets = sets(&web);
    sets[0].status.terminating = None;
    assert_eq!(status_after(&web, &decided(&web, &sets)).terminating, None);
    sets[0].status.observed_generation = 0;
    assert_eq!(status_after(&web, &decided(&web, &sets)).terminating, Some(0.into()));
}

/// D14.2: at least N − U must be available; Recreate needs all.
#[test]
fn availability_is_measured_against_the_floor() {
    let available = |web: Deployment, available| {
        let set = replica_set("new").owned_by(&web).revision(2).size(4).available(available).sized_for(4, 5);
        let status = status_after(&web, &decided(&web, &[set]));
        let c = status.condition(&DeploymentConditionType::Available).unwrap();
        (c.status.clone(), c.reason.clone(), c.message.clone())
    };
    let yes = (
        ConditionStatus::True,
        "MinimumReplicasAvailable".into(),
        "Deployment has minimum availability.".into(),
    );
    let no = (
        ConditionStatus::False,
        "MinimumReplicasUnavailable".into(),
        "Deployment does not have minimum availability.".into(),
    );
    let rolling = web().size(4);
    assert_eq!(available(rolling.clone(), 3), yes, "25 % of 4 may be unavailable");
    assert_eq!(available(rolling.clone(), 2), no);
    assert_eq!(available(rolling.clone().recreate(), 3), no);
    assert_eq!(available(rolling.recreate(), 4), yes);
}

/// D14.3: zeros are omitted on the wire, except for terminating pods.
#[test]
fn zeros_are_left_out_on_the_wire() {
    let web = web().size(0);
    let status =
        status_after(&web, &decided(&web, &[replica_set("new").owned_by(&web).revision(2)])).render();
    assert_eq!((status.replicas, status.available_replicas, status.unavailable_replicas), (None, None, None));
    assert_eq!(status.terminating_replicas, Some(0));
    assert_eq!(status.collision_count, None);
}

/// D14.4: an unchanged status is not written; the order of conditions is part of it.
#[test]
fn an_unchanged_status_is_not_written() {
    let mut web = web();
    let sets = sets(&web).map(|set| set.sized_for(3, 4));
    web.status = status_after(&web, &decided(&web, &sets));
    assert_eq!(lines(&decided(&web, &sets)), [""; 0]);
    let changed = decided(&web, &sets[1..]);
    assert_eq!(
        changed.steps.last().unwrap().if_refused,
        IfRefused::Fail,
        "a refused status write fails the sync"
    );
    web.status.collision_count = Some(4);
    assert_eq!(lines(&decided(&web, &sets)), [""; 0], "the collision count is kept");
}

/// D14.5: paused Deployments report counters, but neither progress nor failures.
#[test]
fn a_paused_deployment_reports_no_progress() {
    let mut web = web().paused().progressing(ConditionStatus::Unknown, "DeploymentPaused", noon_plus(-9000));
    web.status.updated = 0.into();
    let mut sets = sets(&web);
    sets[1].status.conditions.push(crate::progress::failure("FailedCreate", "no room"));
    let decision = decided(&web, &sets);
    let status = status_after(&web, &decision);
    assert_eq!(status.progressing().unwrap().reason, "DeploymentPaused");
    assert_eq!(status.condition(&DeploymentConditionType::ReplicaFailure), None);
    assert_eq!(decision.wake, gantry_decide::Wake::OnChange);
}
