//! Which ReplicaSets a change enqueues, and which expectations it meets.

use std::time::Duration;

use gantry_decide::replica_set::MetExpectation;
use gantry_decide::replica_set::triggers::{
    Lookup, Triggered, on_pod_added, on_pod_deleted, on_pod_updated, on_set_added, on_set_deleted,
    on_set_updated,
};
use gantry_model::{Name, Namespace, OwnerReference, Pod, ReplicaSet, Requirement, Selector};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, invalid_selector, pod, replica_set, selector};

use crate::key;

struct Cache(Vec<ReplicaSet>);

impl Lookup for Cache {
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.0.iter().find(|set| set.meta.namespace == *namespace && set.meta.name == *name)
    }

    fn replica_sets(&self, namespace: &Namespace) -> impl Iterator<Item = &ReplicaSet> {
        self.0.iter().filter(move |set| set.meta.namespace == *namespace)
    }
}

/// The names that are enqueued at once, in order.
fn at_once(triggered: &Triggered) -> Vec<&str> {
    let now = triggered.enqueue.iter().filter(|enqueue| enqueue.after.is_zero());
    now.map(|enqueue| enqueue.key.name.as_str()).collect()
}

/// The next version of a pod.
fn next(pod: &Pod) -> Pod {
    let mut next = pod.clone();
    next.meta.resource_version = "2".into();
    next
}

fn web_and_api() -> (ReplicaSet, Cache) {
    let web = replica_set("web");
    let mut api = replica_set("api");
    api.selector = Ok(selector(&[("app", "api")]));
    (web.clone(), Cache(vec![api, web]))
}

/// R1.1: added and updated sets are enqueued, whatever changed; a resync of the same object as well.
#[test]
fn a_set_is_synced_whenever_a_change_names_it() {
    let web = replica_set("web");
    for triggered in [on_set_added(&web), on_set_updated(&web, &web)] {
        assert_eq!(at_once(&triggered), ["web"]);
        assert_eq!(triggered.met, []);
    }
}

/// R1.1: another uid under the same name means that a deletion was missed.
#[test]
fn a_set_with_another_uid_is_a_deletion_and_an_addition() {
    let old = replica_set("web");
    let mut new = old.clone();
    new.meta.uid = "another".into();
    let triggered = on_set_updated(&old, &new);
    assert_eq!(triggered.met, [MetExpectation::Everything { set: key("web"), uid: "uid-of-web".into() }]);
    assert_eq!(at_once(&triggered), ["web"]);
}

/// R1.2: the expectations of a deleted set are dropped.
#[test]
fn a_deleted_set_drops_its_expectations_and_is_enqueued_once_more() {
    let triggered = on_set_deleted(&replica_set("web"));
    assert_eq!(triggered.met, [MetExpectation::Everything { set: key("web"), uid: "uid-of-web".into() }]);
    assert_eq!(at_once(&triggered), ["web"]);
}

/// R1.3: an added pod meets one expected creation.
#[test]
fn a_new_pod_of_a_set_meets_one_expected_creation() {
    let (web, cache) = web_and_api();
    let triggered = on_pod_added(&pod("a").owned_by(&web), &cache);
    assert_eq!(triggered.met, [MetExpectation::Creations { set: key("web"), count: 1 }]);
    assert_eq!(at_once(&triggered), ["web"]);
}

/// R1.3: a pod that is first seen terminating was not created just now.
#[test]
fn a_pod_first_seen_terminating_counts_as_a_deletion() {
    let (web, cache) = web_and_api();
    let triggered = on_pod_added(&pod("a").owned_by(&web).deleting_since(NOON), &cache);
    assert_eq!(triggered.met, [MetExpectation::Deletion { set: key("web"), pod: key("a") }]);
    assert_eq!(at_once(&triggered), ["web"]);
}

/// R1.3: an orphan meets no set's expectation, but may be adopted.
#[test]
fn a_new_orphan_enqueues_the_sets_that_match_it_and_meets_no_expectation() {
    let (_, cache) = web_and_api();
    let triggered = on_pod_added(&pod("a"), &cache);
    assert_eq!(at_once(&triggered), ["web"]);
    assert_eq!(triggered.met, []);
}

/// R1.4: an update to the same version is ignored.
#[test]
fn an_update_to_the_same_version_is_ignored() {
    let (web, cache) = web_and_api();
    let old = pod("a").owned_by(&web);
    let new = old.clone().ready_since(NOON);
    assert_eq!(on_pod_updated(&old, &new, &cache), Triggered::default());
    assert_eq!(at_once(&on_pod_updated(&old, &next(&new), &cache)), ["web"]);
}

/// R1.4 (1): the deletion timestamp counts as the deletion; the pod is removed much later.
#[test]
fn a_pod_that_begins_to_terminate_counts_as_a_deletion() {
    let (web, cache) = web_and_api();
    let old = pod("a").owned_by(&web);
    let triggered = on_pod_updated(&old, &next(&old).deleting_since(NOON), &cache);
    assert_eq!(triggered.met, [MetExpectation::Deletion { set: key("web"), pod: key("a") }]);
    assert_eq!(at_once(&triggered), ["web"]);
}

/// R1.4 (1): if the labels changed as well, the set that owned the pod before is enqueued too.
#[test]
fn a_terminating_pod_with_new_labels_is_a_deletion_for_its_old_set_as_well() {
    let (web, cache) = web_and_api();
    let api = cache.0[0].clone();
    let old = pod("a").owned_by(&web);
    let moved = next(&old).owned_by(&api).deleting_since(NOON);
    let deletion = |set: &str| MetExpectation::Deletion { set: key(set), pod: key("a") };
    let triggered = on_pod_updated(&old, &moved.clone().labelled(&[("app", "api")]), &cache);
    assert_eq!(triggered.met, [deletion("api"), deletion("web")]);
    assert_eq!(at_once(&triggered), ["api", "web"]);
    assert_eq!(on_pod_updated(&old, &moved, &cache).met, [deletion("api")], "same labels");
}

/// R1.4 (2), (3): the old and the new owner of a pod are enqueued.
#[test]
fn a_pod_with_a_changed_controller_enqueues_both_sets() {
    let (web, cache) = web_and_api();
    let api = cache.0[0].clone();
    let old = pod("a").owned_by(&web);
    let triggered = on_pod_updated(&old, &next(&old).owned_by(&api), &cache);
    assert_eq!(at_once(&triggered), ["web", "api"]);
    assert_eq!(triggered.met, [], "nothing was created or deleted");
}

/// R1.4 (3): a pod that became ready becomes available later, without another event.
#[test]
fn a_pod_that_becomes_ready_enqueues_its_set_again_after_min_ready_seconds() {
    for (min_ready, delays) in [
        (0, vec![Duration::ZERO]),
        (-1, vec![Duration::ZERO]),
        (30, vec![Duration::ZERO, Duration::from_secs(30)]),
        (i32::MAX, vec![Duration::ZERO, Duration::from_secs(2_147_483_647)]),
    ] {
        let web = replica_set("web").min_ready(min_ready);
        let cache = Cache(vec![web.clone()]);
        let (starting, ready) = (pod("a").owned_by(&web), pod("a").owned_by(&web).ready_since(NOON));
        let delays_of = |triggered: Triggered| -> Vec<_> {
            triggered.enqueue.into_iter().map(|enqueue| enqueue.after).collect()
        };
        assert_eq!(delays_of(on_pod_updated(&starting, &next(&ready), &cache)), delays, "{min_ready}");
        assert_eq!(
            delays_of(on_pod_updated(&ready, &next(&ready), &cache)),
            [Duration::ZERO],
            "ready before"
        );
    }
}

/// R1.4 (3): a pod with a controller reference enqueues no other set, even if the reference cannot be resolved.
#[test]
fn a_pod_of_an_unknown_controller_enqueues_no_set_even_if_it_matches() {
    let (_, cache) = web_and_api();
    let old = pod("a").owned_by(&replica_set("gone"));
    let new = next(&old).labelled(&[("app", "web"), ("more", "labels")]);
    assert_eq!(on_pod_updated(&old, &new, &cache), Triggered::default());
    assert_eq!(on_pod_added(&old, &cache), Triggered::default());
}

/// R1.4 (4): an update of an orphan matters only if its labels or its controller changed.
#[test]
fn an_orphan_enqueues_matching_sets_when_it_is_relabelled_or_released() {
    let (web, cache) = web_and_api();
    let orphan = pod("a");
    assert_eq!(at_once(&on_pod_updated(&orphan, &next(&orphan).ready_since(NOON), &cache)), [""; 0]);
    let relabelled = next(&orphan).labelled(&[("app", "api")]);
    assert_eq!(at_once(&on_pod_updated(&orphan, &relabelled, &cache)), ["api"]);
    let owned = pod("a").owned_by(&web).labelled(&[("app", "api")]);
    let released = next(&orphan).labelled(&[("app", "api")]);
    assert_eq!(at_once(&on_pod_updated(&owned, &released, &cache)), ["web", "api"]);
}

/// R1.5: a deletion is met by the pod's key; orphans are not expected by any set.
#[test]
fn a_deleted_pod_meets_its_expected_deletion() {
    let (web, cache) = web_and_api();
    let triggered = on_pod_deleted(&pod("a").owned_by(&web), &cache);
    assert_eq!(triggered.met, [MetExpectation::Deletion { set: key("web"), pod: key("a") }]);
    assert_eq!(at_once(&triggered), ["web"]);
    assert_eq!(on_pod_deleted(&pod("a"), &cache), Triggered::default());
}

/// R1.6: kind, name and uid must match; the API version is not compared.
#[test]
fn a_controller_reference_matches_by_kind_name_and_uid() {
    let (web, cache) = web_and_api();
    let resolves = |bend: fn(&mut OwnerReference)| {
        let mut pod = pod("a").owned_by(&web);
        bend(&mut pod.meta.owners[0]);
        on_pod_deleted(&pod, &cache) != Triggered::default()
    };
    assert!(resolves(|_| {}));
    assert!(resolves(|owner| owner.api_version = "extensions/v1beta1".into()));
    assert!(!resolves(|owner| owner.kind = "StatefulSet".into()));
    assert!(!resolves(|owner| owner.name = "api".into()));
    assert!(!resolves(|owner| owner.uid = "another".into()));
    assert!(!resolves(|owner| owner.controller = false));
}

/// R1.6: names are looked up in the pod's own namespace.
#[test]
fn a_set_of_the_same_name_in_another_namespace_does_not_match() {
    let (web, cache) = web_and_api();
    let mut stranger = pod("a").owned_by(&web);
    stranger.meta.namespace = "elsewhere".into();
    assert_eq!(on_pod_added(&stranger, &cache), Triggered::default());
}

/// R1.7: all matching sets are enqueued; selectors of everything, of nothing and malformed ones match no orphan.
#[test]
fn an_orphan_enqueues_all_matching_sets_with_a_valid_selector() {
    let selecting = |name: &str, selector| {
        let mut set = replica_set(name);
        set.selector = selector;
        set
    };
    let without_tier = Selector::All(vec![Requirement::DoesNotExist("tier".into())]);
    let cache = Cache(vec![
        selecting("empty", Ok(Selector::Everything)),
        selecting("malformed", Err(invalid_selector())),
        replica_set("one"),
        replica_set("two"),
        selecting("tierless", Ok(without_tier)),
    ]);
    assert_eq!(at_once(&on_pod_added(&pod("a"), &cache)), ["one", "two", "tierless"]);
    assert_eq!(
        on_pod_added(&pod("a").labelled(&[]), &cache),
        Triggered::default(),
        "no labels match nothing"
    );
}
