//! The creations and deletions that a set has requested and not observed yet.

use gantry_decide::replica_set::{
    Action, ControllerState, ExpectationState, Expectations, ManageResult, MetExpectation, StatusWrite,
    SyncStart, WaitingOn, classify_pods, decide, report,
};
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{ObjectKey, Pod, Timestamp};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, noon_plus, pod, replica_set};

use crate::{creations, key, observed};

fn created(count: usize) -> MetExpectation {
    MetExpectation::Creations { set: key("web"), count }
}

fn deleted(pod: &str) -> MetExpectation {
    MetExpectation::Deletion { set: key("web"), pod: key(pod) }
}

/// The unmet expectations of `web`: creations and deletions.
fn pending(expectations: &Expectations, now: Timestamp) -> Option<(usize, usize)> {
    match expectations.expectation_state(now, &key("web")) {
        ExpectationState::Satisfied => None,
        ExpectationState::Pending { creations, deletions, .. } => Some((creations, deletions)),
    }
}

fn expecting_creations(count: usize) -> Expectations {
    let mut expectations = Expectations::default();
    expectations.expect_creations(NOON, &key("web"), count);
    expectations
}

fn expecting_deletions(pods: &[&str]) -> Expectations {
    let pods: Vec<ObjectKey> = pods.iter().map(|pod| key(pod)).collect();
    let mut expectations = Expectations::default();
    expectations.expect_deletions(NOON, &key("web"), &pods);
    expectations
}

/// R2.1: the expectations of a set are either creations or deletions, and independent of another set's.
#[test]
fn new_expectations_replace_the_old_ones() {
    let mut expectations = expecting_creations(3);
    assert_eq!(pending(&expectations, NOON), Some((3, 0)));
    expectations.expect_deletions(noon_plus(1), &key("web"), [&key("a"), &key("b")]);
    assert_eq!(pending(&expectations, NOON), Some((0, 2)));
    expectations.expect_creations(noon_plus(2), &key("web"), 1);
    assert_eq!(pending(&expectations, NOON), Some((1, 0)));
    assert_eq!(
        expectations.expectation_state(NOON, &key("api")),
        ExpectationState::Satisfied,
        "a set without expectations"
    );
    expectations.lower(&deleted("a"));
    expectations.lower(&created(1));
    assert_eq!(pending(&expectations, NOON), None, "the deletions were replaced");
}

/// R2.2: expectations are satisfied if none were recorded, all are met, or they are older than five minutes.
#[test]
fn expectations_are_satisfied_when_met_or_when_too_old() {
    assert_eq!(pending(&Expectations::default(), NOON), None);
    let mut met = expecting_creations(2);
    met.lower(&created(1));
    assert_eq!(pending(&met, NOON), Some((1, 0)));
    met.lower(&created(1));
    assert_eq!(pending(&met, NOON), None);

    let unmet = expecting_creations(2);
    let five_minutes = noon_plus(300);
    assert_eq!(pending(&unmet, five_minutes), Some((2, 0)), "exactly five minutes are not too old");
    assert_eq!(pending(&unmet, Timestamp::from_nanos(five_minutes.as_nanos() + 1)), None);
    assert_eq!(pending(&unmet, noon_plus(-10_000)), Some((2, 0)), "a clock that was set back");
    assert_eq!(
        unmet.expectation_state(NOON, &key("web")),
        ExpectationState::Pending { creations: 2, deletions: 0, until: five_minutes }
    );
}

/// R2.3: the deletion timestamp counts; the final deletion of the same pod, or of another one, does not.
#[test]
fn each_deletion_counts_once() {
    let mut expectations = expecting_deletions(&["a", "b"]);
    expectations.lower(&deleted("a"));
    expectations.lower(&deleted("a"));
    expectations.lower(&deleted("other"));
    assert_eq!(pending(&expectations, NOON), Some((0, 1)));
    expectations.lower(&deleted("b"));
    assert_eq!(pending(&expectations, NOON), None);
}

/// R2.4: creations are only counted, and there may be more than were expected.
#[test]
fn any_pod_that_appears_counts_as_a_creation() {
    let mut expectations = expecting_creations(1);
    for _ in 0..3 {
        expectations.lower(&created(1));
    }
    assert_eq!(pending(&expectations, NOON), None);
    expectations.lower(&created(usize::MAX));
    expectations.lower(&created(usize::MAX));
    assert_eq!(pending(&expectations, NOON), None, "however many");
    expectations.expect_creations(NOON, &key("web"), 2);
    assert_eq!(pending(&expectations, NOON), Some((2, 0)), "a surplus is not carried over");
    let mut none = Expectations::default();
    none.lower(&created(1));
    assert_eq!(none, Expectations::default(), "nothing was expected");
}

/// R2.5: if the expectations are read before the pods are listed, they cannot be newer than the list.
#[test]
fn a_pod_that_arrives_between_question_and_list_is_not_created_twice() {
    let web = replica_set("web").size(1);
    let mut state = ControllerState::default();
    state.expectations.expect_creations(NOON, &key("web"), 1);
    let pods = [pod("a").owned_by(&web)];
    let creations_with = |expectation_state, pods: &[Pod]| {
        let observed = classify_pods(&web, expectation_state, pods).unwrap().claimed([], []).unwrap();
        creations(&decide(NOON, &observed))
    };

    let read_before = state.expectations.expectation_state(NOON, &key("web"));
    state.lower(&created(1)); // the pod arrives
    let read_after = state.expectations.expectation_state(NOON, &key("web"));

    assert_eq!(creations_with(read_before, &pods), 0);
    assert_eq!(creations_with(read_before, &[]), 0, "the pod arrives after the list");
    assert_eq!(creations_with(read_after, &[]), 1, "the wrong order: an old list and newer expectations");
}

/// R2.6: adoption, release and status updates continue; only creation and deletion wait.
#[test]
fn unmet_expectations_suppress_only_pod_actions() {
    let mut web = replica_set("web").size(3);
    web.status.replicas = 0_u16.into();
    let pods =
        [pod("own").owned_by(&web), pod("orphan"), pod("gone").owned_by(&web).labelled(&[("app", "x")])];
    let until = noon_plus(300);
    let expectation_state = ExpectationState::Pending { creations: 1, deletions: 0, until };
    let classified = classify_pods(&web, expectation_state, &pods).unwrap();
    assert_eq!(classified.claims.adopt, [&pods[1]]);
    assert_eq!(classified.claims.release, [&pods[2]]);

    let observed = classified.claimed([(&pods[1], Ok(()))], [(&pods[2], Ok(()))]).unwrap();
    let decision = decide(NOON, &observed);
    assert_eq!(decision.action, Action::Nothing);
    assert_eq!(decision.waiting_on, WaitingOn::Expectations { creations: 1, deletions: 0, until });
    let report = report(NOON, &observed, &decision, &ManageResult::nothing());
    assert!(matches!(report.status, StatusWrite::Put(status) if status.replicas == 2_u16.into()));
}

/// R2.7, R1.2: a new set of the same name has no expectations.
#[test]
fn the_expectations_of_a_deleted_set_do_not_apply_to_its_successor() {
    let mut state = ControllerState::default();
    state.expectations.expect_creations(NOON, &key("web"), 5);
    state.lower(&MetExpectation::Everything { set: key("web"), uid: "uid-of-web".into() });
    assert_eq!(state, ControllerState::default());
}

/// R3.1: the state of a set that does not exist any more is dropped, and the sync succeeds.
#[test]
fn a_sync_of_a_deleted_set_drops_its_state_and_succeeds() {
    let read =
        ReadVersions::from([(CachedResource::Pods, "9".into()), (CachedResource::ReplicaSets, "9".into())]);
    let mut state = ControllerState::default();
    state.expectations.expect_creations(NOON, &key("web"), 5);
    assert_eq!(state.begin_sync(NOON, &key("web"), None, &read), Ok(SyncStart::Gone));
    assert_eq!(state, ControllerState::default());
}

/// R3.1, R2.5: the sync of an existing set begins by reading its expectations.
#[test]
fn a_sync_checks_expectations_first() {
    let read =
        ReadVersions::from([(CachedResource::Pods, "9".into()), (CachedResource::ReplicaSets, "9".into())]);
    let web = replica_set("web");
    let mut state = ControllerState::default();
    let begun = state.begin_sync(NOON, &key("web"), Some(&web), &read);
    assert_eq!(begun, Ok(SyncStart::Present(&web, ExpectationState::Satisfied)));
    state.expectations.expect_creations(NOON, &key("web"), 5);
    let begun = state.begin_sync(NOON, &key("web"), Some(&web), &read);
    let expectation_state = ExpectationState::Pending { creations: 5, deletions: 0, until: noon_plus(300) };
    assert_eq!(begun, Ok(SyncStart::Present(&web, expectation_state)));
}

/// R5.1, R5.7: the expectations are those of the action; no action sets none.
#[test]
fn an_action_sets_its_expectations() {
    let web = replica_set("web").size(3);
    let mut expectations = Expectations::default();
    decide(NOON, &observed(&web, &[])).action.set_expectations(NOON, &key("web"), &mut expectations);
    assert_eq!(pending(&expectations, NOON), Some((3, 0)));

    let empty = replica_set("web");
    let pods = [pod("a").owned_by(&web), pod("b").owned_by(&web)];
    decide(NOON, &observed(&empty, &pods)).action.set_expectations(NOON, &key("web"), &mut expectations);
    assert_eq!(pending(&expectations, NOON), Some((0, 2)));
    expectations.lower(&deleted("a"));
    Action::Nothing.set_expectations(NOON, &key("web"), &mut expectations);
    assert_eq!(pending(&expectations, NOON), Some((0, 1)), "unchanged without an action");
}
