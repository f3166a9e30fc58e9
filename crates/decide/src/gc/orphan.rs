//! Orphaning: removes the references of all dependents, then the orphan finalizer of the owner.

use gantry_model::{Uid, keys};

use super::attempt::{FinalizerRemoval, OnGone, Relink, RelinkChange, Subject, Then};
use super::{AttemptAction, AttemptContext, AttemptReason, AttemptResult, AttemptStep, GraphNode, Presence};

/// The orphaning of an object's dependents.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "the steps are to be run"]
pub enum Orphaning {
    /// Nothing has to be done, or it has failed.
    Done(AttemptResult),
    /// One run of steps per dependent, all independent of each other, and the step after the last.
    Release(Vec<AttemptStep>, PendingOrphaning),
}

/// An orphaning that waits for its releases.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingOrphaning {
    owner: Subject,
}

/// G7.0: begins an attempt to orphan the dependents of this object.
///
/// An owner that is no longer being deleted with the orphan policy is left alone.
pub fn begin(owner: &Uid, context: &AttemptContext<'_>) -> Orphaning {
    let Some(node) = context.graph.node(owner) else {
        return Orphaning::Done(AttemptResult::left(AttemptReason::NotInGraph));
    };
    if node.presence() != Presence::Orphaning {
        return Orphaning::Done(AttemptResult::left(AttemptReason::NotOrphaning));
    }
    match Subject::resolve(node.identity(), context.kinds) {
        Err(error) => Orphaning::Done(AttemptResult::Failed(error)),
        Ok(subject) => {
            let dependents = context.graph.dependents(owner).filter(|dependent| dependent.uid() != owner);
            let releases = dependents.map(|dependent| release(owner, dependent, context)).collect();
            Orphaning::Release(releases, PendingOrphaning { owner: subject })
        }
    }
}

impl PendingOrphaning {
    /// Continues when every release has ended: with the owner's finalizer if all succeeded.
    pub fn resume(self, releases: Vec<AttemptResult>) -> AttemptStep {
        let dependents = releases.len();
        let failure = releases.into_iter().find(|outcome| matches!(outcome, AttemptResult::Failed(_)));
        if let Some(failure) = failure {
            return AttemptStep::Done(failure);
        }
        let outcome = AttemptResult::Settled {
            did: AttemptAction::RemovedFinalizer(keys::ORPHAN_FINALIZER),
            why: AttemptReason::DependentsOrphaned { dependents },
        };
        FinalizerRemoval::new(self.owner.target, keys::ORPHAN_FINALIZER, outcome).read()
    }
}

/// Removes the reference to the owner from one dependent.
fn release(owner: &Uid, dependent: &GraphNode, context: &AttemptContext<'_>) -> AttemptStep {
    let owners = vec![owner.clone()];
    match Subject::resolve(dependent.identity(), context.kinds) {
        Err(error) => AttemptStep::Done(AttemptResult::Failed(error)),
        Ok(subject) => {
            let outcome = AttemptResult::Settled {
                did: AttemptAction::Released(owners.clone()),
                why: AttemptReason::OwnerOrphans(owner.clone()),
            };
            let change = RelinkChange::Release(owners);
            Relink::new(subject.target, change, OnGone::Finish, Then::Finish(outcome)).begin()
        }
    }
}
