//! The owners of the item, one by one: gone, going, or there.

use std::fmt;

use gantry_model::{Identity, ObjectMetadata, OwnerReference};

use super::item::{Subject, resolve};
use super::outcome::Listed;
use super::step::Question;
use super::verdict::{self, Household};
use super::{Outcome, ReadAnswer, Reading, Step, Trouble};
use crate::gc::Knowledge;

/// The references of an object by what became of those they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// There is no such owner.
    pub dangling: Vec<OwnerReference>,
    /// The owner is to go after its dependents.
    pub waiting: Vec<OwnerReference>,
    /// The owner exists. It may be on its way out, but keeps what it owns until it is gone.
    pub solid: Vec<OwnerReference>,
}

/// The classification of an item's owners, under way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Survey {
    subject: Subject,
    /// The item as it was read.
    live: ObjectMetadata,
    /// References yet to be classified, the next one last.
    unread: Vec<OwnerReference>,
    owners: Owners,
}

/// A survey that waits for the live read of one owner.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnerQuestion {
    survey: Survey,
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

impl Survey {
    pub(super) fn begin(subject: Subject, live: ObjectMetadata) -> Self {
        let unread = live.owners.iter().rev().cloned().collect();
        Self { subject, live, unread, owners: Owners::default() }
    }

    /// Classifies as many references as known absences allow, and asks about the next one.
    pub(super) fn advance(mut self, knowledge: &mut Knowledge<'_>) -> Step {
        while let Some(reference) = self.unread.pop() {
            let namespace = self.subject.target.namespace.clone();
            let mut owner = Identity::of_owner(&reference, None);
            if knowledge.absent.contains(&owner) {
                self.owners.dangling.push(reference);
                continue;
            }
            owner.namespace = namespace;
            if knowledge.absent.contains(&owner) {
                self.owners.dangling.push(reference);
                continue;
            }
            return match resolve(&owner, owner.namespace.as_ref(), knowledge.kinds) {
                Err(trouble) => Step::Done(Outcome::Failed(trouble)),
                Ok(owner) => {
                    let question = OwnerQuestion { survey: self, reference, owner: owner.clone() };
                    Step::Read(owner, Reading(Question::Owner(Box::new(question))))
                }
            };
        }
        let household = Household::of(self.subject.uid(), knowledge.graph);
        let verdict = verdict::judge(&self.live, &self.owners, household);
        verdict.carry_out(self.subject, self.live, self.owners)
    }
}

impl OwnerQuestion {
    /// The live read of the owner has been answered.
    pub(super) fn found(self, answer: ReadAnswer, knowledge: &mut Knowledge<'_>) -> Step {
        let Self { mut survey, reference, owner } = self;
        match answer {
            ReadAnswer::Found(live) if live.identity.uid == reference.uid => {
                let standing = if live.is_deleting_dependents() {
                    &mut survey.owners.waiting
                } else {
                    &mut survey.owners.solid
                };
                standing.push(reference);
            }
            ReadAnswer::Found(_) | ReadAnswer::NotFound => {
                knowledge.absent.insert(owner);
                survey.owners.dangling.push(reference);
            }
            ReadAnswer::Failed(refusal) => {
                return Step::Done(Outcome::Failed(Trouble::ReadFailed(owner, refusal)));
            }
        }
        survey.advance(knowledge)
    }
}
