//! Patches of an object's owner references, for kinds with strategic merge patch and for kinds without.
//!
//! A strategic merge patch names the change only and needs no version, so it never conflicts. Custom resources do not
//! support it; for them the list is read and replaced whole, with the version that was read as a precondition.

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, OwnerReference, Refusal, Uid};

use super::deletion::DeletionRun;
use super::step::{PatchPurpose, ReadPurpose, unsupported_form};
use super::{AttemptError, AttemptResult, AttemptStep, PatchResult, PendingPatch, PendingRead, ReadResult};

/// A change of the owner references of one object, in progress.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct Relink {
    object: Identity,
    change: RelinkChange,
    on_gone: OnGone,
    then: Then,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) enum RelinkChange {
    /// Remove the references to these owners.
    Release(Vec<Uid>),
    /// Set `blockOwnerDeletion` of these references to false.
    Unblock(Vec<OwnerReference>),
}

/// The result if the object does not exist any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gc) enum OnGone {
    /// Nothing remains to be done.
    Finish,
    /// The item is retried, and is then found absent.
    Retry,
}

/// The continuation after the change.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) enum Then {
    /// The attempt ends.
    Finish(AttemptResult),
    Delete(Box<DeletionRun>),
}

impl Relink {
    pub(in crate::gc) fn new(object: Identity, change: RelinkChange, on_gone: OnGone, then: Then) -> Self {
        Self { object, change, on_gone, then }
    }

    /// Requests a strategic merge patch.
    pub(in crate::gc) fn begin(self) -> AttemptStep {
        let object = self.object.uid.clone();
        let patch = match &self.change {
            RelinkChange::Release(owners) => MetadataPatch::Release { object, owners: owners.clone() },
            RelinkChange::Unblock(references) => {
                MetadataPatch::Unblock { object, references: references.clone() }
            }
        };
        AttemptStep::Patch(self.object.clone(), patch, PendingPatch(PatchPurpose::Relink(Box::new(self))))
    }

    /// The kind does not support the strategic merge patch: reads the list.
    pub(super) fn read_list(self: Box<Self>) -> AttemptStep {
        AttemptStep::Read(self.object.clone(), PendingRead(ReadPurpose::Relink(self)))
    }

    /// Requests the replacement of the whole list.
    pub(super) fn replace_list(self: Box<Self>, response: ReadResult) -> AttemptStep {
        match response {
            ReadResult::Found(live) if live.identity.uid == self.object.uid => {
                let owners = self.change.applied_to(live.owners);
                let patch = MetadataPatch::SetOwners { version: live.resource_version, owners };
                AttemptStep::Patch(self.object.clone(), patch, PendingPatch(PatchPurpose::RelinkWhole(self)))
            }
            ReadResult::Found(_) | ReadResult::NotFound => self.gone(),
            ReadResult::Failed(refusal) => {
                AttemptStep::Done(AttemptResult::Failed(AttemptError::ReadFailed(self.object, refusal)))
            }
        }
    }

    /// The response to the patch.
    pub(super) fn patched(self: Box<Self>, response: PatchResult) -> AttemptStep {
        match response {
            PatchResult::Patched(live) => self.then.go_on(live),
            PatchResult::NotFound => self.gone(),
            PatchResult::Conflict => {
                AttemptStep::Done(AttemptResult::Failed(AttemptError::Conflict(self.object)))
            }
            PatchResult::UnsupportedForm => self.failed(unsupported_form()),
            PatchResult::Failed(refusal) => self.failed(refusal),
        }
    }

    fn gone(self: Box<Self>) -> AttemptStep {
        match (self.on_gone, self.then) {
            (OnGone::Finish, Then::Finish(outcome)) => AttemptStep::Done(outcome),
            _ => AttemptStep::Done(AttemptResult::Failed(AttemptError::Vanished(self.object))),
        }
    }

    fn failed(self: Box<Self>, refusal: Refusal) -> AttemptStep {
        AttemptStep::Done(AttemptResult::Failed(AttemptError::PatchFailed(self.object, refusal)))
    }
}

impl RelinkChange {
    /// The list after the change.
    fn applied_to(&self, owners: Vec<OwnerReference>) -> Vec<OwnerReference> {
        match self {
            Self::Release(gone) => owners.into_iter().filter(|owner| !gone.contains(&owner.uid)).collect(),
            Self::Unblock(references) => {
                let unblocked =
                    |owner: &OwnerReference| references.iter().any(|other| other.uid == owner.uid);
                let change = |owner: OwnerReference| OwnerReference {
                    block_owner_deletion: owner.block_owner_deletion && !unblocked(&owner),
                    ..owner
                };
                owners.into_iter().map(change).collect()
            }
        }
    }
}

impl Then {
    /// Continues with the object as patched.
    fn go_on(self, live: ObjectMetadata) -> AttemptStep {
        match self {
            Self::Finish(outcome) => AttemptStep::Done(outcome),
            Self::Delete(deletion) => deletion.begin_after_unblocking(live),
        }
    }
}
