//! The status of a set, and when it is written.

use gantry_decide::replica_set::{
    AfterFailedWrite, ExpectationState, ManageResult, Observed, StatusWrite, SyncReport, WaitingOn,
    after_failed_write, is_available,
};
use gantry_model::{
    ConditionStatus, Phase, Pod, ReplicaSet, ReplicaSetCondition, ReplicaSetConditionType, ReplicaSetStatus,
    Replicas, Timestamp,
};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, labelled_template, noon_plus, pod, replica_set};

use crate::{observed, reported, reported_refusal};

/// The status after the report, written or not.
fn status_after(observed: &Observed<'_>, report: &SyncReport) -> ReplicaSetStatus {
    match &report.status {
        StatusWrite::Unchanged => observed.set.status.clone(),
        StatusWrite::Put(status) => status.clone(),
    }
}

fn failure(reason: &str, message: &str, since: Timestamp) -> ReplicaSetCondition {
    ReplicaSetCondition {
        condition_type: ReplicaSetConditionType::ReplicaFailure,
        status: ConditionStatus::True,
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition: Some(since),
    }
}

/// A set of two pods in a steady state, and its pods.
fn steady() -> (ReplicaSet, Vec<Pod>) {
    let web = replica_set("web").size(2).available(2);
    let pods = ["a", "b"].map(|name| pod(name).owned_by(&web).ready_since(noon_plus(-60)));
    (web, pods.to_vec())
}

/// R7: the counters, for pods in all states.
#[test]
fn the_counters_count_pods_in_all_states() {
    let mut web = replica_set("web").size(6).min_ready(10);
    web.meta.generation = 7;
    web.template = labelled_template(&[("app", "web"), ("tier", "front")], "nginx:1");
    let front =
        |name: &str| pod(name).owned_by(&web).labelled(&[("app", "web"), ("tier", "front"), ("x", "y")]);
    let pods = [
        pod("bare").owned_by(&web),
        front("starting"),
        front("ready").ready_since(noon_plus(-9)),
        front("available").ready_since(noon_plus(-10)),
        pod("lost").owned_by(&web).ready_since(noon_plus(-60)).phase(Phase::Unknown),
        front("going").ready_since(noon_plus(-60)).deleting_since(NOON),
    ];
    let observed = observed(&web, &pods);
    let status = status_after(&observed, &reported(NOON, &observed));
    let counters = [status.replicas, status.fully_labeled, status.ready, status.available];
    assert_eq!(counters.map(Replicas::get), [5, 3, 3, 2]);
    assert_eq!(status.terminating, Some(Replicas::from(1)));
    assert_eq!(status.observed_generation, 7);
}

/// R7: zero is written where an absent field would mean unknown.
#[test]
fn zero_pods_and_zero_terminating_pods_are_written() {
    let mut web = replica_set("web");
    web.status.terminating = None;
    let observed = observed(&web, &[]);
    let StatusWrite::Put(status) = reported(NOON, &observed).status else {
        panic!("the first status must be written")
    };
    let written = status.render();
    assert_eq!((written.replicas, written.terminating_replicas), (0, Some(0)));
}

/// R7: a template without labels is matched by every pod.
#[test]
fn every_pod_carries_all_labels_of_a_template_without_any() {
    let (mut web, pods) = steady();
    web.template = labelled_template(&[], "nginx:1");
    let observed = observed(&web, &pods);
    assert_eq!(status_after(&observed, &reported(NOON, &observed)).fully_labeled, 2_u16.into());
}

/// R0: availability to the nanosecond, for any setting, missing times and clocks that disagree.
#[test]
fn a_pod_is_available_once_it_was_ready_long_enough() {
    let ready = |ago: i64| pod("a").ready_since(noon_plus(-ago));
    for (pod, min_ready, available) in [
        (pod("a"), 0, false),
        (ready(0), 0, true),
        (ready(-100), 0, true),
        (pod("a").ready(), 0, true),
        (pod("a").ready(), 1, false),
        (pod("a").ready(), i32::MIN, false),
        (ready(10), 10, true),
        (ready(9), 10, false),
        (ready(-5), 10, false),
        (ready(0), -1, true),
        (ready(-5), -4, false),
        (ready(0), i32::MAX, false),
        (pod("a").ready_since(Timestamp::from_nanos(i64::MAX)), i32::MAX, false),
        (pod("a").ready_since(Timestamp::from_nanos(i64::MIN)), i32::MIN, true),
    ] {
        assert_eq!(is_available(NOON, &pod, min_ready), available, "{:?} {min_ready}", pod.readiness);
    }
    let almost = Timestamp::from_nanos(NOON.as_nanos() - 1);
    assert!(!is_available(almost, &ready(10), 10), "a nanosecond is missing");
}

/// R7.1: an unchanged status is not written; each change is.
#[test]
fn the_status_is_written_only_if_it_changed() {
    let (web, pods) = steady();
    let is_written = |web: &ReplicaSet, pods: &[Pod]| {
        reported(NOON, &observed(web, pods)).status != StatusWrite::Unchanged
    };
    assert!(!is_written(&web, &pods));
    let changed = |change: fn(&mut ReplicaSet)| {
        let mut web = web.clone();
        change(&mut web);
        is_written(&web, &pods)
    };
    assert!(changed(|web| web.status.replicas = 1_u16.into()));
    assert!(changed(|web| web.status.fully_labeled = 1_u16.into()));
    assert!(changed(|web| web.status.ready = 1_u16.into()));
    assert!(changed(|web| web.status.available = 1_u16.into()));
    assert!(changed(|web| web.status.terminating = Some(1_u16.into())));
    assert!(changed(|web| web.status.terminating = None));
    assert!(changed(|web| web.status.conditions = vec![failure("FailedCreate", "", NOON)]));
    assert!(changed(|web| web.meta.generation = 2), "a spec that has not been observed");
}

/// R7.2: a failed write is retried once after a live read, then not again in this sync.
#[test]
fn a_status_write_is_tried_twice() {
    assert_eq!(after_failed_write(1), AfterFailedWrite::ReadAndPutAgain);
    assert_eq!(after_failed_write(2), AfterFailedWrite::GiveUp);
    assert_eq!(after_failed_write(u32::MAX), AfterFailedWrite::GiveUp);
}

/// R7.3: the first write after a change of the spec observes it, with the counters from before the sync.
#[test]
fn the_status_counts_the_pods_before_the_sync() {
    let (mut web, pods) = steady();
    web.meta.generation = 2;
    web.replicas = 5_u16.into();
    let StatusWrite::Put(status) = reported(NOON, &observed(&web, &pods)).status else {
        panic!("the new spec must be observed")
    };
    assert_eq!((status.observed_generation, status.replicas), (2, 2_u16.into()));
    web.status = status;
    assert_eq!(reported(NOON, &observed(&web, &pods)).status, StatusWrite::Unchanged);

    web.replicas = 0_u16.into();
    web.meta.generation = 3;
    let StatusWrite::Put(status) = reported(NOON, &observed(&web, &pods)).status else {
        panic!("the new spec must be observed")
    };
    assert_eq!(status.replicas, 2_u16.into(), "the pods just deleted still count");
}

/// R7.4: the reason is that of the failed action, the message is the error's.
#[test]
fn a_failure_becomes_a_condition() {
    let (mut web, pods) = steady();
    let condition_of = |web: &ReplicaSet| {
        let observed = observed(web, &pods);
        let report = reported_refusal(&observed, "exceeded quota");
        status_after(&observed, &report).conditions
    };
    web.replicas = 3_u16.into();
    assert_eq!(condition_of(&web), [failure("FailedCreate", "exceeded quota", NOON)]);
    web.replicas = 1_u16.into();
    assert_eq!(condition_of(&web), [failure("FailedDelete", "exceeded quota", NOON)]);
}

/// R7.5: the condition keeps the message of the first failure, so that retries do not write the status each time.
#[test]
fn a_later_failure_leaves_the_condition_as_it_is() {
    let (mut web, pods) = steady();
    web.replicas = 3_u16.into();
    web.status.conditions = vec![failure("FailedCreate", "pods \"web-abcde\" is forbidden", noon_plus(-30))];
    let report = reported_refusal(&observed(&web, &pods), "pods \"web-vwxyz\" is forbidden");
    assert_eq!(report.status, StatusWrite::Unchanged);
    web.status.conditions[0].status = ConditionStatus::False;
    let report = reported_refusal(&observed(&web, &pods), "again");
    assert_eq!(report.status, StatusWrite::Unchanged, "whatever the status of the condition");
}

/// R7.6: without a failure the condition is removed, even if nothing was tried; other conditions stay.
#[test]
fn the_condition_is_removed_with_the_failure() {
    let (mut web, pods) = steady();
    web.replicas = 3_u16.into();
    let mut foreign = failure("Foreign", "", NOON);
    foreign.condition_type = ReplicaSetConditionType::Other("Foreign".into());
    web.status.conditions = vec![failure("FailedCreate", "exceeded quota", NOON), foreign.clone()];
    let mut observed = observed(&web, &pods);
    for expectation_state in [
        ExpectationState::Satisfied,
        ExpectationState::Pending { creations: 1, deletions: 0, until: noon_plus(300) },
    ] {
        observed.expectation_state = expectation_state;
        let status = status_after(&observed, &reported(NOON, &observed));
        assert_eq!(status.conditions, [foreign.clone()]);
    }
}

/// R3: the report contains what the set waits for, a failure first.
#[test]
fn the_report_contains_what_the_set_waits_for() {
    let (mut web, mut pods) = steady();
    let waiting_on = |web: &ReplicaSet, pods: &[Pod]| reported(NOON, &observed(web, pods)).waiting_on;
    assert_eq!(waiting_on(&web, &pods), WaitingOn::Nothing);
    web.min_ready_seconds = 90;
    assert_eq!(waiting_on(&web, &pods), WaitingOn::MinReadySeconds { until: Some(noon_plus(30)) });
    pods = pods.into_iter().map(PodBuilder::ready).collect();
    assert_eq!(waiting_on(&web, &pods), WaitingOn::MinReadySeconds { until: None });
    pods[0] = pod("a").owned_by(&web);
    let some = WaitingOn::PodsNotReady { ready: 1_u16.into(), desired: 2_u16.into() };
    assert_eq!(waiting_on(&web, &pods), some);
    web.replicas = 3_u16.into();
    let refused = reported_refusal(&observed(&web, &pods), "exceeded quota").waiting_on;
    assert_eq!(refused, WaitingOn::CreateRefused { message: "exceeded quota".into() });
}

/// R3, step 9: a failure to manage pods fails the sync, after the status was written.
#[test]
fn a_failed_sync_still_reports() {
    let (mut web, pods) = steady();
    web.replicas = 3_u16.into();
    let report = reported_refusal(&observed(&web, &pods), "exceeded quota");
    assert!(matches!(report.status, StatusWrite::Put(_)));
    assert_eq!(report.result.unwrap_err().to_string(), "exceeded quota");
    assert_eq!(ManageResult::nothing().result, Ok(()));
}

/// The text of what a set waits for fits after "it waits for …".
#[test]
fn the_wait_reason_of_a_set_can_be_displayed() {
    let until = noon_plus(300);
    for (waiting_on, words) in [
        (WaitingOn::Nothing, "nothing: all pods are available"),
        (WaitingOn::InvalidSelector { problem: "it is empty".into() }, "a usable selector: it is empty"),
        (WaitingOn::PendingDeletions, "its own deletion"),
        (
            WaitingOn::Expectations { creations: 2, deletions: 0, until },
            "the cache to show its own writes, 2 created and 0 deleted, until 2026-01-01T12:05:00Z",
        ),
        (WaitingOn::Burst { remaining: 700_u16.into() }, "its next turn, for 700 more pods"),
        (
            WaitingOn::CreateRefused { message: "exceeded quota".into() },
            "a pod to be accepted: exceeded quota",
        ),
        (WaitingOn::DeleteRefused { message: "forbidden".into() }, "a pod to be deleted: forbidden"),
        (
            WaitingOn::PodsNotReady { ready: 1_u16.into(), desired: 2_u16.into() },
            "pods to become ready: 1 of 2 are",
        ),
        (
            WaitingOn::MinReadySeconds { until: Some(until) },
            "ready pods to become available, the next at 2026-01-01T12:05:00Z",
        ),
        (
            WaitingOn::MinReadySeconds { until: None },
            "ready pods to become available, without a readiness transition time",
        ),
    ] {
        assert_eq!(waiting_on.to_string(), words);
    }
}
