//! Recreate: old pods are completely deleted before new ones are created.

use gantry_decide::deployment::{Decision, IfRefused, WaitingOn};
use gantry_model::{ConditionStatus, Deployment, Phase, Pod, ReplicaSet, keys};
use gantry_testkit::{
    DeploymentBuilder, NOON, PodBuilder, ReplicaSetBuilder, deployment, noon_plus, pod, replica_set,
};

use crate::{decided, decided_with, lines, refusal_of, sizes, status_after};

fn web() -> Deployment {
    deployment("web").size(2).recreate().annotated(keys::REVISION, "1")
}

fn old(web: &Deployment) -> ReplicaSet {
    replica_set("old").owned_by(web).image("old:1").created(noon_plus(-60)).revision(1).sized_for(2, 2)
}

fn with_pods(web: &Deployment, sets: &[ReplicaSet], pods: &[Pod]) -> Decision {
    decided_with(NOON, web, sets, pods, None)
}

/// D§10.2, D20: the old set is scaled to zero, its pods are waited for, then the new set is created.
#[test]
fn old_pods_are_deleted_before_new_ones_are_created() {
    let web = web();
    let running = old(&web).size(2).available(2);
    let stopped = with_pods(&web, &[running], &[]);
    assert_eq!(sizes(&stopped), ["scale old 2 -> 0"]);
    assert_eq!(refusal_of(&stopped, "old"), Some(IfRefused::Fail), "D8.3");
    assert_eq!(lines(&stopped).last().unwrap(), "report 2 pods, 0 updated, 2 ready, 2 available");
    let without_pods = old(&web).size(2).pods(0);
    assert_eq!(
        sizes(&with_pods(&web, &[without_pods], &[])),
        ["scale old 2 -> 0"],
        "its pods may be about to be created"
    );

    let reported = old(&web).pods(2);
    let waiting = with_pods(&web, &[reported], &[]);
    assert_eq!(sizes(&waiting), [""; 0], "the set still reports pods");
    assert_eq!(waiting.waiting_on, [WaitingOn::OldPods { remaining: 2 }]);

    let gone = with_pods(&web, &[old(&web)], &[]);
    assert!(sizes(&gone)[0].starts_with("create web-") && sizes(&gone)[0].ends_with("size 2"), "{gone:?}");
}

/// D§10.2, step 3: every pod of another set that has not finished counts, terminating ones too.
#[test]
fn only_finished_pods_do_not_count_as_running() {
    let web = web();
    let drained = old(&web);
    let p = |phase| pod("p").owned_by(&drained).phase(phase);
    for waited_for in [
        p(Phase::Pending),
        p(Phase::Running),
        p(Phase::Unknown),
        p(Phase::Running).deleting_since(noon_plus(0)),
    ] {
        let decision = with_pods(&web, std::slice::from_ref(&drained), std::slice::from_ref(&waited_for));
        assert_eq!(decision.waiting_on, [WaitingOn::OldPods { remaining: 1 }], "{waited_for:?}");
    }
    for finished in [p(Phase::Succeeded), p(Phase::Failed)] {
        assert_eq!(sizes(&with_pods(&web, std::slice::from_ref(&drained), &[finished])).len(), 1);
    }
    let new = replica_set("new").owned_by(&web).revision(2).sized_for(2, 2);
    let of_the_new_set = pod("p").owned_by(&new).phase(Phase::Running);
    let started = with_pods(&web, &[drained, new], &[of_the_new_set]);
    assert_eq!(sizes(&started), ["scale new 0 -> 2"]);
    assert_eq!(refusal_of(&started, "new"), Some(IfRefused::Fail), "D8.3");
}

/// D10.6: until the old pods are deleted the new set does not exist, and the revision is the old one's.
#[test]
fn while_waiting_there_is_no_new_revision() {
    let web = web();
    let waiting = with_pods(&web, &[old(&web).pods(1)], &[]);
    assert!(!lines(&waiting).iter().any(|line| line.contains("revision")), "{waiting:?}");
}

/// D10.7: the first rollout has no old pods to wait for.
#[test]
fn the_first_rollout_waits_for_nothing() {
    assert!(sizes(&decided(&web(), &[]))[0].starts_with("create web-"));
}

/// D§10.2, step 5: history is cleaned up once the Deployment is complete.
#[test]
fn history_is_cleaned_up_once_complete() {
    let mut web = web().reported(2, 2, 2);
    web.revision_history_limit = Some(0.into());
    let new = replica_set("new").owned_by(&web).revision(2).size(2).available(2).sized_for(2, 2);
    assert_eq!(sizes(&decided(&web, &[old(&web), new.clone()])), ["delete old"]);
    let not_yet = web.reported(2, 2, 1);
    assert_eq!(sizes(&decided(&not_yet, &[old(&not_yet), new])), [""; 0]);
}

/// D21.1: with several active sets and another size, Recreate stalls, and reports why.
#[test]
fn recreate_cannot_scale_several_sets() {
    let web = web().size(5);
    let sets = [old(&web).size(1), replica_set("new").owned_by(&web).revision(2).size(1).sized_for(2, 2)];
    let decision = decided(&web, &sets);
    assert_eq!(sizes(&decision), [""; 0]);
    assert_eq!(decision.waiting_on, [WaitingOn::ScalingRecreate { active: 2 }]);
}

/// D21.2: while it waits, the old condition remains and names the old set.
#[test]
fn while_waiting_progress_still_names_the_old_set() {
    let mut web = web().progressing(ConditionStatus::True, "NewReplicaSetAvailable", noon_plus(-60));
    web.status.conditions[0].message = "ReplicaSet \"old\" has successfully progressed.".to_owned();
    let terminating = pod("p").owned_by(&old(&web)).phase(Phase::Running).deleting_since(noon_plus(0));
    let decision = with_pods(&web, &[old(&web)], &[terminating]);
    let progress = status_after(&web, &decision).progressing().unwrap().clone();
    assert_eq!(progress.message, "ReplicaSet \"old\" has successfully progressed.");
}
