//! The status: sums over the ReplicaSets, and whether enough is available.

use gantry_model::{DeploymentStatus, ReplicaSet, Replicas};

use super::conditions::{self, Condition};
use super::decision::IfRefused;
use super::sync_state::SyncState;
use super::waiting::WaitingOn;

impl SyncState<'_> {
    /// Updates the counters but not the progress: for Deployments that are deleted, paused or scaled.
    pub(super) fn sync_status(&mut self) {
        if self.deployment.meta.is_deleting() {
            self.wait_on(WaitingOn::Deletion);
        }
        let status = self.computed_status();
        self.write_status_if_changed(status);
    }

    /// Writes a status unless it is unchanged, and returns whether it was written.
    pub(super) fn write_status_if_changed(&mut self, status: DeploymentStatus) -> bool {
        let changed = status != self.status;
        if changed {
            self.write_status(status, None, IfRefused::Fail);
        }
        changed
    }

    /// The sums over the ReplicaSets, with conditions carried over and `Available` set.
    pub(super) fn computed_status(&self) -> DeploymentStatus {
        let sum = |field: fn(&ReplicaSet) -> Replicas| -> i64 {
            self.observed_sets().map(|set| field(set).get()).sum()
        };
        let available = self.total_available();
        let updated = self.new_set().and_then(|set| set.observed.as_ref()).map(|set| set.status.replicas);
        let mut status = DeploymentStatus {
            observed_generation: self.deployment.meta.generation,
            replicas: Replicas::nearest(sum(|set| set.status.replicas)),
            updated: updated.unwrap_or_default(),
            ready: Replicas::nearest(sum(|set| set.status.ready)),
            available: Replicas::nearest(available),
            // Relative to `spec.replicas`, not to existing pods: a pod that does not exist yet is unavailable too.
            unavailable: Replicas::nearest(self.total_size() - available),
            terminating: self.terminating(),
            collision_count: self.status.collision_count,
            conditions: self.status.conditions.clone(),
        };
        let enough = available >= self.limits.floor();
        conditions::set(&mut status, Condition::minimum_available(enough), self.now);
        status
    }

    /// Terminating pods. A set without a status has none; a status without the field makes the sum unknown.
    fn terminating(&self) -> Option<Replicas> {
        let mut total = 0;
        for set in self.observed_sets() {
            match set.status.terminating {
                Some(terminating) => total += terminating.get(),
                None if set.status.observed_generation > 0 => return None,
                None => {}
            }
        }
        Some(Replicas::nearest(total))
    }

    fn observed_sets(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.sets.iter().filter_map(|set| set.observed.as_deref())
    }
}
