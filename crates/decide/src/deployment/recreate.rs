//! Recreate: all old pods terminate before the first new one is created.

use gantry_model::{Name, Pod, Replicas};

use super::conditions::is_complete;
use super::decision::{IfRefused, RefusedStep, SyncError};
use super::sync_state::{Resize, SetState, SyncState};
use super::waiting::WaitingOn;

impl SyncState<'_> {
    /// One step of a Recreate rollout.
    pub(super) fn roll_out_recreate(
        &mut self,
        pods: &[&Pod],
        refused: Option<&RefusedStep>,
    ) -> Result<(), SyncError> {
        let was_complete = is_complete(self.deployment, &self.status);
        if self.scale_down_all_old() {
            self.wait_on(WaitingOn::OwnWrites);
            self.sync_rollout_status();
            return Ok(());
        }
        let remaining = self.old_pods(pods);
        if remaining > 0 {
            self.wait_on(WaitingOn::OldPods { remaining });
            self.sync_rollout_status();
            return Ok(());
        }
        if let Some(set) = self.unobserved_old_set() {
            self.wait_on(WaitingOn::LaggingStatus { set });
            self.sync_rollout_status();
            return Ok(());
        }
        self.create_new_set_if_absent(refused)?;
        let desired = self.deployment.replicas;
        let scaled =
            self.new.is_some_and(|new| self.resize(new, desired, Resize::WhenNeeded, IfRefused::Fail));
        if scaled {
            self.wait_on(WaitingOn::OwnWrites);
        } else {
            self.wait_on_new_pods();
        }
        if was_complete {
            self.clean_up_history();
        }
        self.sync_rollout_status();
        Ok(())
    }

    fn scale_down_all_old(&mut self) -> bool {
        let mut scaled = false;
        for index in self.old_indices() {
            scaled |= self.resize(index, Replicas::ZERO, Resize::WhenNeeded, IfRefused::Fail);
        }
        scaled
    }

    /// An old set whose controller has not observed its size of zero: it may be about to create a pod.
    fn unobserved_old_set(&self) -> Option<Name> {
        let is_behind =
            |set: &&SetState<'_>| set.observed.as_ref().is_some_and(|set| !set.has_observed_spec());
        self.old_sets().find(is_behind).map(|set| set.name.clone())
    }

    /// The number of old pods: the larger of what the sets report and what the cache shows.
    ///
    /// Terminating pods count: two versions must never run side by side.
    fn old_pods(&self, pods: &[&Pod]) -> i64 {
        let observed = || self.old_sets().filter_map(|set| set.observed.as_ref());
        let reported: i64 = observed().map(|set| set.status.replicas.get()).sum();
        let is_old = |pod: &Pod| observed().any(|set| pod.meta.is_controlled_by(&set.meta.uid));
        let seen = pods.iter().filter(|pod| !pod.phase.is_finished() && is_old(pod)).count();
        reported.max(i64::try_from(seen).unwrap_or(i64::MAX))
    }
}
