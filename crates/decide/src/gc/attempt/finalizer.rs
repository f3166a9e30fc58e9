//! Removes a finalizer from an object, retrying on conflicts.

use std::time::Duration;

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, Refusal};

use super::step::{PatchPurpose, ReadPurpose, unsupported_form};
use super::{
    AttemptError, AttemptResult, AttemptStep, PatchResult, PendingPatch, PendingRead, PendingWait, ReadResult,
};

/// How often the removal of a finalizer is tried before the whole item is retried later.
pub const FINALIZER_PATCH_TRIES: u32 = 4;

/// The maximum random extension of the delay between two tries, as a fraction of it.
pub const FINALIZER_RETRY_JITTER: f64 = 0.1;

/// The delay after the first conflict.
const FIRST_DELAY: Duration = Duration::from_millis(10);

const DELAY_FACTOR: u32 = 5;

/// The removal of a finalizer, in progress.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct FinalizerRemoval {
    object: Identity,
    finalizer: &'static str,
    /// The number of tries that ended in a conflict.
    conflicts: u32,
    outcome: Box<AttemptResult>,
}

/// The delay after so many conflicts; `None` when it is not tried again.
pub fn finalizer_retry_delay(conflicts: u32) -> Option<Duration> {
    match conflicts {
        0 => Some(Duration::ZERO),
        1..FINALIZER_PATCH_TRIES => {
            Some(FIRST_DELAY.saturating_mul(DELAY_FACTOR.saturating_pow(conflicts - 1)))
        }
        _ => None,
    }
}

impl FinalizerRemoval {
    /// Removes this finalizer from the object; the attempt then has this result.
    pub(in crate::gc) fn new(object: Identity, finalizer: &'static str, outcome: AttemptResult) -> Self {
        Self { object, finalizer, conflicts: 0, outcome: Box::new(outcome) }
    }

    /// Requests the current finalizers.
    pub(in crate::gc) fn read(self) -> AttemptStep {
        AttemptStep::Read(self.object.clone(), PendingRead(ReadPurpose::Finalizer(self)))
    }

    /// Requests the replacement of the finalizers by all the others.
    pub(super) fn try_on(self, live: ObjectMetadata) -> AttemptStep {
        if !live.has_finalizer(self.finalizer) {
            return self.done();
        }
        let finalizers = live.finalizers.into_iter().filter(|held| held != self.finalizer).collect();
        let patch = MetadataPatch::SetFinalizers { version: live.resource_version, finalizers };
        AttemptStep::Patch(self.object.clone(), patch, PendingPatch(PatchPurpose::Finalizer(self)))
    }

    /// The response to the live read; an object that is gone has no finalizers.
    pub(super) fn found(self, response: ReadResult) -> AttemptStep {
        match response {
            ReadResult::Found(live) if live.identity.uid == self.object.uid => self.try_on(live),
            ReadResult::Found(_) | ReadResult::NotFound => self.done(),
            ReadResult::Failed(refusal) => {
                AttemptStep::Done(AttemptResult::Failed(AttemptError::ReadFailed(self.object, refusal)))
            }
        }
    }

    /// The response to the patch.
    pub(super) fn patched(mut self, response: PatchResult) -> AttemptStep {
        match response {
            PatchResult::Patched(_) | PatchResult::NotFound => self.done(),
            PatchResult::Conflict => {
                self.conflicts = self.conflicts.saturating_add(1);
                match finalizer_retry_delay(self.conflicts) {
                    Some(delay) => AttemptStep::Wait(delay, PendingWait(self)),
                    None => AttemptStep::Done(AttemptResult::Failed(AttemptError::Conflict(self.object))),
                }
            }
            PatchResult::UnsupportedForm => self.failed(unsupported_form()),
            PatchResult::Failed(refusal) => self.failed(refusal),
        }
    }

    fn done(self) -> AttemptStep {
        AttemptStep::Done(*self.outcome)
    }

    fn failed(self, refusal: Refusal) -> AttemptStep {
        AttemptStep::Done(AttemptResult::Failed(AttemptError::PatchFailed(self.object, refusal)))
    }
}
