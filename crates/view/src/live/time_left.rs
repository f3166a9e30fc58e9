//! The estimated time until a rollout is complete.

use std::time::Duration;

use crate::rollout_state::RolloutState;

/// The time until all new pods are available at the current rate; `None` without any, or when it is complete.
///
/// The rate is that of the available new pods since the first of them was created: 4 in 20 seconds leave 30 seconds
/// for 6 more. Without progress the estimate grows.
pub fn time_left(rollout: &RolloutState<'_>) -> Option<Duration> {
    let new = rollout.new_set()?;
    let started = new.pods.iter().filter_map(|seen| seen.pod.meta.created).min()?;
    let there = new.pods.iter().filter(|seen| new.counts_available(rollout.now, seen)).count();
    let wanted = usize::try_from(rollout.snapshot.deployment.replicas.get()).ok()?;
    let left = u32::try_from(wanted.checked_sub(there)?).ok()?;
    let there = u32::try_from(there).ok()?;
    if left == 0 || there == 0 {
        return None;
    }
    let so_far = rollout.now.since(started);
    so_far.checked_mul(left).map(|all| all / there)
}
