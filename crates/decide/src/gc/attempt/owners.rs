//! Classifies the owners of the item: absent, waiting for dependents, or solid.

use std::fmt;

use gantry_model::{Identity, ObjectMetadata, OwnerReference};

use super::decision::{self, DependentState};
use super::item::{Subject, resolve};
use super::result::Listed;
use super::step::ReadPurpose;
use super::{AttemptError, AttemptResult, AttemptStep, PendingRead, ReadResult};
use crate::gc::AttemptContext;

/// The owner references of an object, classified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// The owner does not exist.
    pub dangling: Vec<OwnerReference>,
    /// The owner is being deleted in the foreground.
    pub waiting: Vec<OwnerReference>,
    /// The owner exists. It may be being deleted, but keeps its dependents until it is gone.
    pub solid: Vec<OwnerReference>,
}

/// The classification in progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnerClassification {
    subject: Subject,
    /// The item as it was read.
    live: ObjectMetadata,
    /// References to classify, the next one last.
    unread: Vec<OwnerReference>,
    owners: Owners,
}

/// A classification that waits for the live read of one owner.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PendingOwnerRead {
    classification: OwnerClassification,
    reference: OwnerReference,
    owner: Identity,
}

impl Owners {
    /// The references to owners that no longer keep the object.
    pub fn lost(&self) -> impl Iterator<Item = &OwnerReference> {
        self.dangling.iter().chain(&self.waiting)
    }
}

impl fmt::Display for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dangling, waiting, solid } = self;
        let groups = [(dangling, "gone"), (waiting, "waiting for dependents"), (solid, "solid")];
        let named = groups.iter().filter(|(owners, _)| !owners.is_empty());
        for (nth, (owners, what)) in named.enumerate() {
            let separator = if nth == 0 { "owners " } else { "; " };
            write!(f, "{separator}{what}: {}", Listed(owners))?;
        }
        Ok(())
    }
}

impl OwnerClassification {
    pub(super) fn begin(subject: Subject, live: ObjectMetadata) -> Self {
        let unread = live.owners.iter().rev().cloned().collect();
        Self { subject, live, unread, owners: Owners::default() }
    }

    /// Classifies references by known absences, and requests a read of the next owner otherwise.
    pub(super) fn advance(mut self, context: &mut AttemptContext<'_>) -> AttemptStep {
        while let Some(reference) = self.unread.pop() {
            let namespace = self.subject.target.namespace.clone();
            let mut owner = Identity::of_owner(&reference, None);
            if context.absent.contains(&owner) {
                self.owners.dangling.push(reference);
                continue;
            }
            owner.namespace = namespace;
            if context.absent.contains(&owner) {
                self.owners.dangling.push(reference);
                continue;
            }
            return match resolve(&owner, owner.namespace.as_ref(), context.kinds) {
                Err(error) => AttemptStep::Done(AttemptResult::Failed(error)),
                Ok(owner) => {
                    let pending = PendingOwnerRead { classification: self, reference, owner: owner.clone() };
                    AttemptStep::Read(owner, PendingRead(ReadPurpose::Owner(Box::new(pending))))
                }
            };
        }
        let dependents = DependentState::of(self.subject.uid(), context.graph);
        let decision = decision::decide(&self.live, &self.owners, dependents);
        decision.carry_out(self.subject, self.live, self.owners)
    }
}

impl PendingOwnerRead {
    /// The response to the live read of the owner.
    pub(super) fn found(self, response: ReadResult, context: &mut AttemptContext<'_>) -> AttemptStep {
        let Self { mut classification, reference, owner } = self;
        match response {
            ReadResult::Found(live) if live.identity.uid == reference.uid => {
                let class = if live.is_deleting_dependents() {
                    &mut classification.owners.waiting
                } else {
                    &mut classification.owners.solid
                };
                class.push(reference);
            }
            ReadResult::Found(_) | ReadResult::NotFound => {
                context.absent.insert(owner);
                classification.owners.dangling.push(reference);
            }
            ReadResult::Failed(refusal) => {
                return AttemptStep::Done(AttemptResult::Failed(AttemptError::ReadFailed(owner, refusal)));
            }
        }
        classification.advance(context)
    }
}
