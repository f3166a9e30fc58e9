//! Terminating namespaces.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::ConditionStatus;
use gantry_testkit::{NOON, noon_plus};

use super::{NextStep, RemainingContent, conditions, merge, next, pods_first};

fn left(kinds: &[(&str, &str, usize)]) -> RemainingContent {
    let remaining = kinds.iter().map(|(group, plural, count)| (((*group).into(), (*plural).into()), *count));
    RemainingContent { remaining: remaining.collect(), ..RemainingContent::default() }
}

fn holding(remaining_content: &RemainingContent) -> Vec<(String, String)> {
    let found =
        conditions(remaining_content).into_iter().filter(|found| found.status == ConditionStatus::True);
    found.map(|found| (found.reason, found.message)).collect()
}

/// A6.5: pods are deleted before everything else.
#[test]
fn pods_are_deleted_before_everything_else() {
    assert!(pods_first(1));
    assert!(!pods_first(0));
}

/// A6.5: an empty namespace is finalized, and its conditions report success.
#[test]
fn an_empty_namespace_is_finalized() {
    assert_eq!(next(&RemainingContent::default()), NextStep::Finalize);
    assert_eq!(holding(&RemainingContent::default()), []);
    assert_eq!(conditions(&RemainingContent::default()).len(), 5);
}

/// A6.5: while pods terminate, their grace period determines when to check again.
#[test]
fn the_next_check_follows_the_grace_period_of_pods() {
    let remaining_content =
        RemainingContent { pod_grace: Some(Duration::from_secs(30)), ..left(&[("", "pods", 2)]) };
    assert_eq!(next(&remaining_content), NextStep::CheckAgain(Duration::from_secs(16)));
    let message = "Some resources are remaining: pods. has 2 resource instances";
    assert_eq!(holding(&remaining_content), [("SomeResourcesRemain".to_owned(), message.to_owned())]);
}

/// A6.5: remaining finalizers are named in a condition, and waited for.
#[test]
fn remaining_finalizers_are_reported() {
    let finalizers = BTreeMap::from([("example.com/hold".to_owned(), 2)]);
    let remaining_content =
        RemainingContent { finalizers, ..left(&[("", "secrets", 1), ("apps", "deployments", 1)]) };
    assert_eq!(next(&remaining_content), NextStep::CheckAgain(Duration::from_secs(8)));
    let texts: Vec<_> = holding(&remaining_content).into_iter().map(|(_, message)| message).collect();
    assert_eq!(
        texts,
        [
            "Some resources are remaining: deployments.apps has 1 resource instances, secrets. has 1 resource instances",
            "Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances",
        ]
    );
}

/// A6.5: refused requests and failed discovery are reported in conditions and retried.
#[test]
fn refused_requests_and_failed_discovery_are_reported_and_retried() {
    let refused = RemainingContent { failures: ["no".to_owned()].into(), ..RemainingContent::default() };
    assert_eq!(next(&refused), NextStep::Retry);
    assert_eq!(holding(&refused)[0].1, "Failed to delete all resource types, 1 remaining: no");
    let silent = BTreeMap::from([("metrics.k8s.io".to_owned(), "stale".to_owned())]);
    let silent = RemainingContent { undiscovered: silent, ..RemainingContent::default() };
    assert_eq!(next(&silent), NextStep::Retry);
    assert_eq!(holding(&silent)[0].1, "Discovery failed for some groups, 1 failing: metrics.k8s.io: stale");
}

#[test]
fn conditions_are_written_when_they_change() {
    let first = merge(&[], conditions(&left(&[("", "pods", 2)])), NOON).unwrap();
    assert!(first.iter().all(|condition| condition.last_transition == Some(NOON)));
    assert_eq!(merge(&first, conditions(&left(&[("", "pods", 2)])), noon_plus(9)), None);
    let fewer = merge(&first, conditions(&left(&[("", "pods", 1)])), noon_plus(9)).unwrap();
    assert_eq!(fewer[3].last_transition, Some(NOON), "the status is unchanged");
    let none = merge(&fewer, conditions(&RemainingContent::default()), noon_plus(9)).unwrap();
    assert_eq!(none[3].status, ConditionStatus::False);
    assert_eq!(none[3].last_transition, Some(noon_plus(9)));
}
