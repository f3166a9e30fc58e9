//! Progress: whether a rollout progresses, is complete, or has exceeded its deadline.
//!
//! Missing the deadline changes nothing but the condition: the rollout keeps trying.

use std::time::Duration;

use gantry_model::{
    Deployment, DeploymentCondition, DeploymentConditionType, DeploymentStatus, Name, ReplicaSetCondition,
    Timestamp,
};

use super::conditions::{self, Condition, DEADLINE_EXCEEDED, NEW_SET_AVAILABLE, is_complete, is_progressing};
use super::decision::Deadline;
use super::sync_state::SyncState;
use super::waiting::WaitingOn;
use crate::Wake;

impl SyncState<'_> {
    /// Updates the status of a rollout: counters, progress, and failures of its ReplicaSets.
    pub(super) fn sync_rollout_status(&mut self) {
        let mut status = self.computed_status();
        self.estimate_progress(&mut status);
        let failure = self.replica_failure();
        conditions::copy_failure(&mut status, failure.map(|(_, failure)| failure));
        if let Some((set, failure)) = failure {
            let reason = WaitingOn::ReplicaFailure {
                set: set.clone(),
                reason: failure.reason.clone(),
                message: failure.message.clone(),
            };
            self.wait_on(reason);
        }
        if !self.write_status_if_changed(status) {
            self.wake = progress_check(self.now, self.deployment, &self.status);
        }
    }

    fn estimate_progress(&self, status: &mut DeploymentStatus) {
        if self.deployment.progress_deadline_seconds.is_none() {
            conditions::remove(status, &DeploymentConditionType::Progressing);
            return;
        }
        let current = self.status.progressing();
        let is_about_another =
            self.repairs.undo_deadline && current.is_some_and(|done| self.names_another(done));
        let was_done = current.is_some_and(|condition| condition.reason == NEW_SET_AVAILABLE);
        if was_done && !is_about_another && status.replicas == status.updated {
            // A pod that fails after the rollout is replaced by the ReplicaSet and starts no deadline.
            return;
        }
        let new = self.new_set();
        if is_complete(self.deployment, status) && is_about_another {
            conditions::replace(status, Condition::available_new_set(self.deployment, new), self.now);
        } else if is_complete(self.deployment, status) {
            conditions::set(status, Condition::available_new_set(self.deployment, new), self.now);
        } else if is_progressing(&self.status, status) {
            conditions::replace(status, Condition::updated(self.deployment, new), self.now);
        } else if let (true, Some(new)) = (is_about_another, new) {
            conditions::replace(status, Condition::found_new_set(&new.name), self.now);
        } else if current.is_some_and(|condition| self.has_timed_out(condition)) {
            conditions::set(status, Condition::deadline_exceeded(self.deployment, new), self.now);
        } else {
            self.redate_progress(status);
        }
    }

    /// Whether the condition reports that the rollout of another set is complete: that of an earlier revision.
    fn names_another(&self, progressing: &DeploymentCondition) -> bool {
        let of_new = self.new_set().map(|new| Condition::available_new_set(self.deployment, Some(new)));
        progressing.reason == NEW_SET_AVAILABLE
            && of_new.is_some_and(|own| own.message != progressing.message)
    }

    /// Resets a progress time in the future, which means that the clock was set back.
    ///
    /// The deadline would otherwise be missed by as much as the clock was set back.
    fn redate_progress(&self, status: &mut DeploymentStatus) {
        let is_progress = |condition: &&mut DeploymentCondition| {
            condition.condition_type == DeploymentConditionType::Progressing
                && condition.reason != NEW_SET_AVAILABLE
        };
        if let Some(condition) = status.conditions.iter_mut().find(is_progress)
            && condition.last_update > Some(self.now)
        {
            condition.last_update = Some(self.now);
        }
    }

    fn has_timed_out(&self, condition: &DeploymentCondition) -> bool {
        match condition.reason.as_str() {
            NEW_SET_AVAILABLE => false,
            DEADLINE_EXCEEDED => true,
            _ => fires_at(self.deployment, condition).is_some_and(|deadline| deadline < self.now),
        }
    }

    /// The failure to report: the new set's, else that of the oldest set that has one.
    fn replica_failure(&self) -> Option<(&Name, &ReplicaSetCondition)> {
        let mut sets = self.new_set().into_iter().chain(self.old_sets());
        sets.find_map(|set| Some((&set.name, set.observed.as_ref()?.status.replica_failure()?)))
    }
}

/// The state of the progress deadline according to a status.
pub(super) fn deadline(deployment: &Deployment, status: &DeploymentStatus) -> Deadline {
    let Some(condition) = status.progressing() else { return Deadline::None };
    match condition.reason.as_str() {
        DEADLINE_EXCEEDED => Deadline::Exceeded,
        _ if !is_awaited(deployment, status, condition) => Deadline::None,
        _ => fires_at(deployment, condition).map_or(Deadline::None, Deadline::At),
    }
}

/// When to check the deadline.
///
/// A second late, because the wire format truncates times to whole seconds and the comparison is strict: a check at
/// the exact time would be too early, and nothing else would trigger another one. A deadline that is further away than
/// the configured one means that the clock was set back; it may be corrected meanwhile, so the check is made after the
/// configured time.
fn progress_check(now: Timestamp, deployment: &Deployment, status: &DeploymentStatus) -> Wake {
    match deadline(deployment, status) {
        Deadline::None | Deadline::Exceeded => Wake::OnChange,
        Deadline::At(deadline) => match deadline.since(now) {
            after if after < Duration::from_secs(1) => Wake::Soon,
            after => Wake::After(after.min(progress_deadline(deployment)) + Duration::from_secs(1)),
        },
    }
}

/// Whether a missed deadline would be reported.
///
/// It would not after the rollout completed: a requeue for a later dip in availability would change nothing.
fn is_awaited(deployment: &Deployment, status: &DeploymentStatus, progressing: &DeploymentCondition) -> bool {
    let done_before = progressing.reason == NEW_SET_AVAILABLE;
    !is_complete(deployment, status) && !done_before && !deployment.paused
}

fn fires_at(deployment: &Deployment, progressing: &DeploymentCondition) -> Option<Timestamp> {
    deployment.progress_deadline_seconds?;
    // A condition without a time is older than any deadline.
    let last_update = progressing.last_update.unwrap_or(Timestamp::from_nanos(i64::MIN));
    Some(last_update.plus(progress_deadline(deployment)))
}

fn progress_deadline(deployment: &Deployment) -> Duration {
    let seconds = deployment.progress_deadline_seconds.unwrap_or(0);
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}
