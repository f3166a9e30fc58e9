//! Which pods are deleted when there are too many.

use gantry_decide::replica_set::{Action, decide, is_choice_needed, related_pods};
use gantry_model::{Phase, Pod, Readiness, ReplicaSet, Timestamp};
use gantry_testkit::{
    NOON, PodBuilder, ReplicaSetBuilder, deployment, invalid_selector, noon_plus, pod, replica_set, selector,
};

use crate::{decided, deletions, key, observed};

/// Which of two pods is deleted at noon, in whichever order they are listed, without related pods.
fn deleted(one: &Pod, other: &Pod) -> String {
    deleted_of(one, other, &[])
}

/// Which of two pods is deleted, with these related pods.
fn deleted_of(one: &Pod, other: &Pod, related: &[Pod]) -> String {
    let web = replica_set("web").size(1);
    let victim = |pods: &[Pod]| {
        let mut observed = observed(&web, pods);
        observed.related = related.iter().collect();
        deletions(&decide(NOON, &observed)).join(" and ")
    };
    let there = victim(&[one.clone(), other.clone()]);
    let back = victim(&[other.clone(), one.clone()]);
    assert_eq!(there, back, "the order of the list must not matter");
    there
}

/// A ready pod that differs from others only in its name; by uid, `low` precedes `top`.
fn plain(name: &str) -> Pod {
    pod(name).on("n1").ready_since(noon_plus(-100)).created(noon_plus(-200))
}

fn low() -> Pod {
    plain("low").uid("1")
}

/// Each test gives `top` the property for which it is deleted: by uid, the last criterion, `low` would be.
fn top() -> Pod {
    plain("top").uid("2")
}

/// R6: where all else is equal the uid decides, so that the result never depends on the order of a list.
#[test]
fn pods_that_are_otherwise_equal_are_ordered_by_uid() {
    assert_eq!(deleted(&low(), &top()), "low");
}

/// R6: if all pods are deleted, none has to be chosen, and nothing is sorted.
#[test]
fn pods_are_not_sorted_if_all_are_deleted() {
    let pods = [top(), low()];
    let Action::Delete { pods } = decided(&replica_set("web"), &pods).action else {
        panic!("all pods must be deleted")
    };
    assert_eq!(pods, ["top", "low"].map(key));
}

/// R6, rule 1.
#[test]
fn an_unassigned_pod_is_deleted_before_an_assigned_one() {
    let mut unassigned = top();
    unassigned.node = None;
    assert_eq!(deleted(&low(), &unassigned), "top");
    let mut both = low();
    both.node = None;
    assert_eq!(deleted(&both, &unassigned), "low", "no difference");
}

/// R6, rule 2.
#[test]
fn pods_are_deleted_by_phase_pending_then_unknown_then_running() {
    let in_phase = |pod: Pod, phase| pod.phase(phase);
    let [pending, unknown] = [Phase::Pending, Phase::Unknown].map(|phase| in_phase(top(), phase));
    assert_eq!(deleted(&low(), &pending), "top");
    assert_eq!(deleted(&low(), &unknown), "top");
    assert_eq!(deleted(&in_phase(low(), Phase::Unknown), &pending), "top");
}

/// R6, rule 3.
#[test]
fn an_unready_pod_is_deleted_before_a_ready_one() {
    let starting = pod("top").uid("2").on("n1").phase(Phase::Running).created(noon_plus(-200));
    assert_eq!(deleted(&low(), &starting), "top");
}

/// R6.4: a pod that has just become ready counts as ready, available or not.
#[test]
fn readiness_counts_and_availability_does_not() {
    let web = replica_set("web").size(1).min_ready(3600);
    let deleted = |pods: [Pod; 2]| deletions(&decide(NOON, &observed(&web, &pods))).join(" ");
    let starting = pod("starting").on("n1").phase(Phase::Running);
    let unavailable = pod("unavailable").on("n1").ready_since(noon_plus(-1));
    let available = pod("available").on("n1").ready_since(noon_plus(-7200));
    assert_eq!(deleted([starting.cost(1), unavailable.clone()]), "starting");
    assert_eq!(deleted([unavailable.cost(1), available]), "available", "both are ready, so the cost decides");
}

/// R6, rule 4.
#[test]
fn the_pod_with_the_lower_deletion_cost_is_deleted() {
    for (cheap, dear) in [(-1, 0), (0, 1), (i32::MIN, i32::MAX), (-10, -5), (5, 10)] {
        assert_eq!(deleted(&low().cost(dear), &top().cost(cheap)), "top", "{cheap} and {dear}");
    }
}

/// R6, rule 5.
#[test]
fn the_pod_on_the_node_with_more_related_pods_is_deleted() {
    let (quiet, crowded) = (low().on("n1"), top().on("n2"));
    let related = [pod("x").on("n2"), pod("y").on("n2"), pod("z").on("n1")];
    assert_eq!(deleted_of(&quiet, &crowded, &related), "top");
    assert_eq!(deleted_of(&quiet, &crowded, &related[1..]), "low", "one each");
    assert_eq!(deleted_of(&quiet, &crowded, &[]), "low", "no related pods");
}

/// R6.1: related pods are found by selector, not by owner; of all sets of the Deployment; each once; only active ones.
#[test]
fn related_pods_are_those_that_any_set_of_the_deployment_selects() {
    let web = deployment("web");
    let of_web = |name: &str, app: &str| {
        let mut set = replica_set(name).owned_by(&web);
        set.selector = Ok(selector(&[("app", app)]));
        set
    };
    let new = of_web("new", "new");
    let mut broken = of_web("broken", "broken");
    broken.selector = Err(invalid_selector());
    let mut elsewhere = of_web("elsewhere", "foreign");
    elsewhere.meta.namespace = "elsewhere".into();
    let mut stranger = replica_set("stranger").owned_by(&deployment("other"));
    stranger.selector = Ok(selector(&[("app", "foreign")]));
    let old = of_web("old", "old").deleting_since(NOON);
    let both = of_web("both", "new");
    let sets = [new.clone(), old, both, broken, elsewhere, stranger];

    let labelled = |name: &str, app: &str| pod(name).labelled(&[("app", app)]);
    let mut other_namespace = labelled("other-namespace", "new");
    other_namespace.meta.namespace = "elsewhere".into();
    let pods = [
        labelled("one", "new"),
        labelled("two", "old"),
        labelled("foreign", "foreign"),
        labelled("unrelated", "broken"),
        labelled("finished", "new").phase(Phase::Failed),
        labelled("going", "new").deleting_since(NOON),
        other_namespace,
    ];
    let names = |set: &ReplicaSet| -> Vec<_> {
        related_pods(set, &sets, &pods).iter().map(|pod| pod.meta.name.to_string()).collect()
    };
    assert_eq!(names(&new), ["one", "two"]);
    assert_eq!(names(&replica_set("alone")), [""; 0], "a set without a controller has no related pods");
}

/// R6.1: related pods are needed only where they can affect the choice.
#[test]
fn a_choice_is_needed_only_if_some_pods_stay() {
    let set = |size| replica_set("web").size(size);
    assert!(is_choice_needed(&set(1), 2));
    assert!(!is_choice_needed(&set(0), 2), "all are deleted");
    assert!(!is_choice_needed(&set(2), 2));
    assert!(!is_choice_needed(&set(3), 2));
    assert!(is_choice_needed(&set(0), 501), "all are deleted, but not in one sync");
}

/// R6.1: the namespace is searched for related pods only when pods have to be chosen between.
#[test]
fn related_sets_are_read_only_if_pods_must_be_chosen() {
    let new = replica_set("new").owned_by(&deployment("web")).size(1);
    let pods = [low().on("crowded"), top().on("crowded")];
    let relations = |set: &ReplicaSet| observed(set, &pods).among([set], &pods).related.len();
    assert_eq!(relations(&new), 2);
    assert_eq!(relations(&new.clone().size(2)), 0);
    assert_eq!(relations(&new.clone().size(0)), 0);
}

/// R6, rule 6, and R6.3: younger by enough that the logarithms differ.
#[test]
fn the_pod_that_has_been_ready_for_a_shorter_time_is_deleted() {
    let ready = |pod: Pod, ago: i64| pod.ready_since(noon_plus(-ago));
    assert_eq!(deleted(&ready(low(), 20), &ready(top(), 10)), "top");
    assert_eq!(deleted(&ready(low(), 10_800), &ready(top(), 5)), "top");
    assert_eq!(deleted(&ready(low(), 1), &ready(top(), -5)), "top", "in the future: the youngest");
    assert_eq!(deleted(&ready(low(), -9), &ready(top(), -5)), "low", "no age is negative");
    assert_eq!(deleted(&ready(low(), -9), &top().ready()), "top", "no time: the most recent of all");
}

/// R6.3: similar ages count as equal, and the uid decides.
#[test]
fn pods_of_about_the_same_age_are_ordered_by_uid() {
    let ready = |pod: Pod, ago: i64| pod.ready_since(noon_plus(-ago));
    assert_eq!(deleted(&ready(low(), 16), &ready(top(), 10)), "low");
    assert_eq!(deleted(&ready(low(), 10), &ready(top(), 16)), "low");
    let uids = |one: &str, other: &str| {
        deleted(&ready(plain("one").uid(one), 10), &ready(plain("other").uid(other), 16))
    };
    assert_eq!(uids("b2c94a1e-0000", "b2c94a1f-0000"), "one", "the beginning of the uids decides");
    assert_eq!(uids("b2c94a1e-0001", "b2c94a1e-0000"), "other", "or the end");
    assert_eq!(uids("b2c94a1e", "b2c94a1"), "other", "compared as text, so the shorter first");
    // Restarts do not count here: rule 6 has decided already.
    assert_eq!(deleted(&ready(low(), 16), &ready(top(), 10).restarted(9)), "low");
}

/// R6.3: the buckets of ages end at powers of two.
#[test]
fn ages_are_distinguished_at_powers_of_two() {
    let aged = |pod: Pod, nanos: i64| pod.ready_since(Timestamp::from_nanos(NOON.as_nanos() - nanos));
    for power in [1_i64, 10, 33, 40, 60] {
        let edge = 1 << power;
        assert_eq!(deleted(&aged(low(), edge), &aged(top(), edge - 1)), "top", "2^{power}");
        assert_eq!(deleted(&aged(low(), edge * 2 - 1), &aged(top(), edge)), "low", "2^{power}");
    }
}

/// R6, rule 7.
#[test]
fn the_pod_with_more_restarts_is_deleted() {
    assert_eq!(deleted(&low().restarted(1), &top().restarted(2)), "top");
    assert_eq!(deleted(&low(), &top().sidecars_restarted(1)), "top", "restarts of sidecars break a tie");
    assert_eq!(deleted(&low().sidecars_restarted(9), &top().restarted(1)), "top", "containers first");
    let starting = |pod: Pod| Pod { readiness: Readiness::NotReady, ..pod };
    assert_eq!(deleted(&starting(low()), &starting(top()).restarted(1)), "top", "whether ready or not");
}

/// R6, rule 8, and R6.3.
#[test]
fn the_younger_pod_is_deleted() {
    let born = |pod: Pod, ago: i64| pod.created(noon_plus(-ago));
    assert_eq!(deleted(&born(low(), 20), &born(top(), 10)), "top");
    assert_eq!(deleted(&born(low(), 16), &born(top(), 10)), "low", "about the same age");
    let mut ageless = top();
    ageless.meta.created = None;
    assert_eq!(deleted(&born(low(), -5), &ageless), "top", "no time: the most recent of all");
}

/// R6: each rule takes precedence over all that follow.
#[test]
fn the_rules_apply_in_order() {
    let related: Vec<Pod> = ["x", "y"].map(|name| pod(name).on("crowded")).to_vec();
    let favours: [fn(Pod) -> Pod; 8] = [
        |pod| Pod { node: None, ..pod },
        |pod| pod.phase(Phase::Pending),
        |pod| Pod { readiness: Readiness::NotReady, ..pod },
        |pod| pod.cost(-1),
        |pod| pod.on("crowded"),
        |pod| pod.ready_since(noon_plus(-1)),
        |pod| pod.restarted(3),
        |pod| pod.created(noon_plus(-1)),
    ];
    for (rule, favour) in favours.iter().enumerate() {
        // One rule favours `top`, all later ones `low`; the last is applied first, because a ready pod is also running.
        let low = favours[rule + 1..].iter().rev().fold(low(), |pod, favour| favour(pod));
        assert_eq!(deleted_of(&low, &favour(top()), &related), "top", "rule {}", rule + 1);
    }
}

/// Rules 6 and 7 together can be cyclic; the result is nevertheless deterministic.
#[test]
fn contradicting_rules_have_a_deterministic_result() {
    let web = replica_set("web").size(1);
    let a = plain("a").uid("1").ready_since(noon_plus(-100));
    let b = plain("b").uid("3").ready_since(noon_plus(-100)).restarted(5);
    let c = plain("c").uid("2").ready_since(noon_plus(-101));
    assert_eq!(
        (deleted(&a, &b), deleted(&a, &c), deleted(&b, &c)),
        ("b".into(), "a".into(), "c".into()),
        "a cycle"
    );
    let victims = |pods: [&Pod; 3]| {
        let pods = pods.map(Pod::clone);
        deletions(&decide(NOON, &observed(&web, &pods))).join(" ")
    };
    let expected = victims([&a, &b, &c]);
    for order in [[&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]] {
        assert_eq!(victims(order), expected);
    }
}
