//! Scaling: a changed replica count, for one ReplicaSet or proportionally over several.

use std::cmp::Reverse;

use gantry_model::{Replicas, Strategy};

use super::decision::IfRefused;
use super::rollback;
use super::sync_state::{Resize, SetState, SyncState};
use super::waiting::WaitingOn;

impl SyncState<'_> {
    /// Whether the replica count changed since an active set was last sized.
    pub(super) fn is_scaling_event(&self) -> bool {
        let is_outdated = |sized_for: i64| sized_for != self.desired();
        self.sets.iter().filter(|set| set.is_active()).filter_map(SetState::sized_for).any(is_outdated)
    }

    /// Whether scaling would do nothing: Recreate has no proportions to keep between several active sets.
    pub(super) fn cannot_be_scaled(&self) -> bool {
        let active = self.sets.iter().filter(|set| set.is_active()).count();
        active > 1
            && self.deployment.strategy == Strategy::Recreate
            && !self.new_set().is_some_and(|new| self.is_saturated(new))
    }

    /// Scales without rolling out: for paused Deployments and scaling events.
    pub(super) fn scale_only(&mut self) {
        let scaled = self.scale();
        let paused = self.deployment.paused;
        if paused && rollback::requested(self.deployment).is_none() {
            self.clean_up_history();
        }
        if paused {
            self.wait_on(WaitingOn::Resume);
        }
        if scaled {
            self.wait_on(WaitingOn::OwnWrites);
        }
        self.sync_status();
    }

    fn scale(&mut self) -> bool {
        let active: Vec<_> = (0..self.sets.len()).filter(|index| self.sets[*index].is_active()).collect();
        if active.len() <= 1 {
            let youngest_old = self.old_indices().last().copied();
            let target = active.first().copied().or(self.new).or(youngest_old);
            let desired = self.deployment.replicas;
            let is_repaired = self.repairs.size_annotation && self.is_scaling_event();
            let how = if is_repaired { Resize::Forced } else { Resize::WhenNeeded };
            return target.is_some_and(|index| self.resize(index, desired, how, IfRefused::Fail));
        }
        if self.new_set().is_some_and(|new| self.is_saturated(new)) {
            let mut scaled = false;
            for index in self.old_indices() {
                scaled |= self.resize(index, Replicas::ZERO, Resize::WhenNeeded, IfRefused::Fail);
            }
            return scaled;
        }
        if matches!(self.deployment.strategy, Strategy::RollingUpdate(_)) {
            return self.scale_in_proportion(active);
        }
        self.wait_on(WaitingOn::ScalingRecreate { active: active.len() });
        false
    }

    /// Whether the new set has its full size, was sized for it, and all its pods are available.
    fn is_saturated(&self, new: &SetState<'_>) -> bool {
        let desired = self.desired();
        new.replicas.get() == desired && new.sized_for() == Some(desired) && new.available() == desired
    }

    /// Distributes the difference over the active sets by their size, so that a partly done rollout keeps its
    /// proportions.
    ///
    /// With 8 old and 5 new pods of at most 13, growing to at most 23 gives the old set `round(8·23/13) − 8 = 6` more
    /// and the new one the remaining 4. The rounding remainder is added to the first in order: the largest set, and of
    /// equal ones the youngest when growing, the oldest when shrinking.
    fn scale_in_proportion(&mut self, mut active: Vec<usize>) -> bool {
        let allowed = if self.desired() == 0 { 0 } else { self.limits.ceiling() };
        let current: i64 = active.iter().map(|index| self.sets[*index].replicas.get()).sum();
        let delta = allowed - current;
        // `sets` is sorted by age, so a smaller index is an older set.
        if delta > 0 {
            active.sort_by_key(|index| (Reverse(self.sets[*index].replicas), Reverse(*index)));
        } else if delta < 0 {
            active.sort_by_key(|index| (Reverse(self.sets[*index].replicas), *index));
        }
        let sizes = self.shares(&active, delta);
        let mut scaled = false;
        for (index, size) in active.into_iter().zip(sizes) {
            scaled |= self.resize(index, Replicas::nearest(size), Resize::Forced, IfRefused::Fail);
        }
        scaled
    }

    /// The sizes of the sets, in order, after distributing `delta`.
    fn shares(&self, order: &[usize], delta: i64) -> Vec<i64> {
        let mut added = 0;
        let mut sizes: Vec<_> = order
            .iter()
            .map(|index| {
                let set = &self.sets[*index];
                let left = delta - added;
                let share = match left {
                    0 => 0,
                    _ if delta > 0 => self.fraction(set).min(left),
                    _ => self.fraction(set).max(left),
                };
                added += share;
                set.replicas.get() + share
            })
            .collect();
        if let Some(first) = sizes.first_mut() {
            *first = (*first + delta - added).max(0);
        }
        sizes
    }

    /// The change of a set's size that keeps the proportions exactly.
    ///
    /// The proportion is relative to what the set itself was last sized for. An interrupted pass is thus completed by
    /// the next: sets that already have their share get none.
    fn fraction(&self, set: &SetState<'_>) -> i64 {
        let size = set.replicas.get();
        if self.desired() == 0 {
            return -size;
        }
        let before = set.sized_for_max().filter(|max| *max != 0).unwrap_or(self.status.replicas.get());
        if before == 0 {
            return 0;
        }
        rounded_quotient(i128::from(size) * i128::from(self.limits.ceiling()), before.into()) - size
    }
}

/// `dividend / divisor` rounded to the nearest integer, halves away from zero; the divisor is positive.
///
/// Quotients beyond any field's range are clamped, so that their sums fit in 64 bits.
fn rounded_quotient(dividend: i128, divisor: i128) -> i64 {
    const BEYOND_ANY_SIZE: i128 = 1 << 40;
    let magnitude = ((2 * dividend.abs() + divisor) / (2 * divisor)).min(BEYOND_ANY_SIZE);
    let rounded = if dividend < 0 { -magnitude } else { magnitude };
    i64::try_from(rounded).unwrap_or(0)
}
