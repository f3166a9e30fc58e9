//! When a set is requeued although nothing has changed.

use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::replica_set::{EXPECTATIONS_TIMEOUT, ExpectationState, Observed, SyncReport};
use gantry_model::{Pod, ReplicaSet, Timestamp};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, noon_plus, pod, replica_set};

use crate::{observed, reported, reported_refusal};

fn ready(seconds_ago: &[i64]) -> Vec<Pod> {
    let web = replica_set("web");
    let pod = |(n, ago): (usize, &i64)| pod(&format!("p{n}")).owned_by(&web).ready_since(noon_plus(-ago));
    seconds_ago.iter().enumerate().map(pod).collect()
}

fn report_at_noon(web: &ReplicaSet, pods: &[Pod]) -> SyncReport {
    reported(NOON, &observed(web, pods))
}

/// R3.3: the set is requeued when the first pod becomes available.
#[test]
fn a_set_is_requeued_when_its_next_pod_becomes_available() {
    let web = replica_set("web").size(3).min_ready(10);
    for (ready_ago, wake) in [
        (vec![0, 3, 9], Wake::After(Duration::from_secs(1))),
        (vec![12, 3, 11], Wake::After(Duration::from_secs(7))),
        (vec![10, 11, 12], Wake::OnChange),
        (vec![], Wake::After(Duration::from_secs(301))),
    ] {
        assert_eq!(report_at_noon(&web, &ready(&ready_ago)).wake(NOON), wake, "{ready_ago:?}");
    }
}

/// R3.3: with a zero or negative minReadySeconds a ready pod is available at once.
#[test]
fn only_a_positive_min_ready_seconds_requeues_a_set() {
    for min_ready in [0, -1, i32::MIN] {
        let web = replica_set("web").size(1).min_ready(min_ready);
        assert_eq!(report_at_noon(&web, &ready(&[-1_000_000])).wake(NOON), Wake::OnChange, "{min_ready}");
    }
}

/// R3.3: for a ready pod without a readiness time the set is requeued after all of minReadySeconds.
#[test]
fn pods_without_a_readiness_time_requeue_after_min_ready_seconds() {
    let web = replica_set("web").size(2).min_ready(10);
    let silent = pod("silent").owned_by(&web).ready();
    let report = report_at_noon(&web, std::slice::from_ref(&silent));
    assert_eq!(report.wake(NOON), Wake::After(Duration::from_secs(10)));
    let mut pods = ready(&[4]);
    pods.push(silent);
    assert_eq!(report_at_noon(&web, &pods).wake(NOON), Wake::After(Duration::from_secs(6)));
}

/// R3.3: the delay counts from the time after the write, and is never negative.
#[test]
fn the_duration_of_the_sync_is_subtracted_from_the_delay() {
    let web = replica_set("web").size(1).min_ready(10);
    let report = report_at_noon(&web, &ready(&[4]));
    assert_eq!(report.wake(noon_plus(2)), Wake::After(Duration::from_secs(4)));
    assert_eq!(report.wake(noon_plus(60)), Wake::After(Duration::ZERO));
}

/// R3.3: times at the ends of the range do not overflow.
#[test]
fn the_longest_min_ready_seconds_does_not_overflow() {
    let web = replica_set("web").size(1).min_ready(i32::MAX);
    for since in [i64::MIN, -1, 0, i64::MAX] {
        let pods = [pod("a").owned_by(&web).ready_since(Timestamp::from_nanos(since))];
        for now in [i64::MIN, 0, i64::MAX] {
            let now = Timestamp::from_nanos(now);
            let _ = reported(now, &observed(&web, &pods)).wake(now);
        }
    }
}

/// R1: a failed sync is requeued through the queue's rate limit, whatever else it waits for.
#[test]
fn a_failed_sync_is_tried_again_soon() {
    let web = replica_set("web").size(2).min_ready(10);
    let pods = ready(&[4]);
    assert_eq!(reported_refusal(&observed(&web, &pods), "exceeded quota").wake(NOON), Wake::Soon);
}

/// R3.3: for a pod that is ready since the future the set is requeued after `minReadySeconds`: the clock was set back,
/// and may be corrected.
#[test]
fn a_clock_step_back_delays_by_at_most_min_ready_seconds() {
    let web = replica_set("web").size(1).min_ready(10);
    let pods = ready(&[-7200]);
    assert_eq!(report_at_noon(&web, &pods).wake(NOON), Wake::After(Duration::from_secs(10)));
}

/// R2.2: a pod that the cache never shows delays the set for no longer than expectations last.
#[test]
fn a_set_is_synced_when_its_expectations_have_timed_out() {
    let web = replica_set("web").size(1);
    let state = ExpectationState::Pending { creations: 1, deletions: 0, until: NOON };
    let expecting = Observed { expectation_state: state, ..observed(&web, &[]) };
    for observed in [observed(&web, &[]), expecting] {
        let timed_out = Wake::After(EXPECTATIONS_TIMEOUT + Duration::from_secs(1));
        assert_eq!(reported(NOON, &observed).wake(NOON), timed_out);
    }
}
