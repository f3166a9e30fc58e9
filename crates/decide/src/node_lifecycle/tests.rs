//! Nodes without heartbeats, and the eviction of their pods.

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

fn unreachable(added: i64) -> NoExecuteTaint {
    NoExecuteTaint { key: UNREACHABLE.to_owned(), value: String::new(), added: Some(at(added)) }
}

fn tolerates(key: &str, seconds: Option<i64>) -> Toleration {
    Toleration { key: key.to_owned(), seconds, ..Toleration::default() }
}

#[test]
fn a_node_without_heartbeats_for_the_grace_period_is_unknown() {
    let (mut heartbeats, node) = (Heartbeats::default(), Name::from("n1"));
    assert!(!heartbeats.record(&node, "1".to_owned(), at(0)));
    assert!(!heartbeats.record(&node, "1".to_owned(), at(49)));
    assert!(heartbeats.record(&node, "1".to_owned(), at(50)));
    assert!(!heartbeats.record(&node, "2".to_owned(), at(55)), "the node sent a heartbeat");
    assert!(!heartbeats.record(&node, "2".to_owned(), at(104)));
    heartbeats.retain(|_| false);
    assert!(
        !heartbeats.record(&node, "2".to_owned(), at(200)),
        "a node that is added again gets a new grace period"
    );
}

#[test]
fn the_taint_has_the_reason_why_a_node_is_not_ready() {
    assert_eq!(
        [ReadyStatus::True, ReadyStatus::False, ReadyStatus::Unknown].map(taint_of),
        [None, Some(NOT_READY), Some(UNREACHABLE)]
    );
}

#[test]
fn a_pod_stays_for_as_long_as_it_tolerates_the_taint() {
    assert_eq!(evict_at(&[], &[], at(0)), None);
    assert_eq!(evict_at(&[unreachable(100)], &[], at(0)), Some(at(100)), "at once");
    let five_minutes = tolerates(UNREACHABLE, Some(300));
    assert_eq!(evict_at(&[unreachable(100)], std::slice::from_ref(&five_minutes), at(0)), Some(at(400)));
    assert_eq!(
        evict_at(&[unreachable(100)], std::slice::from_ref(&five_minutes), at(150)),
        Some(at(450)),
        "the toleration of a later pod counts from its start"
    );
    assert_eq!(evict_at(&[unreachable(100)], &[tolerates("", None)], at(0)), None, "without limit");
    let both = [five_minutes, tolerates("", Some(10))];
    assert_eq!(evict_at(&[unreachable(100)], &both, at(0)), Some(at(110)), "the shortest counts");
    assert_eq!(evict_at(&[unreachable(100)], &[tolerates(UNREACHABLE, Some(-1))], at(0)), Some(at(100)));
}

#[test]
fn every_taint_must_be_tolerated() {
    let other = NoExecuteTaint { key: "gpu".to_owned(), value: "a".to_owned(), added: Some(at(20)) };
    let tolerated = tolerates(UNREACHABLE, Some(300));
    assert_eq!(
        evict_at(&[unreachable(0), other.clone()], std::slice::from_ref(&tolerated), at(0)),
        Some(at(20))
    );
    let value = |value: &str| Toleration { value: Some(value.to_owned()), ..tolerates("gpu", None) };
    assert_eq!(evict_at(std::slice::from_ref(&other), &[value("b")], at(0)), Some(at(20)));
    assert_eq!(evict_at(std::slice::from_ref(&other), &[value("a")], at(0)), None);
    let schedule = Toleration { effect: "NoSchedule".to_owned(), ..tolerates("gpu", None) };
    assert_eq!(evict_at(&[other], &[schedule], at(0)), Some(at(20)), "the toleration is for another effect");
}
