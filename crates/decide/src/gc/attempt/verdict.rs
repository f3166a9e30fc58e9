//! What is to become of an object whose owners are all known.

use gantry_model::{ObjectMetadata, OwnerReference, Uid, keys};

use super::deletion::{DeletionRun, Manner};
use super::item::Subject;
use super::relink::{OnGone, Relink, RelinkChange, Then};
use super::{Deed, Outcome, Owners, Propagation, Step, Why};
use crate::gc::{Graph, Presence};

/// The decision about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stays as it is.
    Keep,
    /// It stays, but these owners are no longer its owners.
    Release(Vec<Uid>),
    /// It goes after its dependents, because an owner does.
    DeleteAfterDependents {
        /// References that are to block no longer before that, lest objects wait for each other in a ring.
        unblock: Vec<OwnerReference>,
    },
    /// It goes, and its finalizers say what becomes of its dependents.
    Delete,
}

/// What the graph knows of an object's dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Household {
    /// It has none.
    Empty,
    /// It has some.
    Dependents,
    /// It has some, and one of them is being deleted after its own dependents: this object may be one of those.
    DependentsThatWait,
}

/// Decides about an object by its live state and the live state of its owners.
pub fn judge(live: &ObjectMetadata, owners: &Owners, household: Household) -> Verdict {
    if !owners.solid.is_empty() {
        return match owners.lost().map(|owner| owner.uid.clone()).collect::<Vec<_>>() {
            none if none.is_empty() => Verdict::Keep,
            lost => Verdict::Release(lost),
        };
    }
    match household {
        Household::Dependents | Household::DependentsThatWait if !owners.waiting.is_empty() => {
            let may_be_ring = household == Household::DependentsThatWait;
            let unblock = live.owners.iter().filter(|owner| may_be_ring && owner.block_owner_deletion);
            Verdict::DeleteAfterDependents { unblock: unblock.cloned().collect() }
        }
        _ => Verdict::Delete,
    }
}

impl Household {
    /// What the graph knows of this object's dependents.
    pub fn of(uid: &Uid, graph: &Graph) -> Self {
        let mut household = Self::Empty;
        for dependent in graph.dependents(uid) {
            if dependent.presence() == Presence::DeletingDependents {
                return Self::DependentsThatWait;
            }
            household = Self::Dependents;
        }
        household
    }
}

impl Propagation {
    /// G4.7: what the finalizers on an object ask for, should it be deleted.
    pub fn asked_for(live: &ObjectMetadata) -> Self {
        if live.has_finalizer(keys::ORPHAN_FINALIZER) {
            Self::Orphan
        } else if live.has_finalizer(keys::FOREGROUND_FINALIZER) {
            Self::Foreground
        } else {
            Self::Background
        }
    }
}

impl Verdict {
    /// The first step of what was decided.
    pub(super) fn carry_out(self, subject: Subject, live: ObjectMetadata, owners: Owners) -> Step {
        match self {
            Self::Keep => Step::Done(Outcome::left(Why::SolidOwners(owners.solid))),
            Self::Release(lost) => {
                let outcome = Outcome::Settled {
                    did: Deed::Released(lost.clone()),
                    why: Why::SolidOwners(owners.solid),
                };
                let then = Then::Finish(outcome);
                Relink::new(subject.target, RelinkChange::Release(lost), OnGone::Retry, then).begin()
            }
            Self::DeleteAfterDependents { unblock } => {
                let target = subject.target.clone();
                let deletion =
                    DeletionRun::new(subject, live, Manner::AfterDependents, Why::NoSolidOwner(owners));
                if unblock.is_empty() {
                    return deletion.begin();
                }
                let then = Then::Delete(Box::new(deletion));
                Relink::new(target, RelinkChange::Unblock(unblock), OnGone::Retry, then).begin()
            }
            Self::Delete => {
                DeletionRun::new(subject, live, Manner::AsFinalizersAsk, Why::NoSolidOwner(owners)).begin()
            }
        }
    }
}
