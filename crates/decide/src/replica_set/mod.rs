//! ReplicaSets: keep so many pods alike, no more and no fewer.
//!
//! A sync, as a shell carries it out; each step is a function of this folder, and none of them waits or fails by
//! itself:
//!
//! 1. [`Memory::begin`]: have the caches seen our own writes, is the set there, may it act?
//! 2. [`consider`]: which pods of the namespace are its business? The shell adopts and releases ([`patch`],
//!    [`may_adopt`]) and tells the answers to [`Considered::claimed`].
//! 3. [`Observed::among`] and [`decide`]: which pods to create or to delete. The shell [announces](Action::announce) it, does it
//!    ([`Creating`], [`Deleting`]) and tells what came of it ([`Managed`]).
//! 4. [`report`]: what to write into the status, whether the sync has failed, and when to look again.
//!
//! What wakes a set is in [`triggers`]. Every failed sync is tried again, with a growing delay and without end.
//!
//! [`patch`]: gantry_model::patch
//! [`may_adopt`]: crate::ownership::may_adopt

mod availability;
mod claim;
mod draft;
mod expectations;
mod manage;
mod memory;
mod outcome;
mod slow_start;
mod status;
pub mod triggers;
mod victims;
mod waiting_on;

pub use availability::is_available;
pub use claim::{ClaimFailed, Considered, consider};
pub use draft::{NoLabels, pod_draft};
pub use expectations::{EXPECTATIONS_TIMEOUT, Expectations, Settled, Standing};
pub use manage::{Action, BURST};
pub use memory::{Begun, Memory};
pub use outcome::{Creating, Deleting, ManageError, Managed, creation_event, deletion_event};
pub use slow_start::SlowStart;
pub use status::{AfterFailedWrite, STATUS_WRITE_ATTEMPTS, StatusWrite, after_failed_write};
pub use victims::{is_choice_needed, related_pods};
pub use waiting_on::WaitingOn;

use gantry_model::{Pod, ReplicaSet, Timestamp};

use crate::Wake;

/// How many sets are looked at side by side.
pub const WORKERS: usize = 5;
/// Who the events about ReplicaSets are from.
pub const EVENT_SOURCE: &str = "replicaset-controller";
/// Who the events about ReplicationControllers are from.
pub const REPLICATION_EVENT_SOURCE: &str = "replication-controller";

/// What one look at a ReplicaSet finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed<'a> {
    /// The set.
    pub set: &'a ReplicaSet,
    /// Whether the set may act on what it sees, asked before the pods were listed.
    pub standing: Standing,
    /// Its own pods that count, those just adopted included.
    pub active: Vec<&'a Pod>,
    /// Its own pods on their way out.
    pub terminating: Vec<&'a Pod>,
    /// The [`related_pods`], if a [choice is needed](is_choice_needed); see [`among`](Observed::among).
    pub related: Vec<&'a Pod>,
}

/// What to do about the pods, and why it goes no further.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// What the set waits for once that has been done.
    pub waiting_on: WaitingOn,
}

/// What a sync ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What to write. If the write fails for good, the sync fails with its error and the rest is void.
    pub status: StatusWrite,
    /// Whether the sync has failed.
    pub result: Result<(), ManageError>,
    /// What the set waits for.
    pub waiting_on: WaitingOn,
    /// When the passing of time alone may change the report.
    pub next_look: Option<Timestamp>,
}

/// Decides which pods to create or to delete.
///
/// A set that is being deleted, or whose own writes have not been seen yet, leaves its pods alone.
pub fn decide(now: Timestamp, observed: &Observed<'_>) -> Decision {
    let may_act = observed.standing == Standing::Satisfied && !observed.set.meta.is_deleting();
    let action = if may_act { manage::manage(now, observed) } else { Action::Nothing };
    let waiting_on = WaitingOn::after(now, observed, &action);
    Decision { action, waiting_on }
}

/// Whether the set has to be read past the cache before this is carried out.
///
/// Pods that were reported and are gone may have been collected because the set itself is going, and of that the controller may hear
/// later than of its pods. Whatever it made in their place would be a pod too many.
pub fn must_be_confirmed(observed: &Observed<'_>, decision: &Decision) -> bool {
    let reported = usize::try_from(observed.set.status.replicas.get()).unwrap_or(0);
    matches!(decision.action, Action::Create { .. }) && observed.active.len() < reported
}

/// Reports on the pods as they were before this sync, and on what came of managing them.
pub fn report(now: Timestamp, observed: &Observed<'_>, decision: &Decision, managed: &Managed) -> Report {
    let status = status::calculate(now, observed, &managed.result);
    let next_look = availability::next_look(now, observed.set, &status, observed.active.iter().copied());
    let waiting_on = match &managed.result {
        Ok(()) => decision.waiting_on.clone(),
        Err(error) => WaitingOn::refused(error),
    };
    Report {
        status: status::to_write(observed, status),
        result: managed.result.clone(),
        waiting_on,
        next_look,
    }
}

impl<'a> Observed<'a> {
    /// The same, seen among the sets and the pods of its namespace.
    ///
    /// They are looked at only if pods have to be chosen between, for that takes a walk through the whole namespace.
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

impl Report {
    /// When to look again, by the clock as it is once the status has been written.
    pub fn wake(&self, current: Timestamp) -> Wake {
        match (&self.result, self.next_look) {
            (Err(_), _) => Wake::Soon,
            (Ok(()), Some(moment)) => Wake::After(moment.since(current)),
            (Ok(()), None) => Wake::OnChange,
        }
    }
}
