//! The messages of results.

use gantry_model::Refusal;
use gantry_testkit::{MetadataBuilder, reference};

use super::{Memory, deployment, done, node, pod, replica_set, uid};
use crate::gc::attempt::{Owners, ReadResult};
use crate::gc::{AttemptAction, AttemptError, AttemptReason, AttemptResult, Propagation, QueueItem};

fn settled(did: AttemptAction, why: AttemptReason) -> String {
    AttemptResult::Settled { did, why }.to_string()
}

/// G4.5: the reason for keeping a pod names its owners.
#[test]
fn a_result_has_the_actions_and_the_reason() {
    let (web, shop) = (reference(&replica_set("web")), reference(&deployment("shop")));
    let lost = Owners { dangling: vec![web.clone()], waiting: vec![shop.clone()], solid: Vec::new() };
    for (sentence, expected) in [
        (settled(AttemptAction::Nothing, AttemptReason::NoOwners), "left alone: the object has no owners"),
        (
            settled(AttemptAction::Nothing, AttemptReason::SolidOwners(vec![web.clone(), shop])),
            "left alone: it is owned by ReplicaSet web, Deployment shop",
        ),
        (
            settled(AttemptAction::Released(vec![web.uid.clone()]), AttemptReason::SolidOwners(vec![web])),
            "removed 1 owner reference: it is owned by ReplicaSet web",
        ),
        (
            settled(AttemptAction::Deleted(Propagation::Foreground), AttemptReason::NoSolidOwner(lost)),
            "deleted (Foreground): owners gone: ReplicaSet web; waiting for dependents: Deployment shop",
        ),
        (
            settled(
                AttemptAction::Enqueued(vec![QueueItem::Observed(uid(&pod("p")))]),
                AttemptReason::WaitingForDependents { blocking: 2 },
            ),
            "queued 1 dependent: waiting for 2 dependents to go first",
        ),
        (
            settled(
                AttemptAction::RemovedFinalizer("orphan"),
                AttemptReason::DependentsOrphaned { dependents: 3 },
            ),
            "removed finalizer orphan: left 3 dependents without it",
        ),
    ] {
        assert_eq!(sentence, expected);
    }
}

/// G3.2: an error says what could not be done to what.
#[test]
fn errors_name_the_object_and_the_message() {
    let p = pod("p").identity;
    let timeout = || Refusal::other("timed out");
    for (error, expected) in [
        (AttemptError::UnknownKind(p.clone()), "failed: no kind Pod is served in v1"),
        (
            AttemptError::ReadFailed(p.clone(), timeout()),
            "failed: cannot read v1/Pod default/p (uid uid-of-p): timed out",
        ),
        (AttemptError::Conflict(p.clone()), "failed: v1/Pod default/p (uid uid-of-p) changed meanwhile"),
    ] {
        assert_eq!(AttemptResult::Failed(error).to_string(), expected);
    }
    assert_eq!(AttemptResult::Absent(p).to_string(), "v1/Pod default/p (uid uid-of-p) does not exist");
}

/// G4.2: the message for a reference of a cluster-scoped object to a namespaced owner.
#[test]
fn a_namespaced_owner_of_a_cluster_scoped_object_is_reported() {
    let n = node("n").owned_by(&replica_set("web"));
    let mut memory = Memory::of(&[&n]);
    let step = memory.attempt(&n);
    let outcome = done(memory.respond(step, ReadResult::Found(n)));
    assert_eq!(
        outcome.to_string(),
        "failed: a cluster-scoped object refers to apps/v1/ReplicaSet web (uid uid-of-web), which is namespaced"
    );
}
