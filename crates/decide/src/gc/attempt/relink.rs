//! Patches to an object's owner references, for kinds that merge lists and for kinds that do not.
//!
//! The first form names the change only and needs no version, so it never conflicts. Custom resources refuse it; for
//! them the list is read and replaced whole, under the version that was read.

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, OwnerReference, Refusal, Uid};

use super::deletion::DeletionRun;
use super::step::{PatchRun, Question, unsupported_form};
use super::{Outcome, PatchAnswer, Patching, ReadAnswer, Reading, Step, Trouble};

/// A change to the owner references of one object, under way.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct Relink {
    object: Identity,
    change: RelinkChange,
    on_gone: OnGone,
    then: Then,
}

/// How the references change.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) enum RelinkChange {
    /// References to these owners go.
    Release(Vec<Uid>),
    /// These references block no longer.
    Unblock(Vec<OwnerReference>),
}

/// What it means if the object is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gc) enum OnGone {
    /// There is nothing left to do.
    Finish,
    /// The item is looked at again, and found gone.
    Retry,
}

/// What comes after the change.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) enum Then {
    /// Nothing.
    Finish(Outcome),
    /// The object is deleted.
    Delete(Box<DeletionRun>),
}

impl Relink {
    pub(in crate::gc) fn new(object: Identity, change: RelinkChange, on_gone: OnGone, then: Then) -> Self {
        Self { object, change, on_gone, then }
    }

    /// Asks for the change by name.
    pub(in crate::gc) fn begin(self) -> Step {
        let object = self.object.uid.clone();
        let patch = match &self.change {
            RelinkChange::Release(owners) => MetadataPatch::Release { object, owners: owners.clone() },
            RelinkChange::Unblock(references) => {
                MetadataPatch::Unblock { object, references: references.clone() }
            }
        };
        Step::Patch(self.object.clone(), patch, Patching(PatchRun::Relink(Box::new(self))))
    }

    /// The kind does not take the change by name: the list has to be known.
    pub(super) fn read_list(self: Box<Self>) -> Step {
        Step::Read(self.object.clone(), Reading(Question::Relink(self)))
    }

    /// Asks for the whole list to be replaced.
    pub(super) fn replace_list(self: Box<Self>, answer: ReadAnswer) -> Step {
        match answer {
            ReadAnswer::Found(live) if live.identity.uid == self.object.uid => {
                let owners = self.change.applied_to(live.owners);
                let patch = MetadataPatch::SetOwners { version: live.resource_version, owners };
                Step::Patch(self.object.clone(), patch, Patching(PatchRun::RelinkWhole(self)))
            }
            ReadAnswer::Found(_) | ReadAnswer::NotFound => self.gone(),
            ReadAnswer::Failed(refusal) => {
                Step::Done(Outcome::Failed(Trouble::ReadFailed(self.object, refusal)))
            }
        }
    }

    /// The patch has been answered.
    pub(super) fn patched(self: Box<Self>, answer: PatchAnswer) -> Step {
        match answer {
            PatchAnswer::Patched(live) => self.then.go_on(live),
            PatchAnswer::NotFound => self.gone(),
            PatchAnswer::Conflict => Step::Done(Outcome::Failed(Trouble::Conflict(self.object))),
            PatchAnswer::UnsupportedForm => self.failed(unsupported_form()),
            PatchAnswer::Failed(refusal) => self.failed(refusal),
        }
    }

    fn gone(self: Box<Self>) -> Step {
        match (self.on_gone, self.then) {
            (OnGone::Finish, Then::Finish(outcome)) => Step::Done(outcome),
            _ => Step::Done(Outcome::Failed(Trouble::Vanished(self.object))),
        }
    }

    fn failed(self: Box<Self>, refusal: Refusal) -> Step {
        Step::Done(Outcome::Failed(Trouble::PatchFailed(self.object, refusal)))
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
    /// Goes on with the object as the patch left it.
    fn go_on(self, live: ObjectMetadata) -> Step {
        match self {
            Self::Finish(outcome) => Step::Done(outcome),
            Self::Delete(deletion) => deletion.begin_after_unblocking(live),
        }
    }
}
