//! Repaired defects of Kubernetes: always if no client can observe the repair, otherwise when it is enabled.

use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::deployment::{Decision, Observed, RefusedStep, Repairs, SyncResult, WaitingOn, decide};
use gantry_model::{
    ConditionStatus, Deployment, Limit, ReplicaSet, ReplicaSetCondition, ReplicaSetConditionType, keys,
};
use gantry_testkit::{DeploymentBuilder, NOON, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, decided_after, edit_of, sizes, status_after};

fn repaired(deployment: &Deployment, sets: &[ReplicaSet]) -> Decision {
    let sets: Vec<_> = sets.iter().collect();
    decide(NOON, &Observed { deployment, sets: &sets, pods: &[], refused: None, repairs: Repairs::ALL })
}

/// 1 pod, at most 2, at least 1.
fn web() -> Deployment {
    deployment("web").size(1).rolling(Limit::Count(1), Limit::Count(0)).annotated(keys::REVISION, "3")
}

fn restored(web: &Deployment) -> ReplicaSet {
    let set = replica_set("restored").owned_by(web).created(noon_plus(-60)).revision(3);
    set.annotated(keys::REVISION_HISTORY, "1").sized_for(1, 2)
}

fn abandoned(web: &Deployment) -> ReplicaSet {
    replica_set("abandoned").owned_by(web).image("other:1").revision(2).size(1).available(1).sized_for(1, 2)
}

/// D10.1: after an undo, the pods that the restored set still reports and is about to delete do not count.
#[test]
fn pods_to_be_deleted_do_not_count_as_available() {
    let web = web();
    let shrinking = restored(&web).pods(1).available(1);
    let waiting = decided(&web, &[shrinking.clone(), abandoned(&web)]);
    assert_eq!(sizes(&waiting), [""; 0], "neither set is scaled");
    let reason = WaitingOn::LaggingStatus { set: "restored".into() };
    assert_eq!(waiting.waiting_on.first(), Some(&reason));
    assert_eq!(sizes(&decided(&web, &[restored(&web), abandoned(&web)])), ["scale restored 0 -> 1"]);
}

/// D10.1: a set that fails to remove its pods is not waited for, but they do not count before it has observed its new
/// size.
#[test]
fn pods_that_could_not_be_removed_do_not_count_until_observed() {
    let web = web();
    let mut failing = restored(&web).pods(1).available(1);
    failing.status.conditions.push(ReplicaSetCondition {
        condition_type: ReplicaSetConditionType::ReplicaFailure,
        status: ConditionStatus::True,
        reason: "FailedDelete".to_owned(),
        message: String::new(),
        last_transition: Some(NOON),
    });
    assert_eq!(sizes(&decided(&web, &[failing.clone(), abandoned(&web)])), ["scale restored 0 -> 1"]);
    let mut raised = failing.size(1);
    raised.meta.generation = 2;
    assert_eq!(
        sizes(&decided(&web, &[raised.clone(), abandoned(&web)])),
        [""; 0],
        "it has not observed its new size yet"
    );
    raised.status.observed_generation = 2;
    assert_eq!(sizes(&decided(&web, &[raised, abandoned(&web)])), ["scale abandoned 1 -> 0"]);
}

/// D10.4: a refused scale-down does not fail the sync, and is retried, because no other event may trigger a sync.
#[test]
fn a_refused_scale_down_is_tried_again() {
    let web = web();
    let sets = [restored(&web).size(1).available(1), abandoned(&web)];
    assert_eq!(sizes(&decided(&web, &sets)), ["scale abandoned 1 -> 0"]);
    let refused = decided_after(RefusedStep::ScaleDownFailed, &web, &sets);
    assert_eq!((refused.result, refused.wake), (SyncResult::Done, Wake::After(Duration::from_secs(1))));
}

/// D§10.2: Recreate waits until the old sets' controller has observed their size of zero; it may be about to
/// create a pod.
#[test]
fn recreate_waits_until_old_sets_have_observed_their_size() {
    let web = web().recreate();
    let mut emptied = abandoned(&web).size(0).available(0);
    emptied.meta.generation = 2;
    let waiting = decided(&web, &[emptied.clone()]);
    assert_eq!(sizes(&waiting), [""; 0]);
    assert_eq!(waiting.waiting_on, [WaitingOn::LaggingStatus { set: "abandoned".into() }]);
    emptied.status.observed_generation = 2;
    assert_eq!(sizes(&decided(&web, &[emptied])).len(), 1, "the new set is created");
}

/// D21.3 repaired: a set of the right size that was sized for another number is annotated, and the rollout continues.
#[test]
fn a_stale_annotation_is_brought_up_to_date() {
    let web = web();
    let stale = abandoned(&web).sized_for(2, 2);
    assert_eq!(
        sizes(&decided(&web, std::slice::from_ref(&stale))),
        [""; 0],
        "without the repair, nothing happens"
    );
    let annotated = repaired(&web, std::slice::from_ref(&stale));
    assert_eq!(sizes(&annotated), ["annotate abandoned"]);
    let annotations = edit_of(&annotated, "abandoned").unwrap().annotations;
    assert_eq!((&*annotations[keys::DESIRED_REPLICAS], &*annotations[keys::MAX_REPLICAS]), ("1", "2"));
    assert_eq!(sizes(&repaired(&web, &[abandoned(&web)])).len(), 1, "the rollout starts");
}

/// D21.1 repaired: Recreate with several active sets rolls out when it is scaled.
#[test]
fn recreate_rolls_out_when_it_is_scaled() {
    let web = web().size(5).recreate();
    let sets = [abandoned(&web), restored(&web).size(1)];
    assert_eq!(sizes(&decided(&web, &sets)), [""; 0], "without the repair, it stalls");
    assert_eq!(sizes(&repaired(&web, &sets)), ["scale abandoned 1 -> 0"]);
    let emptied = [abandoned(&web).size(0).available(0), restored(&web).size(1)];
    assert_eq!(sizes(&repaired(&web, &emptied)), ["scale restored 1 -> 5"]);
}

/// D16.3 repaired: the pods of the restored set are all refused, so that nothing ever progresses. The deadline runs.
#[test]
fn an_undo_without_any_progress_misses_its_deadline() {
    let web =
        web().reported(1, 0, 1).progressing(ConditionStatus::True, "NewReplicaSetAvailable", noon_plus(-900));
    let mut web = web.deadline(Some(600));
    web.status.conditions[0].message = "ReplicaSet \"abandoned\" has successfully progressed.".to_owned();
    let sets = [restored(&web).size(1).pods(0), abandoned(&web)];
    let kept = status_after(&web, &decided(&web, &sets));
    assert_eq!(
        kept.progressing().unwrap().reason,
        "NewReplicaSetAvailable",
        "without the repair, the condition never changes"
    );

    let found = status_after(&web, &repaired(&web, &sets)).progressing().unwrap().clone();
    assert_eq!((&*found.reason, found.last_update), ("FoundNewReplicaSet", Some(NOON)));
    web.status.conditions.clear();
    let late = web.clone().progressing(ConditionStatus::True, &found.reason, noon_plus(-601));
    let exceeded = status_after(&late, &repaired(&late, &sets)).progressing().unwrap().clone();
    assert_eq!(exceeded.reason, "ProgressDeadlineExceeded");
}

/// D16.2: a pod that fails after the rollout starts no deadline, with or without the repair.
#[test]
fn a_finished_rollout_is_not_reported_again() {
    let mut web = web().size(1).reported(1, 1, 0);
    web = web.progressing(ConditionStatus::True, "NewReplicaSetAvailable", noon_plus(-900));
    web.status.conditions[0].message = "ReplicaSet \"restored\" has successfully progressed.".to_owned();
    let status = status_after(&web, &repaired(&web, &[restored(&web).size(1).available(0)]));
    assert_eq!(status.progressing(), web.status.progressing());
}

/// Names are separated by commas; an unknown name is reported.
#[test]
fn repairs_have_names() {
    assert_eq!("all".parse(), Ok(Repairs::ALL));
    assert_eq!("recreate-scaling".parse(), Ok(Repairs { recreate_scaling: true, ..Repairs::default() }));
    assert_eq!(Repairs::NAMES.join(",").parse(), Ok(Repairs::ALL));
    let unknown = "size-annotation,sise".parse::<Repairs>().unwrap_err();
    assert_eq!(
        unknown.to_string(),
        format!("there is no repair \"sise\"; there are all, {}", Repairs::NAMES.join(", "))
    );
}
