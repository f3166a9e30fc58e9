//! When a ready pod counts as available.

use std::time::Duration;

use gantry_model::{Pod, Readiness, ReplicaSet, ReplicaSetStatus, Timestamp};

/// Whether a pod has been ready for `minReadySeconds`.
pub fn is_available(now: Timestamp, pod: &Pod, min_ready_seconds: i32) -> bool {
    match pod.readiness {
        Readiness::NotReady => false,
        Readiness::Ready { .. } if min_ready_seconds == 0 => true,
        Readiness::Ready { since } => {
            since.is_some_and(|since| available_at(since, min_ready_seconds) <= now)
        }
    }
}

/// When to requeue because a pod may have become available, if nothing changes before.
///
/// If no pod has a readiness time, a requeue after `minReadySeconds` is the fallback. A pod that would take longer
/// has a readiness time in the future: the clock was set back, and may be corrected before that.
pub(super) fn next_available_at<'a>(
    now: Timestamp,
    set: &ReplicaSet,
    status: &ReplicaSetStatus,
    active: impl IntoIterator<Item = &'a Pod>,
) -> Option<Timestamp> {
    if set.min_ready_seconds <= 0 || status.ready == status.available {
        return None;
    }
    let min_ready = Duration::from_secs(set.min_ready_seconds.unsigned_abs().into());
    let latest = now.plus(min_ready);
    let first = first_available(now, set.min_ready_seconds, active);
    Some(first.map_or(latest, |first| first.min(latest)))
}

/// The earliest time at which a ready pod becomes available.
///
/// A pod without a readiness time never does.
pub(super) fn first_available<'a>(
    now: Timestamp,
    min_ready_seconds: i32,
    active: impl IntoIterator<Item = &'a Pod>,
) -> Option<Timestamp> {
    let next = |pod: &Pod| match pod.readiness {
        Readiness::Ready { since: Some(since) } => Some(available_at(since, min_ready_seconds)),
        Readiness::Ready { since: None } | Readiness::NotReady => None,
    };
    active.into_iter().filter_map(next).filter(|time| *time > now).min()
}

fn available_at(ready_since: Timestamp, min_ready_seconds: i32) -> Timestamp {
    // 2^31 seconds are less than 2^63 nanoseconds; only the sum can leave the range.
    let min_ready_nanos = i64::from(min_ready_seconds) * 1_000_000_000;
    Timestamp::from_nanos(ready_since.as_nanos().saturating_add(min_ready_nanos))
}
