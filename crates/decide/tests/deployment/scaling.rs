//! Scaling events, plain and proportional scaling.

use gantry_decide::deployment::{IfRefused, WaitingOn};
use gantry_model::{Deployment, Limit, ReplicaSet, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, edit_of, messages, refusal_of, sizes};

fn web() -> Deployment {
    deployment("web").size(10).rolling(Limit::Count(3), Limit::Count(2)).annotated(keys::REVISION, "2")
}

fn old(web: &Deployment, size: u16) -> ReplicaSet {
    let set = replica_set("old").owned_by(web).image("old:1").created(noon_plus(-60)).revision(1);
    set.size(size).available(size)
}

fn new(web: &Deployment, size: u16) -> ReplicaSet {
    replica_set("new").owned_by(web).revision(2).size(size)
}

/// D9.1: only active sets with readable annotations make a scaling event.
#[test]
fn a_scaling_event_needs_an_active_set_sized_for_another_count() {
    let web = web();
    // A rollout would grow the new set to 5 here; a scaling event distributes 3 more over both.
    let scales = |desired: &str, size| {
        let old = old(&web, size).annotated(keys::DESIRED_REPLICAS, desired);
        let new = new(&web, 2).sized_for(10, 13);
        sizes(&decided(&web, &[old, new])).iter().any(|line| line.starts_with("scale old"))
    };
    assert!(scales("7", 6));
    for ignored in ["10", "", "seven", "+7", "-7", "7.0", "2147483648", " 7"] {
        assert!(!scales(ignored, 6), "{ignored:?}");
    }
    assert!(scales("0007", 6), "leading zeros are still digits");
    assert!(!scales("7", 0), "an inactive set does not count");
}

/// D9.2: one active set gets the size; if it has it already, its annotations are not changed.
#[test]
fn one_active_set_gets_the_size() {
    let web = web();
    let grown = decided(&web, &[new(&web, 4).sized_for(4, 5)]);
    assert_eq!(sizes(&grown), ["scale new 4 -> 10"]);
    assert_eq!(refusal_of(&grown, "new"), Some(IfRefused::Fail), "D8.3");
    assert_eq!(messages(&grown), ["Scaled up replica set new from 4 to 10"]);
    assert_eq!(edit_of(&grown, "new").unwrap().annotations[keys::MAX_REPLICAS], "13");
    let inactive_new = decided(&web, &[old(&web, 4).sized_for(4, 5), new(&web, 0)]);
    assert_eq!(sizes(&inactive_new), ["scale old 4 -> 10"], "the active one, not the new one");
    let none_active = decided(&web.clone().paused(), &[old(&web, 0), new(&web, 0)]);
    assert_eq!(sizes(&none_active), ["scale new 0 -> 10"], "the new one, if none is active");
}

/// D21.3: a stale annotation on a set of the right size is never repaired: it stays a scaling event.
#[test]
fn a_stale_annotation_on_a_set_of_the_right_size_stays() {
    let web = web();
    let stale = new(&web, 10).available(10).sized_for(4, 5);
    let image_changed = web.clone().image("nginx:2");
    assert_eq!(sizes(&decided(&image_changed, &[stale])), [""; 0], "the rollout is blocked");
}

/// D9.2: a new set whose pods are all available drains the old ones.
#[test]
fn a_saturated_new_set_drains_the_others() {
    let web = web();
    let saturated = new(&web, 10).available(10).sized_for(10, 13);
    let outdated = old(&web, 3).sized_for(7, 9);
    let drained = decided(&web, &[outdated.clone(), saturated.clone()]);
    assert_eq!(sizes(&drained), ["scale old 3 -> 0"]);
    assert_eq!(refusal_of(&drained, "old"), Some(IfRefused::Fail), "D8.3");
    assert_eq!(drained.waiting_on, [WaitingOn::OwnWrites]);
    let recreated = decided(&web.clone().recreate(), &[outdated.clone(), saturated.clone()]);
    assert_eq!(sizes(&recreated), ["scale old 3 -> 0"], "whatever the strategy");
    let not_available = saturated.clone().available(9);
    assert!(
        !sizes(&decided(&web, &[outdated.clone(), not_available])).contains(&"scale old 3 -> 0".to_owned())
    );
    let sized_for_less = saturated.sized_for(9, 12);
    let shared = decided(&web, &[outdated, sized_for_less]);
    assert_eq!(
        sizes(&shared),
        ["annotate old", "annotate new"],
        "13 of 13 already, so only annotations change"
    );
    assert_eq!(messages(&shared), [""; 0], "D8.2: no event is recorded");
}

/// D9.4: sets that got their share before an interruption get nothing more.
#[test]
fn an_interrupted_pass_is_finished_by_the_next() {
    let web = web().size(20);
    let first_done = [old(&web, 14).sized_for(20, 23), new(&web, 5).sized_for(10, 13)];
    let decision = decided(&web, &first_done);
    assert_eq!(sizes(&decision), ["scale new 5 -> 9"]);
    assert_eq!(decision.waiting_on, [WaitingOn::OwnWrites]);
    assert_eq!(refusal_of(&decision, "new"), Some(IfRefused::Fail), "D9.3: the first refusal ends the sync");
}

/// D9.5: another surge is no scaling event; a paused Deployment applies it nevertheless.
#[test]
fn another_surge_is_applied_only_while_paused() {
    let web = web().rolling(Limit::Count(6), Limit::Count(2));
    let sets = [old(&web, 8).sized_for(10, 13), new(&web, 5).available(5).sized_for(10, 13)];
    assert_eq!(sizes(&decided(&web, &sets)), ["scale new 5 -> 8"], "the rollout grows the new set");
    assert_eq!(sizes(&decided(&web.paused(), &sets)), ["scale old 8 -> 10", "scale new 5 -> 6"]);
}

/// D9.3: without max annotation and without reported pods there is no proportion: the largest set gets the whole
/// difference.
#[test]
fn without_a_proportion_the_largest_gets_it_all() {
    let web = web().size(12);
    let sets = [old(&web, 6).annotated(keys::DESIRED_REPLICAS, "9"), new(&web, 3)];
    assert_eq!(sizes(&decided(&web, &sets)), ["scale old 6 -> 12", "annotate new"]);
    let zero = [
        old(&web, 6).annotated(keys::DESIRED_REPLICAS, "9").annotated(keys::MAX_REPLICAS, "0"),
        new(&web, 3).annotated(keys::MAX_REPLICAS, "-3"),
    ];
    assert_eq!(
        sizes(&decided(&web, &zero)),
        ["scale old 6 -> 12", "annotate new"],
        "0 and -3 are no maximum"
    );
}
