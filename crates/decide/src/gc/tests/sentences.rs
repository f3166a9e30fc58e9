//! How outcomes read.

use gantry_model::Refusal;
use gantry_testkit::{MetadataWords, reference};

use super::{Memory, deployment, done, node, pod, replica_set, uid};
use crate::gc::attempt::{Owners, ReadAnswer};
use crate::gc::{Deed, Item, Outcome, Propagation, Trouble, Why};

fn settled(did: Deed, why: Why) -> String {
    Outcome::Settled { did, why }.to_string()
}

/// G4.5: whoever asks why a pod is still there is told who owns it.
#[test]
fn an_outcome_says_what_was_done_and_why_no_more() {
    let (web, shop) = (reference(&replica_set("web")), reference(&deployment("shop")));
    let lost = Owners { dangling: vec![web.clone()], waiting: vec![shop.clone()], solid: Vec::new() };
    for (sentence, expected) in [
        (settled(Deed::Nothing, Why::NoOwners), "left alone: the object has no owners"),
        (
            settled(Deed::Nothing, Why::SolidOwners(vec![web.clone(), shop])),
            "left alone: it is owned by ReplicaSet web, Deployment shop",
        ),
        (
            settled(Deed::Released(vec![web.uid.clone()]), Why::SolidOwners(vec![web])),
            "removed 1 owner reference: it is owned by ReplicaSet web",
        ),
        (
            settled(Deed::Deleted(Propagation::Foreground), Why::NoSolidOwner(lost)),
            "deleted (Foreground): owners gone: ReplicaSet web; waiting for dependents: Deployment shop",
        ),
        (
            settled(
                Deed::Asked(vec![Item::Observed(uid(&pod("p")))]),
                Why::WaitingForDependents { blocking: 2 },
            ),
            "queued 1 dependent: waiting for 2 dependents to go first",
        ),
        (
            settled(Deed::RemovedFinalizer("orphan"), Why::DependentsOrphaned { dependents: 3 }),
            "removed finalizer orphan: left 3 dependents without it",
        ),
    ] {
        assert_eq!(sentence, expected);
    }
}

/// G3.2: an error says what could not be done to what.
#[test]
fn trouble_names_the_object_and_what_was_said() {
    let p = pod("p").identity;
    let timeout = || Refusal::other("timed out");
    for (trouble, expected) in [
        (Trouble::UnknownKind(p.clone()), "failed: no kind Pod is served in v1"),
        (
            Trouble::ReadFailed(p.clone(), timeout()),
            "failed: cannot read v1/Pod default/p (uid uid-of-p): timed out",
        ),
        (Trouble::Conflict(p.clone()), "failed: v1/Pod default/p (uid uid-of-p) changed meanwhile"),
    ] {
        assert_eq!(Outcome::Failed(trouble).to_string(), expected);
    }
    assert_eq!(Outcome::Absent(p).to_string(), "v1/Pod default/p (uid uid-of-p) does not exist");
}

/// G4.2: the sentence for a reference that can lead nowhere.
#[test]
fn a_namespaced_owner_of_a_cluster_scoped_object_is_called_that() {
    let n = node("n").owned_by(&replica_set("web"));
    let mut memory = Memory::of(&[&n]);
    let step = memory.attempt(&n);
    let outcome = done(memory.answer(step, ReadAnswer::Found(n)));
    assert_eq!(
        outcome.to_string(),
        "failed: a cluster-scoped object refers to apps/v1/ReplicaSet web (uid uid-of-web), which is namespaced"
    );
}
