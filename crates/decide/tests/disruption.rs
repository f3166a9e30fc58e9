//! PodDisruptionBudgets: the expected, healthy and evictable pods. The numbers were observed on Kubernetes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::disruption::triggers::{self, on_pod};
use gantry_decide::disruption::{
    Decision, Lookup, Observed, Scale, ScaleLookup, controllers_with_scale, decide, find_scale,
};
use gantry_model::{
    BudgetRequirement, ConditionStatus, Deployment, DisruptionBudget, DisruptionBudgetStatus, Limit, Name,
    Namespace, OwnerReference, Pod, ReplicaSet, Replicas, Uid,
};
use gantry_testkit::{
    DeploymentBuilder as _, NOON, PodBuilder as _, ReplicaSetBuilder as _, deployment, labels, meta,
    noon_plus, pod, replica_set, selector,
};

fn budget(requirement: BudgetRequirement) -> DisruptionBudget {
    DisruptionBudget {
        meta: meta("budget"),
        selector: Some(Ok(selector(&[("app", "web")]))),
        requirement,
        status: DisruptionBudgetStatus::default(),
    }
}

fn min_available(limit: Limit) -> DisruptionBudget {
    budget(BudgetRequirement::MinAvailable(Ok(limit)))
}

fn max_unavailable(limit: Limit) -> DisruptionBudget {
    budget(BudgetRequirement::MaxUnavailable(Ok(limit)))
}

/// This many pods of one ReplicaSet, the first of them ready.
fn pods(count: usize, ready: usize) -> Vec<Pod> {
    let set = replica_set("web-1");
    let one = |nth: usize| {
        let pod = pod(&format!("web-1-{nth}")).owned_by(&set);
        if nth < ready { pod.ready() } else { pod }
    };
    (0..count).map(one).collect()
}

/// Decides with a controller of this scale.
fn decided(budget: &DisruptionBudget, pods: &[Pod], scale: Scale) -> Decision {
    let pods: Vec<&Pod> = pods.iter().collect();
    let scales = BTreeMap::from([(Uid::from("uid-of-web-1"), scale)]);
    decide(NOON, &Observed { budget, pods: &pods, scales: &scales })
}

fn of_size(replicas: u16) -> Scale {
    Scale::Known { controller: "uid-of-web".into(), replicas: Replicas::from(replicas) }
}

/// Allowed, healthy, desired, expected.
fn counts(decision: &Decision) -> [i64; 4] {
    let status = decision.status.as_ref().unwrap();
    [status.disruptions_allowed, status.current_healthy, status.desired_healthy, status.expected]
        .map(Replicas::get)
}

fn reasons(decision: &Decision) -> Vec<&str> {
    decision.events.iter().map(|event| event.reason).collect()
}

#[test]
fn disruptions_allowed_are_the_healthy_pods_beyond_the_required_ones() {
    let cases = [
        (min_available(Limit::Count(2)), [1, 3, 2, 4]),
        (min_available(Limit::Count(9)), [0, 3, 9, 4]),
        (min_available(Limit::Count(0)), [3, 3, 0, 4]),
        (max_unavailable(Limit::Count(1)), [0, 3, 3, 4]),
        (max_unavailable(Limit::Count(9)), [3, 3, 0, 4]),
        (max_unavailable(Limit::Percent(30)), [1, 3, 2, 4]),
        (min_available(Limit::Percent(51)), [0, 3, 3, 4]),
        (min_available(Limit::Percent(50)), [1, 3, 2, 4]),
        (budget(BudgetRequirement::Unset), [0, 3, 0, 0]),
    ];
    for (budget, expected) in cases {
        let decision = decided(&budget, &pods(4, 3), of_size(4));
        assert_eq!(counts(&decision), expected, "{:?}", budget.requirement);
        let condition = &decision.status.as_ref().unwrap().conditions[0];
        let (holds, reason) = match expected[0] {
            0 => (ConditionStatus::False, "InsufficientPods"),
            _ => (ConditionStatus::True, "SufficientPods"),
        };
        assert_eq!((&condition.status, condition.reason.as_str()), (&holds, reason));
        assert_eq!((condition.observed_generation, condition.last_transition), (1, Some(NOON)));
    }
}

#[test]
fn a_minimum_count_requires_no_scale() {
    let pods = pods(2, 2);
    let pods: Vec<&Pod> = pods.iter().collect();
    assert!(controllers_with_scale(&min_available(Limit::Count(1)), &pods).is_empty());
    assert_eq!(
        controllers_with_scale(&max_unavailable(Limit::Count(1)), &pods).len(),
        1,
        "each is requested once"
    );
    assert_eq!(controllers_with_scale(&min_available(Limit::Percent(1)), &pods).len(), 1);
}

#[test]
fn an_unchanged_status_is_not_written_again() {
    let mut budget = max_unavailable(Limit::Count(1));
    budget.status = decided(&budget, &pods(2, 2), of_size(2)).status.unwrap();
    assert_eq!(decided(&budget, &pods(2, 2), of_size(2)).status, None);
    budget.meta.generation = 2;
    assert_eq!(decided(&budget, &pods(2, 2), of_size(2)).status.unwrap().observed_generation, 2);
}

#[test]
fn a_budget_that_selects_no_pod_allows_no_disruption_and_reports_it() {
    let decision = decided(&min_available(Limit::Count(0)), &[], of_size(0));
    assert_eq!(counts(&decision), [0, 0, 0, 0]);
    assert_eq!(reasons(&decision), ["NoPods"]);
}

#[test]
fn a_pod_without_a_controller_is_healthy_but_not_expected() {
    let decision = decided(&max_unavailable(Limit::Count(1)), &[pod("lone").ready()], of_size(0));
    assert_eq!(counts(&decision), [0, 1, 0, 0]);
    assert_eq!(reasons(&decision), ["UnmanagedPods"]);
    let shown = "(selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})";
    assert!(decision.events[0].message.contains(shown), "{}", decision.events[0].message);
}

#[test]
fn a_failed_count_allows_no_disruption_and_observes_no_generation() {
    let mut budget = max_unavailable(Limit::Count(1));
    budget.status = decided(&budget, &pods(3, 3), of_size(3)).status.unwrap();
    budget.meta.generation = 2;
    for (scale, why) in [
        (Scale::Failed("no scale".to_owned()), "no scale"),
        (Scale::Missing, "found no controllers for pod \"web-1-0\""),
    ] {
        let decision = decided(&budget, &pods(3, 3), scale);
        let status = decision.status.as_ref().unwrap();
        assert_eq!((status.disruptions_allowed, status.observed_generation), (Replicas::ZERO, 1));
        let condition = &status.conditions[0];
        assert_eq!((condition.reason.as_str(), condition.message.as_str()), ("SyncFailed", why));
        assert_eq!(reasons(&decision), ["CalculateExpectedPodCountFailed"]);
    }
}

/// A8.7: an evicted pod does not count until it is deleted or two minutes have passed.
#[test]
fn an_evicted_pod_does_not_count_for_two_minutes() {
    let mut budget = min_available(Limit::Count(1));
    let evicted_at = |seconds| BTreeMap::from([("web-1-0".into(), noon_plus(seconds))]);
    budget.status.disrupted = evicted_at(-100);
    let decision = decided(&budget, &pods(2, 2), of_size(2));
    assert_eq!(counts(&decision), [0, 1, 1, 2]);
    assert_eq!(decision.wake, Wake::After(Duration::from_secs(20)));
    assert_eq!(decision.status.unwrap().disrupted, evicted_at(-100));
    budget.status.disrupted = evicted_at(-120);
    let decision = decided(&budget, &pods(2, 2), of_size(2));
    assert_eq!(counts(&decision), [1, 2, 1, 2]);
    assert_eq!(decision.pod_events[0].1.reason, "NotDeleted");
    assert!(decision.status.unwrap().disrupted.is_empty());
}

#[test]
fn a_terminating_pod_is_not_healthy_and_its_eviction_is_dropped() {
    let mut budget = min_available(Limit::Count(1));
    budget.status.disrupted = BTreeMap::from([("web-1-0".into(), NOON), ("gone".into(), NOON)]);
    let mut pods = pods(2, 2);
    pods[0] = pods[0].clone().deleting_since(NOON);
    let decision = decided(&budget, &pods, of_size(2));
    assert_eq!(counts(&decision), [0, 1, 1, 2]);
    assert!(decision.status.unwrap().disrupted.is_empty());
}

/// A cache with a Deployment of 5, one ReplicaSet of it, and one without a Deployment.
struct Cache(Deployment, ReplicaSet, ReplicaSet);

impl Lookup for Cache {
    fn deployment(&self, _: &Namespace, name: &Name) -> Option<&Deployment> {
        Some(&self.0).filter(|it| it.meta.name == *name)
    }
    fn replica_set(&self, _: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        [&self.1, &self.2].into_iter().find(|it| it.meta.name == *name)
    }
    fn replication_controller(&self, _: &Namespace, _: &Name) -> Option<&ReplicaSet> {
        None
    }
    fn stateful_set(&self, _: &Namespace, name: &Name) -> Option<(Uid, Replicas)> {
        (name.as_str() == "db").then(|| ("uid-of-db".into(), Replicas::from(7)))
    }
}

#[test]
fn the_size_is_that_of_the_deployment_if_there_is_one() {
    let web = deployment("web").size(5);
    let cache = Cache(web.clone(), replica_set("web-1").owned_by(&web).size(2), replica_set("lone").size(3));
    let scale = |owner: &OwnerReference| find_scale(&"default".into(), owner, &cache);
    let known = |controller: &str, replicas: u16| {
        ScaleLookup::Scale(Scale::Known { controller: controller.into(), replicas: Replicas::from(replicas) })
    };
    assert_eq!(scale(&cache.1.reference()), known("uid-of-web", 5));
    assert_eq!(scale(&cache.2.reference()), known("uid-of-lone", 3));
    let db = OwnerReference::to_controller("apps/v1", "StatefulSet", &meta("db"));
    assert_eq!(scale(&db), known("uid-of-db", 7));
    let other = OwnerReference { uid: "another".into(), ..cache.2.reference() };
    assert_eq!(scale(&other), ScaleLookup::NotCached, "the cached set has another uid");
    let custom = OwnerReference::to_controller("example.com/v1", "Boat", &meta("db"));
    assert_eq!(scale(&custom), ScaleLookup::NotCached);
}

struct Budgets(Vec<DisruptionBudget>);

impl triggers::Lookup for Budgets {
    fn budgets(&self, _: &Namespace) -> impl Iterator<Item = &DisruptionBudget> {
        self.0.iter()
    }
}

#[test]
fn a_pod_enqueues_every_budget_that_selects_or_selected_it() {
    let mut other = min_available(Limit::Count(1));
    other.meta.name = "other".into();
    other.selector = Some(Ok(selector(&[("app", "db")])));
    let cache = Budgets(vec![min_available(Limit::Count(1)), other]);
    let names = |old: Option<&Pod>, pod: &Pod| -> Vec<String> {
        on_pod(old, pod, &cache).budgets.iter().map(|key| key.name.to_string()).collect()
    };
    let web = pod("p");
    let mut moved = web.clone();
    moved.meta.labels = labels(&[("app", "db")]);
    assert_eq!(names(None, &web), ["budget"]);
    assert_eq!(names(Some(&web), &moved), ["other", "budget"]);
    let mut second = min_available(Limit::Count(1));
    second.meta.name = "second".into();
    let both = Budgets(vec![min_available(Limit::Count(1)), second]);
    let event = on_pod(None, &web, &both).event.unwrap();
    assert_eq!(
        event.message,
        "Pod \"default\"/\"p\" matches multiple PodDisruptionBudgets.  Chose \"budget\" arbitrarily."
    );
}
