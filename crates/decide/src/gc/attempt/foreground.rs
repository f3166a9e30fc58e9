//! An object that is to go after its dependents: is anybody still in its way?

use gantry_model::{ObjectMetadata, OwnerReference, keys};

use super::item::Subject;
use super::{Deed, FinalizerRemoval, OnGone, Outcome, Relink, RelinkChange, Step, Then, Why};
use crate::gc::{Graph, Node, Presence};

/// G5.1 to G5.3: goes on with the deletion of an object that was read in this state.
pub(super) fn go_on(subject: Subject, live: ObjectMetadata, graph: &Graph) -> Step {
    let blocking: Vec<&Node> = graph.blocking_dependents(subject.uid()).collect();
    if blocking.is_empty() {
        let outcome = Outcome::Settled {
            did: Deed::RemovedFinalizer(keys::FOREGROUND_FINALIZER),
            why: Why::NoBlockingDependents,
        };
        return FinalizerRemoval::new(subject.target, keys::FOREGROUND_FINALIZER, outcome).try_on(live);
    }
    let idle = blocking.iter().filter(|dependent| dependent.presence() != Presence::DeletingDependents);
    let outcome = Outcome::Settled {
        did: Deed::Asked(idle.map(|dependent| dependent.item()).collect()),
        why: Why::WaitingForDependents { blocking: blocking.len() },
    };
    let ring = references_in_ring(&subject, &live, graph);
    if ring.is_empty() {
        return Step::Done(outcome);
    }
    let then = Then::Finish(outcome);
    Relink::new(subject.target, RelinkChange::Unblock(ring), OnGone::Retry, then).begin()
}

/// The references by which the object keeps owners waiting that it waits for itself.
fn references_in_ring(subject: &Subject, live: &ObjectMetadata, graph: &Graph) -> Vec<OwnerReference> {
    let ring = graph.owners_in_ring(subject.uid());
    let blocking = live.owners.iter().filter(|owner| owner.block_owner_deletion && ring.contains(&owner.uid));
    blocking.cloned().collect()
}
