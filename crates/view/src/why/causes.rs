//! Everything that plays a part: what the rules wait for, and what the pods go through.

use std::time::Duration;

use gantry_decide::deployment::WaitingOn;
use gantry_model::{Name, Readiness, Timestamp};

use super::complaint::complaint;
use super::reason::Reason;
use super::report::{Cause, Weight};
use super::rules;
use crate::snapshot::PodSeen;
use crate::standing::{SetRole, SetStanding, Standing};

/// How far past its grace period a pod may be before that counts as a problem. Nodes count the grace period from when they hear of it.
const OVERDUE: Duration = Duration::from_secs(30);

/// All causes: what blocks, then what waits, then notes.
pub(super) fn collect(standing: &Standing<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    for set in &standing.sets {
        for seen in &set.pods {
            if let Some(cause) = of_pod(standing, set, seen) {
                add(&mut causes, cause);
            }
        }
    }
    causes.extend(rules::causes(standing, &causes));
    if standing.snapshot.deployment.meta.is_deleting() {
        causes
            .iter_mut()
            .filter(|cause| !is_about_deletion(cause))
            .for_each(|cause| cause.weight = Weight::Notes);
    }
    causes.sort_by_key(|cause| cause.weight);
    causes
}

/// Of a Deployment that is being deleted, only what keeps it there matters.
fn is_about_deletion(cause: &Cause) -> bool {
    matches!(cause.reason, Reason::Deleting { .. } | Reason::Terminating { .. })
}

/// Adds a cause, or its pods to the same cause of the same set.
fn add(causes: &mut Vec<Cause>, cause: Cause) {
    let same = causes.iter_mut().find_map(|earlier| {
        let is_same = earlier.set == cause.set
            && earlier.weight == cause.weight
            && earlier.reason.absorb(&cause.reason);
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

fn of_pod(standing: &Standing<'_>, set: &SetStanding<'_>, seen: &PodSeen) -> Option<Cause> {
    let (reason, weight, message) = went_through(standing, set, seen)?;
    // What troubles old pods does not hold up the new ones: the unhealthy are the first to go.
    let is_old = set.role == SetRole::Old && !matches!(reason, Reason::Terminating { .. });
    let weight = if is_old { Weight::Notes } else { weight };
    let name: Name = seen.pod.meta.name.clone();
    let cause = Cause::new(weight, reason).of_set(&set.set.meta.name).saying(&message);
    Some(Cause { pods: vec![name], ..cause })
}

fn went_through(
    standing: &Standing<'_>,
    set: &SetStanding<'_>,
    seen: &PodSeen,
) -> Option<(Reason, Weight, String)> {
    if let Some(complaint) = complaint(standing.now, standing.snapshot, seen) {
        return Some((complaint.reason, complaint.weight, complaint.message));
    }
    if seen.pod.is_terminating() {
        let (reason, weight) = terminating(standing, seen);
        return Some((reason, weight, String::new()));
    }
    if !seen.pod.is_active() || set.role == SetRole::Old {
        return None;
    }
    if !seen.pod.is_ready() {
        return Some((Reason::Starting, Weight::Waits, String::new()));
    }
    if set.counts_available(standing.now, seen) {
        return None;
    }
    let seconds = set.set.min_ready_seconds;
    Some((Reason::MinReady { seconds, next: counts_at(seen, seconds) }, Weight::Waits, String::new()))
}

/// When a ready pod counts as available.
fn counts_at(seen: &PodSeen, min_ready_seconds: i32) -> Option<Timestamp> {
    let Readiness::Ready { since: Some(since) } = seen.pod.readiness else { return None };
    Some(since.plus(Duration::from_secs(u64::try_from(min_ready_seconds).unwrap_or(0))))
}

/// A pod on its way out holds up only a rollout that waits for old pods to be gone, and a deletion.
fn terminating(standing: &Standing<'_>, seen: &PodSeen) -> (Reason, Weight) {
    // The deletion timestamp is when the grace period ends.
    let overdue = seen.pod.meta.deleting.map(|due| standing.now.since(due)).filter(|late| !late.is_zero());
    let is_late = overdue.is_some_and(|late| late > OVERDUE);
    let finalizers = if is_late { seen.pod.meta.finalizers.clone() } else { Vec::new() };
    let overdue = overdue.filter(|_| is_late);
    let is_awaited = standing
        .decision
        .waiting_on
        .iter()
        .any(|waiting| matches!(waiting, WaitingOn::OldPods { .. } | WaitingOn::Deletion));
    let weight = match (is_awaited, is_late) {
        (true, true) => Weight::Blocks,
        (true, false) => Weight::Waits,
        (false, _) => Weight::Notes,
    };
    (Reason::Terminating { overdue, finalizers }, weight)
}
