//! An object that leaves its dependents to themselves: they are freed, and it may go.

use gantry_model::{Uid, keys};

use super::attempt::{FinalizerRemoval, OnGone, Relink, RelinkChange, Subject, Then};
use super::{Deed, Knowledge, Node, Outcome, Presence, Step, Why};

/// The freeing of an object's dependents.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "the steps are to be run"]
pub enum Orphaning {
    /// There is nothing to do, or nothing can be done.
    Done(Outcome),
    /// One run of steps per dependent, all independent of each other, and what comes after the last.
    Release(Vec<Step>, Afterwards),
}

/// An orphaning that waits for its releases to end.
#[derive(Clone, Debug, PartialEq)]
pub struct Afterwards {
    owner: Subject,
}

/// G7.0: begins an attempt to free the dependents of this object.
///
/// Whoever is being deleted in another way by now is left alone: the deletion was asked for anew, and with it what
/// becomes of the dependents.
pub fn begin(owner: &Uid, knowledge: &Knowledge<'_>) -> Orphaning {
    let Some(node) = knowledge.graph.node(owner) else {
        return Orphaning::Done(Outcome::left(Why::NotInGraph));
    };
    if node.presence() != Presence::Orphaning {
        return Orphaning::Done(Outcome::left(Why::NotOrphaning));
    }
    match Subject::resolve(node.identity(), knowledge.kinds) {
        Err(trouble) => Orphaning::Done(Outcome::Failed(trouble)),
        Ok(subject) => {
            let dependents = knowledge.graph.dependents(owner).filter(|dependent| dependent.uid() != owner);
            let releases = dependents.map(|dependent| release(owner, dependent, knowledge)).collect();
            Orphaning::Release(releases, Afterwards { owner: subject })
        }
    }
}

impl Afterwards {
    /// Goes on when every release has ended: with the owner's finalizer if all went well.
    pub fn resume(self, releases: Vec<Outcome>) -> Step {
        let dependents = releases.len();
        let failure = releases.into_iter().find(|outcome| matches!(outcome, Outcome::Failed(_)));
        if let Some(failure) = failure {
            return Step::Done(failure);
        }
        let outcome = Outcome::Settled {
            did: Deed::RemovedFinalizer(keys::ORPHAN_FINALIZER),
            why: Why::DependentsOrphaned { dependents },
        };
        FinalizerRemoval::new(self.owner.target, keys::ORPHAN_FINALIZER, outcome).read()
    }
}

/// Takes the reference to the owner off one dependent.
fn release(owner: &Uid, dependent: &Node, knowledge: &Knowledge<'_>) -> Step {
    let owners = vec![owner.clone()];
    match Subject::resolve(dependent.identity(), knowledge.kinds) {
        Err(trouble) => Step::Done(Outcome::Failed(trouble)),
        Ok(subject) => {
            let outcome = Outcome::Settled {
                did: Deed::Released(owners.clone()),
                why: Why::OwnerOrphans(owner.clone()),
            };
            let change = RelinkChange::Release(owners);
            Relink::new(subject.target, change, OnGone::Finish, Then::Finish(outcome)).begin()
        }
    }
}
