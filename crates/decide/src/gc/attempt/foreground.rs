//! Foreground deletion: waits for blocking dependents, then removes the finalizer.

use gantry_model::{ObjectMetadata, OwnerReference, keys};

use super::item::Subject;
use super::{
    AttemptAction, AttemptReason, AttemptResult, AttemptStep, FinalizerRemoval, OnGone, Relink, RelinkChange,
    Then,
};
use crate::gc::{Graph, GraphNode, Presence};

/// G5.1 to G5.3: continues the deletion of an object that was read in this state.
pub(super) fn go_on(subject: Subject, live: ObjectMetadata, graph: &Graph) -> AttemptStep {
    let blocking: Vec<&GraphNode> = graph.blocking_dependents(subject.uid()).collect();
    if blocking.is_empty() {
        let outcome = AttemptResult::Settled {
            did: AttemptAction::RemovedFinalizer(keys::FOREGROUND_FINALIZER),
            why: AttemptReason::NoBlockingDependents,
        };
        return FinalizerRemoval::new(subject.target, keys::FOREGROUND_FINALIZER, outcome).try_on(live);
    }
    let idle = blocking.iter().filter(|dependent| dependent.presence() != Presence::DeletingDependents);
    let outcome = AttemptResult::Settled {
        did: AttemptAction::Enqueued(idle.map(|dependent| dependent.item()).collect()),
        why: AttemptReason::WaitingForDependents { blocking: blocking.len() },
    };
    let cycle = references_in_cycle(&subject, &live, graph);
    if cycle.is_empty() {
        return AttemptStep::Done(outcome);
    }
    let then = Then::Finish(outcome);
    Relink::new(subject.target, RelinkChange::Unblock(cycle), OnGone::Retry, then).begin()
}

/// The references by which the object blocks owners that it waits for itself.
fn references_in_cycle(subject: &Subject, live: &ObjectMetadata, graph: &Graph) -> Vec<OwnerReference> {
    let cycle = graph.owners_in_cycle(subject.uid());
    let blocking =
        live.owners.iter().filter(|owner| owner.block_owner_deletion && cycle.contains(&owner.uid));
    blocking.cloned().collect()
}
