//! The worked examples of the specification, by number: R10.

use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::replica_set::{
    Action, Decision, ExpectationState, Expectations, ManageResult, Observed, PendingCreations, StatusWrite,
    classify_pods, decide, is_available,
};
use gantry_model::{Phase, Pod, Refusal, RefusalKind, ReplicaSet, ReplicaSetStatus, Replicas, Timestamp};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, labelled_template, noon_plus, pod, replica_set};

use crate::{creations, decided, deletions, key, observed, refusal, reported};

/// The batches of a creation in which the calls of these numbers fail, and the result.
fn create(decision: &Decision, is_refused: impl Fn(usize) -> bool) -> (Vec<usize>, ManageResult) {
    let mut creating = PendingCreations::new(key("web"), creations(decision));
    let (mut batches, mut calls) = (Vec::new(), 0);
    while let Some(batch) = creating.batch() {
        let response = |call| -> Result<_, Refusal> {
            if is_refused(call) { Err(refusal(RefusalKind::Other, "no")) } else { Ok("web-x".into()) }
        };
        let responses: Vec<_> = (calls + 1..=calls + batch).map(response).collect();
        creating.completed(responses);
        batches.push(batch);
        calls += batch;
    }
    (batches, creating.finish())
}

/// The expectations after an action and its result.
fn expected(decision: &Decision, manage_result: &ManageResult) -> ExpectationState {
    let mut expectations = Expectations::default();
    decision.action.set_expectations(NOON, &key("web"), &mut expectations);
    for met in &manage_result.met {
        expectations.lower(met);
    }
    expectations.expectation_state(NOON, &key("web"))
}

fn status(observed: &Observed<'_>) -> ReplicaSetStatus {
    match reported(NOON, observed).status {
        StatusWrite::Put(status) => status,
        StatusWrite::Unchanged => observed.set.status.clone(),
    }
}

fn ready(web: &ReplicaSet, name: &str, node: &str) -> Pod {
    pod(name).owned_by(web).on(node).ready_since(noon_plus(-60))
}

/// Examples 1 to 4 and the two of R5. R5.1, R5.2, R5.3.
#[test]
fn creations_start_slowly() {
    let of = |desired| decided(&replica_set("web").size(desired), &[]);
    let (batches, manage_result) = create(&of(3), |_| false);
    assert_eq!((batches, manage_result.result), (vec![1, 2], Ok(())), "example 1");
    let (batches, manage_result) = create(&of(7), |_| false);
    assert_eq!((batches, manage_result.result), (vec![1, 2, 4], Ok(())), "example 2");

    let (batches, manage_result) = create(&of(10), |_| true);
    assert_eq!(batches, [1], "example 3: one call");
    assert_eq!(
        expected(&of(10), &manage_result),
        ExpectationState::Satisfied,
        "all ten expectations are lowered"
    );
    assert!(manage_result.result.is_err());

    let (batches, manage_result) = create(&of(10), |call| call == 3);
    assert_eq!(batches, [1, 2], "example 4");
    let two_left = ExpectationState::Pending { creations: 2, deletions: 0, until: noon_plus(300) };
    assert_eq!(expected(&of(10), &manage_result), two_left, "two pods, eight lowered");
    assert!(manage_result.result.is_err());

    let (batches, manage_result) = create(&of(10), |call| call > 5);
    assert_eq!(batches, [1, 2, 4], "a quota of five");
    assert!(manage_result.result.is_err());
}

/// Example 5. R6, rules 1 to 3.
#[test]
fn pods_in_earlier_phases_are_deleted_first() {
    let web = replica_set("web").size(2);
    let pods = [
        ready(&web, "d", "n1"),
        pod("c").owned_by(&web).on("n1").phase(Phase::Running),
        ready(&web, "e", "n1"),
        pod("b").owned_by(&web).on("n1"),
        pod("a").owned_by(&web),
    ];
    assert_eq!(deletions(&decided(&web, &pods)), ["a", "b", "c"]);
}

/// Examples 6 and 7. R6, rules 4 and 5.
#[test]
fn related_pods_on_the_node_decide_unless_the_cost_has() {
    let web = replica_set("web").size(1);
    let related = [pod("x").on("n1"), pod("y").on("n1"), pod("z").on("n1"), pod("w").on("n2")];
    let victim = |pods: &[Pod]| {
        let mut observed = observed(&web, pods);
        observed.related = related.iter().collect();
        deletions(&decide(NOON, &observed)).join(" ")
    };
    let (d, e) = (ready(&web, "d", "n1"), ready(&web, "e", "n2"));
    assert_eq!(victim(&[d.clone(), e.clone()]), "d", "example 6");
    assert_eq!(victim(&[d, e.cost(-10)]), "e", "example 7");
}

/// Examples 8 and 9. R6, rules 3 and 6.
#[test]
fn unready_pods_are_deleted_before_the_newly_ready_one() {
    let web = replica_set("web").size(1);
    let since = |name, ago: i64| pod(name).owned_by(&web).on("n1").ready_since(noon_plus(-ago));
    let pods = [since("old", 3 * 3600), since("young", 5)];
    assert_eq!(deletions(&decided(&web, &pods)), ["young"], "example 8");
    let starting = pod("starting").owned_by(&web).on("n1").phase(Phase::Running).cost(100);
    assert_eq!(
        deletions(&decided(&web, &[starting, since("old", 60).cost(-100)])),
        ["starting"],
        "example 9"
    );
}

/// Examples 10 and 11. R3.3.
#[test]
fn a_pod_is_available_exactly_after_min_ready_seconds_and_the_set_is_requeued() {
    let pod_since = |nanos_ago: i64| {
        pod(&format!("p{nanos_ago}")).ready_since(Timestamp::from_nanos(NOON.as_nanos() - nanos_ago))
    };
    assert!(is_available(NOON, &pod_since(10_000_000_000), 10), "example 10");

    let web = replica_set("web").size(3).min_ready(5);
    let pods = [0, 2_000_000_000, 4_300_000_000].map(pod_since);
    let observed = observed(&web, &pods);
    assert_eq!(status(&observed).available, Replicas::ZERO, "example 11");
    assert_eq!(reported(NOON, &observed).wake(NOON), Wake::After(Duration::from_millis(700)));
}

/// Example 12. R7.
#[test]
fn a_terminating_pod_is_replaced_at_once_and_counted_apart() {
    let web = replica_set("web").size(2);
    let pods = [ready(&web, "a", "n1"), ready(&web, "b", "n1").deleting_since(NOON)];
    let observed = observed(&web, &pods);
    assert_eq!(creations(&decide(NOON, &observed)), 1);
    let status = status(&observed);
    assert_eq!((status.replicas, status.terminating), (1_u16.into(), Some(1_u16.into())));
}

/// Example 13. R4.7.
#[test]
fn adopted_orphans_can_be_too_many() {
    let web = replica_set("web").size(2);
    let pods = [pod("o1"), pod("o2"), ready(&web, "own", "n1")];
    let classified = classify_pods(&web, ExpectationState::Satisfied, &pods).unwrap();
    let adopted: Vec<_> = classified.claims.adopt.iter().map(|pod| (*pod, Ok(()))).collect();
    let observed = classified.claimed(adopted, []).unwrap();
    assert_eq!(observed.active.len(), 3);
    assert_eq!(deletions(&decide(NOON, &observed)).len(), 1);
}

/// Example 14. R2.2, R2.6.
#[test]
fn a_set_that_expects_a_pod_waits_for_it_up_to_five_minutes() {
    let mut web = replica_set("web").size(2);
    web.status.replicas = 0_u16.into();
    let pods = [ready(&web, "a", "n1")];
    let mut expectations = Expectations::default();
    expectations.expect_creations(NOON, &key("web"), 1);
    let mut observed = observed(&web, &pods);
    let mut action_at = |now| {
        observed.expectation_state = expectations.expectation_state(now, &key("web"));
        let written = reported(now, &observed).status != StatusWrite::Unchanged;
        (decide(now, &observed).action != Action::Nothing, written)
    };
    assert_eq!(action_at(NOON), (false, true), "no action, status written");
    assert_eq!(action_at(noon_plus(300)), (false, true));
    assert_eq!(action_at(noon_plus(301)), (true, true));
}

/// Example 15. R7.
#[test]
fn a_pod_without_all_labels_of_the_template_counts_but_not_as_fully_labelled() {
    let mut web = replica_set("web").size(1);
    web.template = labelled_template(&[("app", "web"), ("b", "2")], "nginx:1");
    let pods = [ready(&web, "a", "n1")];
    let status = status(&observed(&web, &pods));
    assert_eq!((status.replicas, status.fully_labeled), (1_u16.into(), Replicas::ZERO));
}
