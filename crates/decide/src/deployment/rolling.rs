//! RollingUpdate: scales the new ReplicaSet up and old ones down, within the surge limit and the availability floor.
//!
//! One sync scales the new ReplicaSet *or* old ones, never both: the next step needs the ReplicaSets' updated
//! statuses.

use std::time::Duration;

use gantry_model::{ReplicaSet, Replicas};

use super::conditions::is_complete;
use super::decision::{IfRefused, RefusedStep, SyncError};
use super::limits::new_set_size;
use super::sync_state::{Resize, SetState, SyncState};
use super::waiting::WaitingOn;
use crate::Wake;

/// When a refused scale-down is tried again.
const SCALE_DOWN_RETRY: Duration = Duration::from_secs(1);

impl SyncState<'_> {
    /// One step of a rolling update.
    pub(super) fn roll_out_rolling(&mut self, refused: Option<&RefusedStep>) -> Result<(), SyncError> {
        let was_complete = is_complete(self.deployment, &self.status);
        self.create_new_set_if_absent(refused)?;
        // A refused scale-down ends this sync: the new set was handled before it, and the next sync sees what did
        // scale down.
        let scaled = refused != Some(&RefusedStep::ScaleDownFailed)
            && !self.waits_for_shrinking_new_set()
            && (self.reconcile_new_set()? || self.reconcile_old_sets());
        if scaled {
            self.wait_on(WaitingOn::OwnWrites);
        } else {
            if was_complete {
                self.clean_up_history();
            }
            self.wait_on_new_pods();
        }
        self.sync_rollout_status();
        if refused == Some(&RefusedStep::ScaleDownFailed) {
            // The sync has not failed, so nothing else would trigger the next one.
            self.wake = Wake::After(SCALE_DOWN_RETRY);
        }
        Ok(())
    }

    /// Whether the new set reports pods beyond its size, which are about to be deleted: it was an old set before.
    ///
    /// They would count as available, and pods of other sets would be removed too early. A set that fails to remove
    /// its pods is not waited for.
    fn waits_for_shrinking_new_set(&mut self) -> bool {
        let is_shrinking =
            |set: &ReplicaSet| set.status.replicas > set.replicas && set.status.replica_failure().is_none();
        let shrinking = self.new_set().filter(|new| new.observed.as_deref().is_some_and(is_shrinking));
        let Some(set) = shrinking.map(|new| new.name.clone()) else { return false };
        self.wait_on(WaitingOn::LaggingStatus { set });
        true
    }

    /// Scales the new set towards its size, within the surge limit.
    fn reconcile_new_set(&mut self) -> Result<bool, SyncError> {
        let Some(new) = self.new else { return Ok(false) };
        let current = self.sets[new].replicas;
        let desired = self.deployment.replicas;
        let size = if current >= desired {
            desired
        } else {
            let total = self.total_size();
            let size =
                new_set_size(self.deployment, current.get(), total).map_err(SyncError::InvalidLimit)?;
            if size == current {
                self.wait_on(WaitingOn::SurgeLimit { total, limit: self.limits.ceiling() });
            }
            size
        };
        Ok(self.resize(new, size, Resize::WhenNeeded, IfRefused::Fail))
    }

    /// Scales old sets down as far as the availability floor allows. Returns whether any was scaled.
    fn reconcile_old_sets(&mut self) -> bool {
        if self.old_sets().all(|set| !set.is_active()) {
            return false;
        }
        let minimum = self.limits.floor();
        let new_unavailable = self.new_set().map_or(0, |new| new.replicas.get() - trusted_available(new));
        let most = self.total_size() - minimum - new_unavailable;
        if most <= 0 {
            let available = self.available_of_active_sets();
            self.wait_on(WaitingOn::AvailabilityFloor { available, minimum, new_unavailable });
            return false;
        }
        let Some(unhealthy) = self.clean_up_unhealthy(most) else { return false };
        unhealthy + self.scale_down_healthy(minimum) > 0
    }

    /// Removes up to `most` unavailable pods from old sets, oldest set first. Returns how many, or `None` if a status
    /// is stale.
    ///
    /// Unavailable pods can be removed without waiting for new ones: the broken pods of a failed rollout must not block
    /// the next one.
    fn clean_up_unhealthy(&mut self, most: i64) -> Option<i64> {
        let mut down = 0;
        for index in self.old_indices() {
            let set = &self.sets[index];
            let (size, available) = (set.replicas.get(), set.available());
            if down >= most {
                break;
            }
            if size == 0 || size == available {
                continue;
            }
            if available > size {
                let set = set.name.clone();
                self.wait_on(WaitingOn::LaggingStatus { set });
                return None;
            }
            let fewer = (most - down).min(size - available);
            self.scale_down(index, fewer);
            down += fewer;
        }
        Some(down)
    }

    /// Removes pods from old sets, oldest set first, while more than the minimum are available. Returns how many.
    fn scale_down_healthy(&mut self, minimum: i64) -> i64 {
        let budget = self.available_of_active_sets() - minimum;
        let mut down = 0;
        for index in self.old_indices() {
            if down >= budget {
                break;
            }
            let fewer = self.sets[index].replicas.get().min(budget - down);
            if fewer > 0 {
                self.scale_down(index, fewer);
                down += fewer;
            }
        }
        down
    }

    /// Available pods of the new set and of old sets that should have any.
    ///
    /// Pods that a set of size zero still reports are terminating and must not count.
    fn available_of_active_sets(&self) -> i64 {
        let old: i64 = self.old_sets().filter(|set| set.is_active()).map(SetState::available).sum();
        old + self.new_set().map_or(0, trusted_available)
    }

    fn scale_down(&mut self, index: usize, fewer: i64) {
        let size = Replicas::nearest(self.sets[index].replicas.get() - fewer);
        self.resize(index, size, Resize::WhenNeeded, IfRefused::DecideOnScaleDown);
    }

    /// Reports which new pods are missing, once there is nothing more to scale.
    pub(super) fn wait_on_new_pods(&mut self) {
        let Some(new) = self.new_set() else { return };
        let available = Replicas::nearest(new.available());
        if available < new.replicas {
            let reason = WaitingOn::NewPods { set: new.name.clone(), wanted: new.replicas, available };
            self.wait_on(reason);
        }
    }
}

/// The available pods of the new set. If a status reports all its pods, but not for its present spec, they may have
/// been removed: the set failed to remove them before it was scaled up again.
fn trusted_available(new: &SetState<'_>) -> i64 {
    let is_doubtful = |set: &ReplicaSet| !set.has_observed_spec() && set.status.replicas >= set.replicas;
    if new.observed.as_deref().is_some_and(is_doubtful) { 0 } else { new.available() }
}
