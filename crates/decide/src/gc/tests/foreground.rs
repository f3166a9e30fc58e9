//! Owners that are deleted after their dependents.

use gantry_model::patch::MetadataPatch;
use gantry_model::{ObjectMetadata, OwnerReference};
use gantry_testkit::{MetadataBuilder, reference};

use super::cluster::Cluster;
use super::{HOLD, Memory, deployment, done, pod, replica_set, uid};
use crate::gc::attempt::PatchResult;
use crate::gc::{AttemptAction, AttemptReason, AttemptResult, AttemptStep, Propagation, QueueItem};

const FOREGROUND: &str = "foregroundDeletion";

/// A ReplicaSet that is being deleted in the foreground.
fn deleting(name: &str) -> ObjectMetadata {
    replica_set(name).held_by(FOREGROUND).deleting()
}

/// An attempt up to the read of the item.
fn read_item(memory: &mut Memory, item: &ObjectMetadata) -> AttemptStep {
    let step = memory.attempt(item);
    memory.finds(step, item)
}

fn waiting(checked: &[&ObjectMetadata], blocking: usize) -> AttemptResult {
    let items = checked.iter().map(|object| QueueItem::Observed(uid(object))).collect();
    AttemptResult::Settled {
        did: AttemptAction::Enqueued(items),
        why: AttemptReason::WaitingForDependents { blocking },
    }
}

/// G4.3, G5.1, G5.3: an owner in foreground deletion waits for the dependents that block it, and enqueues them.
#[test]
fn an_owner_enqueues_its_blocking_dependents_and_waits() {
    let web = deleting("web");
    let (p, q) = (pod("p").blocking(&web), pod("q").owned_by(&web));
    let mut memory = Memory::of(&[&web, &p, &q]);
    assert_eq!(done(read_item(&mut memory, &web)), waiting(&[&p], 1));
}

/// G4.3: the owners of an object in foreground deletion do not matter.
#[test]
fn an_owner_that_waits_is_not_classified() {
    let web = deleting("web").owned_by(&deployment("shop"));
    let p = pod("p").blocking(&web);
    let mut memory = Memory::of(&[&web, &p]);
    assert_eq!(done(read_item(&mut memory, &web)), waiting(&[&p], 1));
}

/// G5.1: a reference that blocks another owner does not block this one.
#[test]
fn a_dependent_that_blocks_another_owner_does_not_block_this_one() {
    let web = deleting("web");
    let p = pod("p").owned_by(&web).blocking(&replica_set("other"));
    let mut memory = Memory::of(&[&web, &p]);
    assert!(matches!(read_item(&mut memory, &web), AttemptStep::Patch(..)));
}

/// G5.3: a dependent that waits for its own dependents is not enqueued again.
#[test]
fn a_dependent_that_waits_itself_is_awaited_and_not_enqueued() {
    let shop = deployment("shop").held_by(FOREGROUND).deleting();
    let (web, idle) = (deleting("web").blocking(&shop), replica_set("idle").blocking(&shop));
    let mut memory = Memory::of(&[&shop, &web, &idle]);
    assert_eq!(done(read_item(&mut memory, &shop)), waiting(&[&idle], 2));
}

/// G5.2: if no dependent blocks, the finalizer is removed, with the version that was read as precondition.
#[test]
fn an_owner_without_blocking_dependents_loses_its_finalizer() {
    let web = replica_set("web").held_by(HOLD).held_by(FOREGROUND).deleting().version("7");
    let q = pod("q").owned_by(&web);
    let mut memory = Memory::of(&[&web, &q]);
    let step = read_item(&mut memory, &web);
    let AttemptStep::Patch(target, patch, patching) = step else { panic!("expected a patch, got {step:?}") };
    assert_eq!(target, web.identity);
    assert_eq!(
        patch,
        MetadataPatch::SetFinalizers { version: "7".into(), finalizers: vec![HOLD.to_owned()] }
    );
    let outcome = done(patching.resume(PatchResult::Patched(web)));
    let did = AttemptAction::RemovedFinalizer(FOREGROUND);
    assert_eq!(outcome, AttemptResult::Settled { did, why: AttemptReason::NoBlockingDependents });
}

/// G5.2: a finalizer that was removed already counts as success.
#[test]
fn an_owner_that_has_lost_its_finalizer_already_needs_no_patch() {
    let web = deleting("web");
    let mut memory = Memory::of(&[&web]);
    let step = memory.attempt(&web);
    let outcome = done(memory.finds(step, &replica_set("web").held_by(HOLD).deleting()));
    let did = AttemptAction::RemovedFinalizer(FOREGROUND);
    assert_eq!(outcome, AttemptResult::Settled { did, why: AttemptReason::NoBlockingDependents });
}

/// G5.4: dependents that do not block are deleted as well, but not waited for.
#[test]
fn dependents_that_do_not_block_are_deleted_but_not_waited_for() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web).held_by(HOLD);
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle().delete(&web, Propagation::Foreground);
    assert!(!cluster.exists(&web));
    assert!(cluster.api.by_uid(&uid(&p)).unwrap().is_deleting());
}

/// G5.5: the order as a client sees it: the Deployment is marked, then the ReplicaSet, then pods are deleted, then the
/// ReplicaSet, then the Deployment.
#[test]
fn a_deployment_is_deleted_after_its_replica_set_and_that_after_its_pods() {
    let shop = deployment("shop");
    let web = replica_set("web").blocking(&shop);
    let (p, q) = (pod("p").blocking(&web), pod("q").blocking(&web));
    let mut cluster = Cluster::of(&[&shop, &web, &p, &q]);
    cluster.settle().delete(&shop, Propagation::Foreground);
    assert_eq!(
        cluster.log,
        [
            "delete ReplicaSet web Foreground",
            "delete Pod p Background",
            "delete Pod q Background",
            "leave [] on ReplicaSet web",
            "leave [] on Deployment shop",
        ]
    );
    assert!(cluster.uids().is_empty());
}

/// G5.5, G5.3: as long as one pod exists, so do the ReplicaSet and the Deployment.
#[test]
fn a_terminating_pod_keeps_its_owners() {
    let shop = deployment("shop");
    let web = replica_set("web").blocking(&shop);
    let (p, slow) = (pod("p").blocking(&web), pod("slow").blocking(&web).held_by(HOLD));
    let mut cluster = Cluster::of(&[&shop, &web, &p, &slow]);
    cluster.settle().delete(&shop, Propagation::Foreground);
    assert!(!cluster.exists(&p));
    assert!(cluster.exists(&slow) && cluster.exists(&web) && cluster.exists(&shop));

    cluster.api.update(&uid(&slow), |slow| slow.finalizers.clear());
    cluster.settle();

    assert!(cluster.uids().is_empty());
}

/// G5.6: a dependent with another owner stays, and loses its reference to the deleted owner.
#[test]
fn a_dependent_with_another_owner_is_released_and_blocks_no_longer() {
    let (web, other) = (replica_set("web"), replica_set("other"));
    let p = pod("p").blocking(&web).owned_by(&other);
    let mut cluster = Cluster::of(&[&web, &other, &p]);
    cluster.settle().delete(&web, Propagation::Foreground);
    assert!(!cluster.exists(&web));
    assert_eq!(cluster.owners(&p), ["other"]);
    assert_eq!(cluster.log, [r#"release Pod p from ["uid-of-web"]"#, "leave [] on ReplicaSet web"]);
}

/// G5.3: a cycle of waiting objects is broken by the next attempt on any of them.
#[test]
fn an_owner_that_waits_in_a_cycle_unblocks_only_the_owners_in_the_cycle() {
    let (a, b, outside) = (deleting("a"), deleting("b"), deleting("outside"));
    let (a, b) = (a.clone().blocking(&b).blocking(&outside), b.blocking(&a));
    let mut memory = Memory::of(&[&outside, &a, &b]);
    let step = read_item(&mut memory, &a);
    let AttemptStep::Patch(target, patch, patching) = step else { panic!("expected a patch, got {step:?}") };
    assert_eq!(target, a.identity);
    let to_b = OwnerReference { block_owner_deletion: true, ..reference(&b) };
    assert_eq!(patch, MetadataPatch::Unblock { object: uid(&a), references: vec![to_b] });
    let outcome = done(patching.resume(PatchResult::Patched(a.clone())));
    assert_eq!(outcome, waiting(&[], 1));
}

/// G5.3: a chain is not a cycle.
#[test]
fn owners_that_wait_in_a_chain_are_in_no_cycle() {
    let c = deleting("c");
    let b = deleting("b").blocking(&c);
    let a = deleting("a").blocking(&b).blocking(&c);
    let memory = Memory::of(&[&c, &b, &a]);
    for object in [&a, &b, &c] {
        assert!(memory.graph.owners_in_cycle(&uid(object)).is_empty(), "{}", object.identity);
    }
}

/// G5.3: nor is a cycle in which one object does not block, or is not in foreground deletion yet.
#[test]
fn a_cycle_with_an_object_that_does_not_wait_is_not_broken() {
    let (a, b) = (deleting("a"), deleting("b").blocking(&deleting("a")));
    let unblocked = a.clone().owned_by(&b);
    let memory = Memory::of(&[&unblocked, &b]);
    assert!(memory.graph.owners_in_cycle(&uid(&a)).is_empty());

    let live = replica_set("b").blocking(&a);
    let memory = Memory::of(&[&a.clone().blocking(&live), &live]);
    assert!(memory.graph.owners_in_cycle(&uid(&a)).is_empty());
}

/// G5.3: the graph may be stale: a reference that does not block in the live object needs no unblocking.
#[test]
fn a_cycle_that_is_broken_already_needs_no_patch() {
    let (a, b) = (deleting("a"), deleting("b"));
    let (in_ring, b) = (a.clone().blocking(&b), b.blocking(&a));
    let mut memory = Memory::of(&[&in_ring, &b]);
    let step = memory.attempt(&in_ring);
    assert_eq!(done(memory.finds(step, &a.owned_by(&b))), waiting(&[], 1));
}

/// G5.3: an object that owns itself is a cycle of one.
#[test]
fn an_object_that_blocks_itself_can_be_deleted_in_the_foreground() {
    let web = replica_set("web");
    let self_owned = web.clone().blocking(&web);
    let mut cluster = Cluster::of(&[&self_owned]);
    cluster.settle().delete(&self_owned, Propagation::Foreground);
    assert!(cluster.uids().is_empty());
}
