//! Collects the causes: what the rules wait for, and the problems of pods.

use std::time::Duration;

use gantry_decide::deployment::WaitingOn;
use gantry_model::{Name, Readiness, Timestamp};

use super::pod_problem::pod_problem;
use super::reason::Reason;
use super::report::{Cause, Severity};
use super::rules;
use crate::rollout_state::{ReplicaSetState, RolloutState, SetRole};
use crate::snapshot::ObservedPod;

/// How far past its grace period a pod may be before that counts as a problem. Kubelets count the grace period from
/// when they observe the deletion.
const OVERDUE: Duration = Duration::from_secs(30);

/// All causes: blocking ones, then waiting ones, then notes.
pub(super) fn collect(rollout: &RolloutState<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    for set in &rollout.sets {
        for seen in &set.pods {
            if let Some(cause) = of_pod(rollout, set, seen) {
                add(&mut causes, cause);
            }
        }
    }
    causes.extend(rules::causes(rollout, &causes));
    if rollout.snapshot.deployment.meta.is_deleting() {
        causes
            .iter_mut()
            .filter(|cause| !is_about_deletion(cause))
            .for_each(|cause| cause.severity = Severity::Notes);
    }
    causes.sort_by_key(|cause| cause.severity);
    causes
}

/// For a Deployment that is being deleted, only what delays the deletion matters.
fn is_about_deletion(cause: &Cause) -> bool {
    matches!(cause.reason, Reason::Deleting { .. } | Reason::Terminating { .. })
}

/// Adds a cause, or its pods to the same cause of the same set.
fn add(causes: &mut Vec<Cause>, cause: Cause) {
    let same = causes.iter_mut().find_map(|earlier| {
        let is_same = earlier.set == cause.set
            && earlier.severity == cause.severity
            && earlier.reason.merge(&cause.reason);
        is_same.then_some(earlier)
    });
    match same {
        Some(earlier) => {
            earlier.pods.extend(cause.pods);
            earlier.message = earlier.message.take().or(cause.message);
        }
        None => causes.push(cause),
    }
}

fn of_pod(rollout: &RolloutState<'_>, set: &ReplicaSetState<'_>, seen: &ObservedPod) -> Option<Cause> {
    let (reason, severity, message) = reason_of_pod(rollout, set, seen)?;
    // Problems of old pods do not block the rollout: unhealthy pods are removed first.
    let is_old = set.role == SetRole::Old && !matches!(reason, Reason::Terminating { .. });
    let severity = if is_old { Severity::Notes } else { severity };
    let name: Name = seen.pod.meta.name.clone();
    let cause = Cause::new(severity, reason).of_set(&set.set.meta.name).with_message(&message);
    Some(Cause { pods: vec![name], ..cause })
}

fn reason_of_pod(
    rollout: &RolloutState<'_>,
    set: &ReplicaSetState<'_>,
    seen: &ObservedPod,
) -> Option<(Reason, Severity, String)> {
    if let Some(pod_problem) = pod_problem(rollout.now, rollout.snapshot, seen) {
        return Some((pod_problem.reason, pod_problem.severity, pod_problem.message));
    }
    if seen.pod.is_terminating() {
        let (reason, severity) = terminating(rollout, seen);
        return Some((reason, severity, String::new()));
    }
    if !seen.pod.is_active() || set.role == SetRole::Old {
        return None;
    }
    if !seen.pod.is_ready() {
        return Some((Reason::Starting, Severity::Waits, String::new()));
    }
    if set.counts_available(rollout.now, seen) {
        return None;
    }
    let seconds = set.set.min_ready_seconds;
    Some((Reason::MinReady { seconds, next: counts_at(seen, seconds) }, Severity::Waits, String::new()))
}

/// When a ready pod becomes available.
fn counts_at(seen: &ObservedPod, min_ready_seconds: i32) -> Option<Timestamp> {
    let Readiness::Ready { since: Some(since) } = seen.pod.readiness else { return None };
    Some(since.plus(Duration::from_secs(u64::try_from(min_ready_seconds).unwrap_or(0))))
}

/// A terminating pod blocks only a `Recreate` rollout and a deletion.
fn terminating(rollout: &RolloutState<'_>, seen: &ObservedPod) -> (Reason, Severity) {
    // The deletion timestamp is when the grace period ends.
    let overdue = seen.pod.meta.deleting.map(|due| rollout.now.since(due)).filter(|late| !late.is_zero());
    let is_late = overdue.is_some_and(|late| late > OVERDUE);
    let finalizers = if is_late { seen.pod.meta.finalizers.clone() } else { Vec::new() };
    let overdue = overdue.filter(|_| is_late);
    let is_awaited = rollout
        .decision
        .waiting_on
        .iter()
        .any(|waiting| matches!(waiting, WaitingOn::OldPods { .. } | WaitingOn::Deletion));
    let severity = match (is_awaited, is_late) {
        (true, true) => Severity::Blocks,
        (true, false) => Severity::Waits,
        (false, _) => Severity::Notes,
    };
    (Reason::Terminating { overdue, finalizers }, severity)
}
