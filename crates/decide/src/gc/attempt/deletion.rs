//! Delete requests, and the handling of their refusal.

use std::fmt;

use gantry_model::{Identity, ObjectMetadata, OwnerReference, ResourceVersion, Uid};

use super::item::Subject;
use super::step::ReadPurpose;
use super::{
    AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep, DeleteResult, PendingDelete,
    PendingRead, ReadResult,
};

/// A request to delete one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRequest {
    /// The object.
    pub target: Identity,
    /// The propagation policy.
    pub propagation: Propagation,
    /// Precondition: the object has this uid.
    pub uid: Uid,
    /// Precondition: the object has not changed since it was read.
    pub version: Option<ResourceVersion>,
}

gantry_model::text_enum! {
    /// The propagation policy of a deletion.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Propagation {
        /// Their references are removed.
        Orphan = "Orphan",
        /// They are collected after it.
        Background = "Background",
        /// They are deleted before it.
        Foreground = "Foreground",
    }

    /// The value in `DeleteOptions`.
    pub fn as_str(self) -> &'static str;
}

/// The source of the propagation policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gc) enum PropagationSource {
    /// An owner is being deleted in the foreground, so this object is too (G4.6).
    AfterDependents,
    /// The finalizers on the object (G4.7).
    AsFinalizersRequest,
}

/// A deletion in progress.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct DeletionRun {
    subject: Subject,
    /// The object as it was read.
    live: ObjectMetadata,
    manner: PropagationSource,
    why: AttemptReason,
    tries: Tries,
}

/// A deletion whose preconditions failed, waiting for a live read.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct DeletionConflict(DeletionRun);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tries {
    /// The resource version is a precondition.
    First,
    /// Only the uid is a precondition.
    Last,
}

impl fmt::Display for Propagation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl DeletionRun {
    pub(super) fn new(
        subject: Subject,
        live: ObjectMetadata,
        manner: PropagationSource,
        why: AttemptReason,
    ) -> Self {
        Self { subject, live, manner, why, tries: Tries::First }
    }

    pub(super) fn begin(self) -> AttemptStep {
        let version = match self.tries {
            Tries::First => Some(self.live.resource_version.clone()),
            Tries::Last => None,
        };
        let deletion = DeleteRequest {
            target: self.subject.target.clone(),
            propagation: self.propagation(),
            uid: self.subject.uid().clone(),
            version,
        };
        AttemptStep::Delete(deletion, PendingDelete(Box::new(self)))
    }

    /// Requests the deletion of the object after its owners were unblocked.
    ///
    /// The precondition is its new version. If it has other owners now, the decision no longer applies.
    pub(super) fn begin_after_unblocking(mut self, unblocked: ObjectMetadata) -> AttemptStep {
        let named = |owners: &[OwnerReference]| -> Vec<Identity> {
            owners.iter().map(|owner| Identity::of_owner(owner, None)).collect()
        };
        if named(&unblocked.owners) != named(&self.live.owners) {
            return self.conflict();
        }
        self.live = unblocked;
        self.begin()
    }

    /// G4.8: the response to the delete request.
    pub(super) fn answered(self, response: DeleteResult) -> AttemptStep {
        match response {
            DeleteResult::Accepted => {
                let did = AttemptAction::Deleted(self.propagation());
                AttemptStep::Done(AttemptResult::Settled { did, why: self.why })
            }
            DeleteResult::NotFound => self.subject.absent(),
            DeleteResult::Conflict if self.tries == Tries::First => {
                let target = self.subject.target.clone();
                AttemptStep::Read(
                    target,
                    PendingRead(ReadPurpose::DeleteRequest(Box::new(DeletionConflict(self)))),
                )
            }
            DeleteResult::Conflict => self.conflict(),
            DeleteResult::Failed(refusal) => AttemptStep::Done(AttemptResult::Failed(
                AttemptError::DeleteFailed(self.subject.target, refusal),
            )),
        }
    }

    fn propagation(&self) -> Propagation {
        match self.manner {
            PropagationSource::AfterDependents => Propagation::Foreground,
            PropagationSource::AsFinalizersRequest => Propagation::requested_by_finalizers(&self.live),
        }
    }

    fn conflict(self) -> AttemptStep {
        AttemptStep::Done(AttemptResult::Failed(AttemptError::Conflict(self.subject.target)))
    }
}

impl DeletionConflict {
    /// G4.8: the object was read again.
    ///
    /// A change that left the owners alone, such as a status update, does not change the decision. The finalizers are
    /// read again: they may imply another propagation policy now.
    pub(super) fn found(self, response: ReadResult) -> AttemptStep {
        let Self(run) = self;
        match response {
            ReadResult::Found(live) if run.is_same_garbage(&live) => {
                DeletionRun { live, tries: Tries::Last, ..run }.begin()
            }
            ReadResult::Found(_) => run.conflict(),
            ReadResult::NotFound => run.subject.absent(),
            ReadResult::Failed(refusal) => AttemptStep::Done(AttemptResult::Failed(
                AttemptError::ReadFailed(run.subject.target, refusal),
            )),
        }
    }
}

impl DeletionRun {
    fn is_same_garbage(&self, now: &ObjectMetadata) -> bool {
        now.identity.uid == *self.subject.uid()
            && now.resource_version != self.live.resource_version
            && now.owners == self.live.owners
    }
}
