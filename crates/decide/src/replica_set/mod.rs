//! ReplicaSets: keep a number of identical pods running.
//!
//! A sync, as a shell carries it out; each step is a function of this folder, and none of them blocks or does I/O:
//!
//! 1. [`ControllerState::begin_sync`]: have the caches seen our own writes, does the set exist, may it act?
//! 2. [`classify_pods`]: which pods of the namespace concern it? The shell adopts and releases ([`patch`],
//!    [`may_adopt`]) and passes the responses to [`ClassifiedPods::claimed`].
//! 3. [`Observed::among`] and [`decide`]: which pods to create or to delete. The shell
//!    [sets the expectations](Action::set_expectations), sends the requests ([`PendingCreations`],
//!    [`PendingDeletions`]) and collects the results ([`ManageResult`]).
//! 4. [`report`]: the status to write, whether the sync has failed, and when to requeue.
//!
//! The changes that enqueue a set are in [`triggers`]. Every failed sync is retried, with backoff and without a limit.
//!
//! [`patch`]: gantry_model::patch
//! [`may_adopt`]: crate::ownership::may_adopt

mod availability;
mod claim;
mod controller_state;
mod draft;
mod expectations;
mod manage;
mod manage_result;
mod slow_start;
mod status;
pub mod triggers;
mod victims;
mod waiting_on;

pub use availability::is_available;
pub use claim::{ClaimFailed, ClassifiedPods, classify_pods};
pub use controller_state::{ControllerState, SyncStart};
pub use draft::{NoLabels, pod_draft};
pub use expectations::{EXPECTATIONS_TIMEOUT, ExpectationState, Expectations, MetExpectation};
pub use manage::{Action, BURST};
pub use manage_result::{
    ManageError, ManageResult, PendingCreations, PendingDeletions, creation_event, deletion_event,
};
pub use slow_start::SlowStart;
pub use status::{AfterFailedWrite, STATUS_WRITE_ATTEMPTS, StatusWrite, after_failed_write};
pub use victims::{is_choice_needed, related_pods};
pub use waiting_on::WaitingOn;

use std::time::Duration;

use gantry_model::{Pod, ReplicaSet, Timestamp};

use crate::Wake;

/// The default number of workers.
pub const WORKERS: usize = 5;
/// The `source.component` of events about ReplicaSets.
pub const EVENT_SOURCE: &str = "replicaset-controller";
/// The `source.component` of events about ReplicationControllers.
pub const REPLICATION_EVENT_SOURCE: &str = "replication-controller";

/// The input of a decision about one ReplicaSet.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed<'a> {
    /// The ReplicaSet.
    pub set: &'a ReplicaSet,
    /// Whether the set may act on what it observes, read before the pods were listed.
    pub expectation_state: ExpectationState,
    /// Its own active pods, those just adopted included.
    pub active: Vec<&'a Pod>,
    /// Its own terminating pods.
    pub terminating: Vec<&'a Pod>,
    /// The [`related_pods`], if a [choice is needed](is_choice_needed); see [`among`](Observed::among).
    pub related: Vec<&'a Pod>,
}

/// The decision about one ReplicaSet.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action on its pods.
    pub action: Action,
    /// The reason why the set waits afterwards.
    pub waiting_on: WaitingOn,
}

/// The end of a sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncReport {
    /// If the write finally fails, the sync fails with its error.
    pub status: StatusWrite,
    /// Whether the sync has failed.
    pub result: Result<(), ManageError>,
    /// The reason why the set waits.
    pub waiting_on: WaitingOn,
    /// When the status may change without any event, because time has passed.
    pub next_available_at: Option<Timestamp>,
}

/// Decides which pods to create or to delete.
///
/// A set that is being deleted, or whose expectations are unmet, leaves its pods alone.
pub fn decide(now: Timestamp, observed: &Observed<'_>) -> Decision {
    let may_act =
        observed.expectation_state == ExpectationState::Satisfied && !observed.set.meta.is_deleting();
    let action = if may_act { manage::manage(now, observed) } else { Action::Nothing };
    let waiting_on = WaitingOn::after(now, observed, &action);
    Decision { action, waiting_on }
}

/// Whether the set has to be read live before this is carried out.
///
/// Pods that were reported and disappeared may have been collected because the set itself is being deleted, and the
/// controller may see that later than the deletion of its pods. It would then create pods that nothing owns.
pub fn must_be_confirmed(observed: &Observed<'_>, decision: &Decision) -> bool {
    let reported = usize::try_from(observed.set.status.replicas.get()).unwrap_or(0);
    matches!(decision.action, Action::Create { .. }) && observed.active.len() < reported
}

/// The report on the pods as they were before this sync, and on the result of managing them.
pub fn report(
    now: Timestamp,
    observed: &Observed<'_>,
    decision: &Decision,
    manage_result: &ManageResult,
) -> SyncReport {
    let status = status::calculate(now, observed, &manage_result.result);
    let next_available_at =
        availability::next_available_at(now, observed.set, &status, observed.active.iter().copied());
    let waiting_on = match &manage_result.result {
        Ok(()) => decision.waiting_on.clone(),
        Err(error) => WaitingOn::refused(error),
    };
    SyncReport {
        status: status::to_write(observed, status),
        result: manage_result.result.clone(),
        waiting_on,
        next_available_at,
    }
}

impl<'a> Observed<'a> {
    /// The same, with the related pods of the namespace.
    ///
    /// They are collected only if pods have to be chosen between, because that scans the whole namespace.
    #[must_use]
    pub fn among(
        mut self,
        sets: impl IntoIterator<Item = &'a ReplicaSet>,
        pods: impl IntoIterator<Item = &'a Pod>,
    ) -> Self {
        if is_choice_needed(self.set, self.active.len()) {
            self.related = related_pods(self.set, sets, pods);
        }
        self
    }
}

impl SyncReport {
    /// When to requeue, given the time after the status was written.
    pub fn wake(&self, current: Timestamp) -> Wake {
        if self.result.is_err() {
            return Wake::Soon;
        }
        let until_available = self.next_available_at.map(|time| time.since(current));
        // No event follows a pod that was created and deleted between two lists of the pod cache.
        let is_expecting = matches!(self.waiting_on, WaitingOn::Expectations { .. });
        let until_expired = is_expecting.then_some(EXPECTATIONS_TIMEOUT + Duration::from_secs(1));
        until_available.into_iter().chain(until_expired).min().map_or(Wake::OnChange, Wake::After)
    }
}
