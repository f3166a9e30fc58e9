//! Taking one finalizer off an object, past whoever else is changing it.

use std::time::Duration;

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, Refusal};

use super::step::{PatchRun, Question, unsupported_form};
use super::{Outcome, PatchAnswer, Patching, ReadAnswer, Reading, Step, Trouble, Waiting};

/// How often the removal of a finalizer is tried before the whole item is retried later.
pub const FINALIZER_PATCH_TRIES: u32 = 4;

/// By how much of itself the wait between two tries is lengthened at random.
pub const FINALIZER_RETRY_JITTER: f64 = 0.1;

/// The wait after the first conflict.
const FIRST_DELAY: Duration = Duration::from_millis(10);

/// By how much each wait is longer than the one before.
const DELAY_FACTOR: u32 = 5;

/// The removal of a finalizer, under way.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct FinalizerRemoval {
    object: Identity,
    finalizer: &'static str,
    /// How many tries ended in a conflict.
    conflicts: u32,
    outcome: Box<Outcome>,
}

/// How long to wait after so many conflicts; `None` when it is not tried again.
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
    /// Takes this finalizer off the object, which leads to this outcome.
    pub(in crate::gc) fn new(object: Identity, finalizer: &'static str, outcome: Outcome) -> Self {
        Self { object, finalizer, conflicts: 0, outcome: Box::new(outcome) }
    }

    /// Asks which finalizers there are.
    pub(in crate::gc) fn read(self) -> Step {
        Step::Read(self.object.clone(), Reading(Question::Finalizer(self)))
    }

    /// Asks for the finalizers to be replaced by all the others.
    pub(super) fn try_on(self, live: ObjectMetadata) -> Step {
        if !live.has_finalizer(self.finalizer) {
            return self.done();
        }
        let finalizers = live.finalizers.into_iter().filter(|held| held != self.finalizer).collect();
        let patch = MetadataPatch::SetFinalizers { version: live.resource_version, finalizers };
        Step::Patch(self.object.clone(), patch, Patching(PatchRun::Finalizer(self)))
    }

    /// The live read has been answered; an object that is gone has no finalizers.
    pub(super) fn found(self, answer: ReadAnswer) -> Step {
        match answer {
            ReadAnswer::Found(live) if live.identity.uid == self.object.uid => self.try_on(live),
            ReadAnswer::Found(_) | ReadAnswer::NotFound => self.done(),
            ReadAnswer::Failed(refusal) => {
                Step::Done(Outcome::Failed(Trouble::ReadFailed(self.object, refusal)))
            }
        }
    }

    /// The patch has been answered.
    pub(super) fn patched(mut self, answer: PatchAnswer) -> Step {
        match answer {
            PatchAnswer::Patched(_) | PatchAnswer::NotFound => self.done(),
            PatchAnswer::Conflict => {
                self.conflicts = self.conflicts.saturating_add(1);
                match finalizer_retry_delay(self.conflicts) {
                    Some(delay) => Step::Wait(delay, Waiting(self)),
                    None => Step::Done(Outcome::Failed(Trouble::Conflict(self.object))),
                }
            }
            PatchAnswer::UnsupportedForm => self.failed(unsupported_form()),
            PatchAnswer::Failed(refusal) => self.failed(refusal),
        }
    }

    fn done(self) -> Step {
        Step::Done(*self.outcome)
    }

    fn failed(self, refusal: Refusal) -> Step {
        Step::Done(Outcome::Failed(Trouble::PatchFailed(self.object, refusal)))
    }
}
