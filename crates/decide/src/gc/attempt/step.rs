//! The requests of an attempt, their answers, and the states in between.

use std::time::Duration;

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, Refusal, RefusalKind};

use super::deletion::{DeletionConflict, DeletionRun};
use super::finalizer::FinalizerRemoval;
use super::item::Subject;
use super::owners::OwnerQuestion;
use super::relink::Relink;
use super::{Deletion, Outcome};
use crate::gc::Knowledge;

/// Where an attempt stands: it wants something, or it is over.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an attempt goes on until it is done"]
pub enum Step {
    /// Read this object live, past every cache, and resume.
    ///
    /// The uid is not part of the question: whatever has this name is the answer.
    Read(Identity, Reading),
    /// Patch this object and resume.
    Patch(Identity, MetadataPatch, Patching),
    /// Delete an object and resume.
    Delete(Deletion, Deleting),
    /// Let so much time pass, lengthened by up to [`super::FINALIZER_RETRY_JITTER`] of it, and resume.
    Wait(Duration, Waiting),
    /// The attempt is over.
    Done(Outcome),
}

/// What a live read can say.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadAnswer {
    /// This object has the name.
    Found(ObjectMetadata),
    /// No object has the name.
    NotFound,
    /// The question was not answered.
    Failed(Refusal),
}

/// What a patch can lead to.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchAnswer {
    /// It was applied, and this is the object now.
    Patched(ObjectMetadata),
    /// No object has the name.
    NotFound,
    /// The object is not what the patch said it was.
    Conflict,
    /// The kind does not take patches of this form.
    UnsupportedForm,
    /// It was not applied, for another reason.
    Failed(Refusal),
}

/// What a request to delete can lead to.
#[derive(Clone, Debug, PartialEq)]
pub enum DeleteAnswer {
    /// The object is gone, or on its way.
    Accepted,
    /// No object has the name.
    NotFound,
    /// The object is not what the preconditions said it was.
    Conflict,
    /// It was not accepted, for another reason.
    Failed(Refusal),
}

/// An attempt that waits for a live read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading(pub(super) Question);

/// An attempt that waits for a patch to be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Patching(pub(super) PatchRun);

/// An attempt that waits for a request to delete to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Deleting(pub(super) Box<DeletionRun>);

/// An attempt that waits for time to pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting(pub(super) FinalizerRemoval);

/// What a live read is for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question {
    /// Whether the item is still there, and how.
    Item(Subject),
    /// Whether an owner is.
    Owner(Box<OwnerQuestion>),
    /// What a list looks like that must be replaced whole.
    Relink(Box<Relink>),
    /// Why the deletion was refused.
    Deletion(Box<DeletionConflict>),
    /// Which finalizers there are.
    Finalizer(FinalizerRemoval),
}

/// What a patch is for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PatchRun {
    /// Changing owner references, in the form that names the change.
    Relink(Box<Relink>),
    /// The same in the form that replaces the list.
    RelinkWhole(Box<Relink>),
    /// Removing a finalizer.
    Finalizer(FinalizerRemoval),
}

impl Reading {
    /// Goes on with the answer.
    pub fn resume(self, answer: ReadAnswer, knowledge: &mut Knowledge<'_>) -> Step {
        match self.0 {
            Question::Item(subject) => subject.found(answer, knowledge),
            Question::Owner(question) => question.found(answer, knowledge),
            Question::Relink(relink) => relink.replace_list(answer),
            Question::Deletion(conflict) => conflict.found(answer),
            Question::Finalizer(removal) => removal.found(answer),
        }
    }
}

impl Patching {
    /// Goes on with the answer.
    pub fn resume(self, answer: PatchAnswer) -> Step {
        match self.0 {
            PatchRun::Relink(relink) if answer == PatchAnswer::UnsupportedForm => relink.read_list(),
            PatchRun::Relink(relink) | PatchRun::RelinkWhole(relink) => relink.patched(answer),
            PatchRun::Finalizer(removal) => removal.patched(answer),
        }
    }
}

impl Deleting {
    /// Goes on with the answer.
    pub fn resume(self, answer: DeleteAnswer) -> Step {
        self.0.answered(answer)
    }
}

impl Waiting {
    /// Goes on after the time has passed.
    pub fn resume(self) -> Step {
        self.0.read()
    }
}

impl From<Result<ObjectMetadata, Refusal>> for ReadAnswer {
    fn from(answer: Result<ObjectMetadata, Refusal>) -> Self {
        match answer {
            Ok(object) => Self::Found(object),
            Err(refusal) if refusal.kind == RefusalKind::NotFound => Self::NotFound,
            Err(refusal) => Self::Failed(refusal),
        }
    }
}

impl From<Result<ObjectMetadata, Refusal>> for PatchAnswer {
    fn from(answer: Result<ObjectMetadata, Refusal>) -> Self {
        match answer {
            Ok(object) => Self::Patched(object),
            Err(refusal) => match refusal.kind {
                RefusalKind::NotFound => Self::NotFound,
                RefusalKind::Conflict => Self::Conflict,
                RefusalKind::UnsupportedForm => Self::UnsupportedForm,
                _ => Self::Failed(refusal),
            },
        }
    }
}

impl From<Result<(), Refusal>> for DeleteAnswer {
    fn from(answer: Result<(), Refusal>) -> Self {
        match answer {
            Ok(()) => Self::Accepted,
            Err(refusal) => match refusal.kind {
                RefusalKind::NotFound => Self::NotFound,
                RefusalKind::Conflict => Self::Conflict,
                _ => Self::Failed(refusal),
            },
        }
    }
}

/// The refusal of a patch whose form was the last one there is.
pub(super) fn unsupported_form() -> Refusal {
    Refusal::new(RefusalKind::UnsupportedForm, "the API server takes no merge patch for this kind")
}
