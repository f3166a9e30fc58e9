//! Requests to delete, and what to make of a refusal.

use std::fmt;

use gantry_model::{Identity, ObjectMetadata, OwnerReference, ResourceVersion, Uid};

use super::item::Subject;
use super::step::Question;
use super::{Deed, DeleteAnswer, Deleting, Outcome, ReadAnswer, Reading, Step, Trouble, Why};

/// A request to delete one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The object.
    pub target: Identity,
    /// What is to become of its dependents.
    pub propagation: Propagation,
    /// Precondition: the object has this uid.
    pub uid: Uid,
    /// Precondition: the object has not changed since it was read.
    pub version: Option<ResourceVersion>,
}

/// What becomes of the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are left to themselves.
    Orphan,
    /// They are collected after it.
    Background,
    /// They go before it.
    Foreground,
}

/// Who says what becomes of the dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gc) enum Manner {
    /// An owner waits, so this object waits as well (G4.6).
    AfterDependents,
    /// The finalizers on the object (G4.7).
    AsFinalizersAsk,
}

/// A deletion, under way.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct DeletionRun {
    subject: Subject,
    /// The object as it was read.
    live: ObjectMetadata,
    manner: Manner,
    why: Why,
    tries: Tries,
}

/// A deletion whose preconditions did not hold, and that waits for a live read.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct DeletionConflict(DeletionRun);

/// Which try this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tries {
    /// The object must be what was read.
    First,
    /// The object need only be the same one.
    Last,
}

impl Propagation {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orphan => "Orphan",
            Self::Background => "Background",
            Self::Foreground => "Foreground",
        }
    }
}

impl fmt::Display for Propagation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl DeletionRun {
    pub(super) fn new(subject: Subject, live: ObjectMetadata, manner: Manner, why: Why) -> Self {
        Self { subject, live, manner, why, tries: Tries::First }
    }

    /// Asks for the deletion.
    pub(super) fn begin(self) -> Step {
        let version = match self.tries {
            Tries::First => Some(self.live.resource_version.clone()),
            Tries::Last => None,
        };
        let deletion = Deletion {
            target: self.subject.target.clone(),
            propagation: self.propagation(),
            uid: self.subject.uid().clone(),
            version,
        };
        Step::Delete(deletion, Deleting(Box::new(self)))
    }

    /// Asks for the deletion of the object that unblocking its owners has left.
    ///
    /// Its version is new, and with it the precondition. If somebody gave it another owner meanwhile, the verdict
    /// was about another object, so to speak.
    pub(super) fn begin_after_unblocking(mut self, unblocked: ObjectMetadata) -> Step {
        let named = |owners: &[OwnerReference]| -> Vec<Identity> {
            owners.iter().map(|owner| Identity::of_owner(owner, None)).collect()
        };
        if named(&unblocked.owners) != named(&self.live.owners) {
            return self.conflict();
        }
        self.live = unblocked;
        self.begin()
    }

    /// G4.8: the request has been answered.
    pub(super) fn answered(self, answer: DeleteAnswer) -> Step {
        match answer {
            DeleteAnswer::Accepted => {
                let did = Deed::Deleted(self.propagation());
                Step::Done(Outcome::Settled { did, why: self.why })
            }
            DeleteAnswer::NotFound => self.subject.absent(),
            DeleteAnswer::Conflict if self.tries == Tries::First => {
                let target = self.subject.target.clone();
                Step::Read(target, Reading(Question::Deletion(Box::new(DeletionConflict(self)))))
            }
            DeleteAnswer::Conflict => self.conflict(),
            DeleteAnswer::Failed(refusal) => {
                Step::Done(Outcome::Failed(Trouble::DeleteFailed(self.subject.target, refusal)))
            }
        }
    }

    fn propagation(&self) -> Propagation {
        match self.manner {
            Manner::AfterDependents => Propagation::Foreground,
            Manner::AsFinalizersAsk => Propagation::asked_for(&self.live),
        }
    }

    fn conflict(self) -> Step {
        Step::Done(Outcome::Failed(Trouble::Conflict(self.subject.target)))
    }
}

impl DeletionConflict {
    /// G4.8: the object was read again.
    ///
    /// A change that left the owners alone, a status say, does not make it less garbage. What its finalizers ask for
    /// is read afresh: somebody may have asked for its dependents to be spared.
    pub(super) fn found(self, answer: ReadAnswer) -> Step {
        let Self(run) = self;
        match answer {
            ReadAnswer::Found(live) if run.is_same_garbage(&live) => {
                DeletionRun { live, tries: Tries::Last, ..run }.begin()
            }
            ReadAnswer::Found(_) => run.conflict(),
            ReadAnswer::NotFound => run.subject.absent(),
            ReadAnswer::Failed(refusal) => {
                Step::Done(Outcome::Failed(Trouble::ReadFailed(run.subject.target, refusal)))
            }
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
