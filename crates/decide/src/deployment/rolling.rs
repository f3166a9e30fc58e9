//! RollingUpdate: new pods come and old ones go, within the surge limit above and the availability floor below.
//!
//! One sync grows the new ReplicaSet *or* shrinks old ones, never both: each step waits for what the last one did to
//! the ReplicaSets' statuses.

use gantry_model::Replicas;

use super::conditions::is_complete;
use super::decision::{IfRefused, Setback, SyncError};
use super::in_hand::{InHand, Resize, SetInHand};
use super::limits::new_set_size;
use super::waiting::WaitingOn;

impl InHand<'_> {
    /// One step of a rolling update.
    pub(super) fn roll_out_rolling(&mut self, setback: Option<&Setback>) -> Result<(), SyncError> {
        let was_complete = is_complete(self.deployment, &self.status);
        self.create_new_set_if_absent(setback)?;
        // A refused shrink ends the sizing: the new set had its turn before, and what did shrink is for the next sync.
        let scaled =
            setback != Some(&Setback::ShrinkFailed) && (self.grow_or_trim_new()? || self.shrink_old());
        if scaled {
            self.wait_on(WaitingOn::OwnWrites);
        } else {
            if was_complete {
                self.clean_up_history();
            }
            self.wait_on_new_pods();
        }
        self.sync_rollout_status();
        Ok(())
    }

    /// Brings the new set nearer to the wanted size, as far as the surge allows.
    fn grow_or_trim_new(&mut self) -> Result<bool, SyncError> {
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

    /// Makes old sets smaller where that leaves enough pods available, and says whether any was.
    fn shrink_old(&mut self) -> bool {
        if self.old_sets().all(|set| !set.is_active()) {
            return false;
        }
        let minimum = self.limits.floor();
        let new_unavailable = self.new_set().map_or(0, |new| new.replicas.get() - new.available());
        let most = self.total_size() - minimum - new_unavailable;
        if most <= 0 {
            let available = self.lasting_available();
            self.wait_on(WaitingOn::AvailabilityFloor { available, minimum, new_unavailable });
            return false;
        }
        let Some(unhealthy) = self.clean_up_unhealthy(most) else { return false };
        unhealthy + self.scale_down_healthy(minimum) > 0
    }

    /// Takes up to `most` pods that are not available from old sets, oldest set first. Returns how many, or `None`
    /// if a status lags behind so that nothing can be said.
    ///
    /// Pods that serve nobody can go without waiting for new ones: a broken rollout that is followed by another must
    /// not hold on to its broken pods.
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
            self.shrink(index, fewer);
            down += fewer;
        }
        Some(down)
    }

    /// Takes pods from old sets, oldest set first, as long as more than the minimum are available. Returns how many.
    fn scale_down_healthy(&mut self, minimum: i64) -> i64 {
        let budget = self.lasting_available() - minimum;
        let mut down = 0;
        for index in self.old_indices() {
            if down >= budget {
                break;
            }
            let fewer = self.sets[index].replicas.get().min(budget - down);
            if fewer > 0 {
                self.shrink(index, fewer);
                down += fewer;
            }
        }
        down
    }

    /// Pods available in the new set and in old sets that should have any.
    ///
    /// What an emptied set still reports is on its way out; to count on it would let others go too early.
    fn lasting_available(&self) -> i64 {
        let old: i64 = self.old_sets().filter(|set| set.is_active()).map(SetInHand::available).sum();
        old + self.new_set().map_or(0, SetInHand::available)
    }

    fn shrink(&mut self, index: usize, fewer: i64) {
        let size = Replicas::nearest(self.sets[index].replicas.get() - fewer);
        self.resize(index, size, Resize::WhenNeeded, IfRefused::DecideOnShrink);
    }

    /// Says which new pods are missing, once there is nothing more to size.
    pub(super) fn wait_on_new_pods(&mut self) {
        let Some(new) = self.new_set() else { return };
        let available = Replicas::nearest(new.available());
        if available < new.replicas {
            let reason = WaitingOn::NewPods { set: new.name.clone(), wanted: new.replicas, available };
            self.wait_on(reason);
        }
    }
}
