//! How long a rollout will take at the pace it has had so far.

use std::time::Duration;

use crate::standing::Standing;

/// How long is left until all new pods are available; `None` when there is nothing to go by, or nothing left.
///
/// The pace is that of the new pods that count already, since the first of them was created: 4 in 20 seconds leave 30
/// seconds for 6 more. While nothing moves the guess grows, as it should.
pub fn time_left(standing: &Standing<'_>) -> Option<Duration> {
    let new = standing.new_set()?;
    let started = new.pods.iter().filter_map(|seen| seen.pod.meta.created).min()?;
    let there = new.pods.iter().filter(|seen| new.counts_available(standing.now, seen)).count();
    let wanted = usize::try_from(standing.snapshot.deployment.replicas.get()).ok()?;
    let left = u32::try_from(wanted.checked_sub(there)?).ok()?;
    let there = u32::try_from(there).ok()?;
    if left == 0 || there == 0 {
        return None;
    }
    let so_far = standing.now.since(started);
    so_far.checked_mul(left).map(|all| all / there)
}
