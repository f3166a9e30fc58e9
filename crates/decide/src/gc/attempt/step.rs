//! The requests of an attempt, their responses, and the states in between.

use std::time::Duration;

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, Refusal, RefusalKind};

use super::deletion::{DeletionConflict, DeletionRun};
use super::finalizer::FinalizerRemoval;
use super::item::Subject;
use super::owners::PendingOwnerRead;
use super::relink::Relink;
use super::{AttemptResult, DeleteRequest};
use crate::gc::AttemptContext;

/// The next step of an attempt.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an attempt continues until it is done"]
pub enum AttemptStep {
    /// Read this object live, bypassing every cache, and resume. Only the first read of an attempt may be served from a
    /// cache.
    ///
    /// The response is the object of this name, whatever its uid.
    Read(Identity, PendingRead),
    /// Patch this object and resume.
    Patch(Identity, MetadataPatch, PendingPatch),
    /// Delete an object and resume.
    Delete(DeleteRequest, PendingDelete),
    /// Wait, extended at random by up to [`super::FINALIZER_RETRY_JITTER`] of the duration, and resume.
    Wait(Duration, PendingWait),
    /// The attempt has ended.
    Done(AttemptResult),
}

/// The response to a live read.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadResult {
    /// The object of that name.
    Found(ObjectMetadata),
    /// No object has the name.
    NotFound,
    /// The read failed.
    Failed(Refusal),
}

/// The response to a patch.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchResult {
    /// It was applied; the object as patched.
    Patched(ObjectMetadata),
    /// No object has the name.
    NotFound,
    /// The precondition failed.
    Conflict,
    /// The kind does not support this patch type.
    UnsupportedForm,
    /// It failed for another reason.
    Failed(Refusal),
}

/// The response to a delete request.
#[derive(Clone, Debug, PartialEq)]
pub enum DeleteResult {
    /// The object is deleted or being deleted.
    Accepted,
    /// No object has the name.
    NotFound,
    /// A precondition failed.
    Conflict,
    /// It failed for another reason.
    Failed(Refusal),
}

/// An attempt that waits for a live read.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingRead(pub(super) ReadPurpose);

/// An attempt that waits for a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingPatch(pub(super) PatchPurpose);

/// An attempt that waits for a delete request.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingDelete(pub(super) Box<DeletionRun>);

/// An attempt that waits for a retry delay.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingWait(pub(super) FinalizerRemoval);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReadPurpose {
    /// The state of the item.
    Item(Subject),
    /// The state of an owner.
    Owner(Box<PendingOwnerRead>),
    /// The list to replace.
    Relink(Box<Relink>),
    /// The reason for a conflict.
    DeleteRequest(Box<DeletionConflict>),
    /// The current finalizers.
    Finalizer(FinalizerRemoval),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PatchPurpose {
    /// Changing owner references by strategic merge patch.
    Relink(Box<Relink>),
    /// Replacing the list of owner references.
    RelinkWhole(Box<Relink>),
    Finalizer(FinalizerRemoval),
}

impl PendingRead {
    /// Continues with the response.
    pub fn resume(self, response: ReadResult, context: &mut AttemptContext<'_>) -> AttemptStep {
        match self.0 {
            ReadPurpose::Item(subject) => subject.found(response, context),
            ReadPurpose::Owner(pending) => pending.found(response, context),
            ReadPurpose::Relink(relink) => relink.replace_list(response),
            ReadPurpose::DeleteRequest(conflict) => conflict.found(response),
            ReadPurpose::Finalizer(removal) => removal.found(response),
        }
    }
}

impl PendingPatch {
    /// Continues with the response.
    pub fn resume(self, response: PatchResult) -> AttemptStep {
        match self.0 {
            PatchPurpose::Relink(relink) if response == PatchResult::UnsupportedForm => relink.read_list(),
            PatchPurpose::Relink(relink) | PatchPurpose::RelinkWhole(relink) => relink.patched(response),
            PatchPurpose::Finalizer(removal) => removal.patched(response),
        }
    }
}

impl PendingDelete {
    /// Continues with the response.
    pub fn resume(self, response: DeleteResult) -> AttemptStep {
        self.0.answered(response)
    }
}

impl PendingWait {
    /// Continues after the delay.
    pub fn resume(self) -> AttemptStep {
        self.0.read()
    }
}

impl From<Result<ObjectMetadata, Refusal>> for ReadResult {
    fn from(response: Result<ObjectMetadata, Refusal>) -> Self {
        match response {
            Ok(object) => Self::Found(object),
            Err(refusal) if refusal.kind == RefusalKind::NotFound => Self::NotFound,
            Err(refusal) => Self::Failed(refusal),
        }
    }
}

impl From<Result<ObjectMetadata, Refusal>> for PatchResult {
    fn from(response: Result<ObjectMetadata, Refusal>) -> Self {
        match response {
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

impl From<Result<(), Refusal>> for DeleteResult {
    fn from(response: Result<(), Refusal>) -> Self {
        match response {
            Ok(()) => Self::Accepted,
            Err(refusal) => match refusal.kind {
                RefusalKind::NotFound => Self::NotFound,
                RefusalKind::Conflict => Self::Conflict,
                _ => Self::Failed(refusal),
            },
        }
    }
}

/// The refusal of a patch whose type was the last alternative.
pub(super) fn unsupported_form() -> Refusal {
    Refusal::new(RefusalKind::UnsupportedForm, "the API server supports no merge patch for this kind")
}
