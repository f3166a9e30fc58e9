//! Recreate: all old pods go, really go, before the first new one comes.

use gantry_model::{Pod, Replicas};

use super::conditions::is_complete;
use super::decision::{IfRefused, Setback, SyncError};
use super::in_hand::{InHand, Resize};
use super::waiting::WaitingOn;

impl InHand<'_> {
    /// One step of a rollout by recreation.
    pub(super) fn roll_out_recreate(
        &mut self,
        pods: &[&Pod],
        setback: Option<&Setback>,
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
        self.create_new_set_if_absent(setback)?;
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

    /// How many old pods there still are, by what the sets report and by what can be seen, whichever is more.
    ///
    /// A terminating pod is still there: two versions must never run side by side.
    fn old_pods(&self, pods: &[&Pod]) -> i64 {
        let observed = || self.old_sets().filter_map(|set| set.observed.as_ref());
        let reported: i64 = observed().map(|set| set.status.replicas.get()).sum();
        let is_old = |pod: &Pod| observed().any(|set| pod.meta.is_controlled_by(&set.meta.uid));
        let seen = pods.iter().filter(|pod| !pod.phase.is_finished() && is_old(pod)).count();
        reported.max(i64::try_from(seen).unwrap_or(i64::MAX))
    }
}
