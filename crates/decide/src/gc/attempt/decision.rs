//! The decision about an object whose owners are classified.

use gantry_model::{ObjectMetadata, OwnerReference, Uid, keys};

use super::deletion::{DeletionRun, PropagationSource};
use super::item::Subject;
use super::relink::{OnGone, Relink, RelinkChange, Then};
use super::{AttemptAction, AttemptReason, AttemptResult, AttemptStep, Owners, Propagation};
use crate::gc::{Graph, Presence};

/// The decision about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectionDecision {
    /// It stays as it is.
    Keep,
    /// It stays, and its references to these owners are removed.
    Release(Vec<Uid>),
    /// It is deleted in the foreground, because an owner is.
    DeleteAfterDependents {
        /// References to unblock before that, to break a cycle.
        unblock: Vec<OwnerReference>,
    },
    /// It is deleted, with the propagation policy that its finalizers imply.
    Delete,
}

/// The state of an object's dependents in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependentState {
    /// It has none.
    Empty,
    /// It has some.
    Dependents,
    /// One of its dependents is being deleted in the foreground, and may wait for this object.
    WithWaitingDependent,
}

/// Decides about an object by its live state and the live state of its owners.
pub fn decide(live: &ObjectMetadata, owners: &Owners, dependents: DependentState) -> CollectionDecision {
    if !owners.solid.is_empty() {
        return match owners.lost().map(|owner| owner.uid.clone()).collect::<Vec<_>>() {
            none if none.is_empty() => CollectionDecision::Keep,
            lost => CollectionDecision::Release(lost),
        };
    }
    match dependents {
        DependentState::Dependents | DependentState::WithWaitingDependent if !owners.waiting.is_empty() => {
            let may_be_ring = dependents == DependentState::WithWaitingDependent;
            let unblock = live.owners.iter().filter(|owner| may_be_ring && owner.block_owner_deletion);
            CollectionDecision::DeleteAfterDependents { unblock: unblock.cloned().collect() }
        }
        _ => CollectionDecision::Delete,
    }
}

impl DependentState {
    /// The dependents of this object.
    pub fn of(uid: &Uid, graph: &Graph) -> Self {
        let mut dependents = Self::Empty;
        for dependent in graph.dependents(uid) {
            if dependent.presence() == Presence::DeletingDependents {
                return Self::WithWaitingDependent;
            }
            dependents = Self::Dependents;
        }
        dependents
    }
}

impl Propagation {
    /// G4.7: the policy that the finalizers on an object imply.
    pub fn requested_by_finalizers(live: &ObjectMetadata) -> Self {
        if live.has_finalizer(keys::ORPHAN_FINALIZER) {
            Self::Orphan
        } else if live.has_finalizer(keys::FOREGROUND_FINALIZER) {
            Self::Foreground
        } else {
            Self::Background
        }
    }
}

impl CollectionDecision {
    /// The first step of the decision.
    pub(super) fn carry_out(self, subject: Subject, live: ObjectMetadata, owners: Owners) -> AttemptStep {
        match self {
            Self::Keep => AttemptStep::Done(AttemptResult::left(AttemptReason::SolidOwners(owners.solid))),
            Self::Release(lost) => {
                let outcome = AttemptResult::Settled {
                    did: AttemptAction::Released(lost.clone()),
                    why: AttemptReason::SolidOwners(owners.solid),
                };
                let then = Then::Finish(outcome);
                Relink::new(subject.target, RelinkChange::Release(lost), OnGone::Retry, then).begin()
            }
            Self::DeleteAfterDependents { unblock } => {
                let target = subject.target.clone();
                let deletion = DeletionRun::new(
                    subject,
                    live,
                    PropagationSource::AfterDependents,
                    AttemptReason::NoSolidOwner(owners),
                );
                if unblock.is_empty() {
                    return deletion.begin();
                }
                let then = Then::Delete(Box::new(deletion));
                Relink::new(target, RelinkChange::Unblock(unblock), OnGone::Retry, then).begin()
            }
            Self::Delete => DeletionRun::new(
                subject,
                live,
                PropagationSource::AsFinalizersRequest,
                AttemptReason::NoSolidOwner(owners),
            )
            .begin(),
        }
    }
}
