//! Attempts to delete: from the live read of the item to the decision.

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, OwnerReference, Refusal};
use gantry_testkit::{MetadataBuilder, reference};

use super::{HOLD, Memory, deployment, done, expect_read, node, pod, replica_set, uid, unserved_object};
use crate::gc::attempt::{CollectionDecision, DependentState, Owners, PatchResult, ReadResult, decide};
use crate::gc::{
    AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep, DeleteRequest, Propagation,
    QueueItem,
};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

fn unchanged(why: AttemptReason) -> AttemptResult {
    AttemptResult::Settled { did: AttemptAction::Nothing, why }
}

fn expect_delete(step: AttemptStep) -> DeleteRequest {
    match step {
        AttemptStep::Delete(deletion, _) => deletion,
        other => panic!("expected a deletion, got {other:?}"),
    }
}

/// An attempt up to the request for its first owner: the item was read.
fn with_item_read(memory: &mut Memory, item: &ObjectMetadata) -> AttemptStep {
    let step = memory.attempt(item);
    memory.finds(step, item)
}

/// G4.1: an item that is being deleted is left alone, without a live read; so is one that orphans its dependents.
#[test]
fn an_item_that_is_already_being_deleted_is_left_alone() {
    for p in [pod("p").held_by(HOLD).deleting(), pod("p").held_by(ORPHAN).deleting()] {
        assert_eq!(done(Memory::of(&[&p]).attempt(&p)), unchanged(AttemptReason::AlreadyDeleting));
    }
}

/// G4.1: an item that waits for its dependents is processed although it is being deleted.
#[test]
fn an_item_that_waits_for_its_dependents_is_processed() {
    let web = replica_set("web").held_by(FOREGROUND).deleting();
    assert_eq!(expect_read(Memory::of(&[&web]).attempt(&web)).0, web.identity);
}

/// G4.2: an item of an unserved kind cannot be read; it is retried.
#[test]
fn an_item_of_an_unknown_kind_fails_and_may_be_retried() {
    let unserved = unserved_object("unserved");
    let outcome = done(Memory::of(&[&unserved]).attempt(&unserved));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::UnknownKind(unserved.identity)));
}

/// G4.2: an owner of a namespaced kind that only a cluster-scoped object names cannot be read in any namespace.
#[test]
fn a_namespaced_item_without_a_namespace_fails_for_good() {
    let web = replica_set("web").cluster_scoped();
    let mut memory = Memory::of(&[&node("n").owned_by(&web)]);
    let outcome = done(memory.attempt_item(&QueueItem::Virtual(uid(&web))));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::NamespacedOwnerOfClusterScoped(web.identity)));
}

/// G4.2: a cluster-scoped owner is read without a namespace, although the graph recorded that of its dependent.
#[test]
fn a_cluster_scoped_item_is_read_without_a_namespace_and_reported_absent_under_its_identity_in_the_graph() {
    let rack = node("rack");
    let mut memory = Memory::of(&[&pod("p").owned_by(&rack)]);
    let step = memory.attempt_item(&QueueItem::Virtual(uid(&rack)));
    assert!(matches!(&step, AttemptStep::Read(identity, _) if *identity == rack.identity));
    let known_as = rack.identity.in_namespace(Some("default".into()));
    assert_eq!(done(memory.respond(step, ReadResult::NotFound)), AttemptResult::Absent(known_as));
}

/// G4.2: an item is absent if no object has its name, or one with another uid.
#[test]
fn a_missing_or_different_item_is_absent() {
    let p = pod("p").owned_by(&replica_set("web"));
    for response in [ReadResult::NotFound, ReadResult::Found(p.clone().uid("another"))] {
        let mut memory = Memory::of(&[&p]);
        let step = memory.attempt(&p);
        assert_eq!(done(memory.respond(step, response)), AttemptResult::Absent(p.identity.clone()));
    }
}

/// G4.2: a failed read is no proof of absence.
#[test]
fn an_item_that_cannot_be_read_is_retried() {
    let p = pod("p").owned_by(&replica_set("web"));
    let mut memory = Memory::of(&[&p]);
    let step = memory.attempt(&p);
    let refusal = Refusal::other("timed out");
    let outcome = done(memory.respond(step, ReadResult::Failed(refusal.clone())));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::ReadFailed(p.identity, refusal)));
}

/// G4.4: the live references count, not those in the graph.
#[test]
fn an_item_without_live_owner_references_is_left_alone() {
    let p = pod("p").owned_by(&replica_set("web"));
    let mut memory = Memory::of(&[&p]);
    let step = memory.attempt(&p);
    assert_eq!(done(memory.finds(step, &pod("p"))), unchanged(AttemptReason::NoOwners));
}

/// G4.5: an owner is read in the namespace of its dependent, by exactly the coordinates of the reference.
#[test]
fn a_namespaced_owner_is_read_in_the_namespace_of_the_item() {
    let old_style = OwnerReference { api_version: "apps/v1beta2".into(), ..reference(&replica_set("web")) };
    let p = pod("p").in_namespace("shop").referring(old_style);
    let mut memory = Memory::of(&[&p]);
    let (requested, _) = expect_read(with_item_read(&mut memory, &p));
    let expected =
        Identity { api_version: "apps/v1beta2".into(), ..replica_set("web").in_namespace("shop").identity };
    assert_eq!(requested, expected);
}

/// G4.5: a cluster-scoped owner is read without a namespace.
#[test]
fn a_cluster_scoped_owner_is_read_without_a_namespace() {
    let p = pod("p").owned_by(&node("rack"));
    let mut memory = Memory::of(&[&p]);
    let (requested, _) = expect_read(with_item_read(&mut memory, &p));
    assert_eq!(requested, node("rack").identity);
}

/// G4.5: an existing owner keeps its dependents, whatever its own state, unless it waits for them.
#[test]
fn an_owner_that_exists_keeps_the_item() {
    let web = replica_set("web");
    for owner in [
        web.clone(),
        web.clone().held_by(FOREGROUND),
        web.clone().held_by(HOLD).deleting(),
        web.clone().held_by(ORPHAN).deleting(),
    ] {
        let p = pod("p").owned_by(&web);
        let mut memory = Memory::of(&[&web, &p]);
        let step = with_item_read(&mut memory, &p);
        let outcome = done(memory.finds(step, &owner));
        assert_eq!(outcome, unchanged(AttemptReason::SolidOwners(vec![reference(&web)])), "{owner:?}");
    }
}

/// G4.5: another object of the owner's name is not the owner; in both cases the owner is remembered as absent.
#[test]
fn an_absent_or_different_owner_is_dangling_and_cached_as_absent() {
    let web = replica_set("web");
    for response in [ReadResult::NotFound, ReadResult::Found(web.clone().uid("another"))] {
        let p = pod("p").owned_by(&web);
        let mut memory = Memory::of(&[&p]);
        let step = with_item_read(&mut memory, &p);
        let deletion = expect_delete(memory.respond(step, response));
        assert_eq!(deletion.target, p.identity);
        assert!(memory.absent.contains(&web.identity));
    }
}

/// G4.5: an owner known to be absent is not read; cluster-scoped owners are remembered without a namespace.
#[test]
fn an_owner_known_to_be_absent_is_not_read() {
    for (owner, remembered) in
        [(replica_set("web"), replica_set("web").identity), (node("rack"), node("rack").identity)]
    {
        let p = pod("p").owned_by(&owner);
        let mut memory = Memory::of(&[&p]);
        memory.absent.insert(remembered);
        let deletion = expect_delete(with_item_read(&mut memory, &p));
        assert_eq!(deletion.target, p.identity);
    }
}

/// G4.5: an absent cluster-scoped owner is remembered for dependents in every namespace.
#[test]
fn the_absence_of_a_cluster_scoped_owner_is_cached_without_a_namespace() {
    let rack = node("rack");
    let p = pod("p").owned_by(&rack);
    let mut memory = Memory::of(&[&p]);
    let step = with_item_read(&mut memory, &p);
    expect_delete(memory.respond(step, ReadResult::NotFound));
    let q = pod("q").in_namespace("elsewhere").owned_by(&rack);
    memory.sees(&q);
    assert_eq!(expect_delete(with_item_read(&mut memory, &q)).target, q.identity);
}

/// G4.5: an owner that is absent in one namespace may be present in another.
#[test]
fn the_absence_of_an_owner_in_another_namespace_is_ignored() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web);
    let mut memory = Memory::of(&[&p]);
    memory.absent.insert(web.identity.in_namespace(Some("elsewhere".into())));
    assert_eq!(expect_read(with_item_read(&mut memory, &p)).0, web.identity);
}

/// G4.5: a reference of a cluster-scoped object to a namespaced owner is a permanent error; the object is left alone.
#[test]
fn a_cluster_scoped_item_with_a_namespaced_owner_fails_for_good() {
    let web = replica_set("web").cluster_scoped();
    let n = node("n").owned_by(&web);
    let mut memory = Memory::of(&[&n]);
    let outcome = done(with_item_read(&mut memory, &n));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::NamespacedOwnerOfClusterScoped(web.identity)));
}

/// G4.5: while one owner cannot be classified, nothing is done, whatever the other owners are.
#[test]
fn an_item_is_retried_if_its_owner_cannot_be_read() {
    let (gone, unserved, web) = (replica_set("gone"), unserved_object("unserved"), replica_set("web"));
    let p = pod("p").owned_by(&gone).owned_by(&unserved);
    let mut memory = Memory::of(&[&p]);
    let step = with_item_read(&mut memory, &p);
    let outcome = done(memory.respond(step, ReadResult::NotFound));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::UnknownKind(unserved.identity)));

    let q = pod("q").owned_by(&gone).owned_by(&web);
    memory.sees(&q);
    let step = with_item_read(&mut memory, &q);
    let refusal = Refusal::other("timed out");
    let outcome = done(memory.respond(step, ReadResult::Failed(refusal.clone())));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::ReadFailed(web.identity, refusal)));
}

/// G4.5: one solid owner is enough; exactly the references to the others are removed.
#[test]
fn an_item_with_a_solid_owner_keeps_it_and_loses_the_others() {
    let (gone, solid, waiting) = (replica_set("gone"), replica_set("solid"), replica_set("waiting"));
    let p = pod("p").owned_by(&gone).owned_by(&solid).blocking(&waiting);
    let mut memory = Memory::of(&[&p]);
    let step = with_item_read(&mut memory, &p);
    let step = memory.respond(step, ReadResult::NotFound);
    let step = memory.finds(step, &solid);
    let step = memory.finds(step, &waiting.clone().held_by(FOREGROUND).deleting());
    let AttemptStep::Patch(target, patch, patching) = step else { panic!("expected a patch, got {step:?}") };
    assert_eq!(target, p.identity);
    assert_eq!(patch, MetadataPatch::Release { object: uid(&p), owners: vec![uid(&gone), uid(&waiting)] });
    let outcome = done(patching.resume(PatchResult::Patched(p)));
    let did = AttemptAction::Released(vec![uid(&gone), uid(&waiting)]);
    assert_eq!(
        outcome,
        AttemptResult::Settled { did, why: AttemptReason::SolidOwners(vec![reference(&solid)]) }
    );
}

/// G4.7, G4.8: garbage is deleted with the uid and version that were read as preconditions.
#[test]
fn an_item_without_existing_owners_is_deleted_in_the_background() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web).version("42");
    let mut memory = Memory::of(&[&p]);
    let step = with_item_read(&mut memory, &p);
    let deletion = expect_delete(memory.respond(step, ReadResult::NotFound));
    let expected = DeleteRequest {
        target: p.identity.clone(),
        propagation: Propagation::Background,
        uid: uid(&p),
        version: Some("42".into()),
    };
    assert_eq!(deletion, expected);
}

/// G4.7: the propagation policy that the finalizers on the live object imply is kept.
#[test]
fn the_finalizers_on_garbage_determine_the_propagation_policy() {
    for (finalizer, propagation) in [
        (ORPHAN, Propagation::Orphan),
        (FOREGROUND, Propagation::Foreground),
        (HOLD, Propagation::Background),
    ] {
        let web = replica_set("web").owned_by(&deployment("shop"));
        let mut memory = Memory::of(&[&web]);
        let step = memory.attempt(&web);
        let step = memory.finds(step, &web.clone().held_by(finalizer));
        let deletion = expect_delete(memory.respond(step, ReadResult::NotFound));
        assert_eq!(deletion.propagation, propagation);
    }
}

/// G4.6, G4.7: a dependent of an owner that waits is deleted; in the foreground if it has dependents itself.
#[test]
fn an_item_of_a_waiting_owner_is_deleted_after_its_own_dependents() {
    let shop = deployment("shop");
    let waiting = shop.clone().held_by(FOREGROUND).deleting();
    let web = replica_set("web").blocking(&shop);
    for (seen, propagation) in [
        (vec![&web], Propagation::Background),
        (vec![&web, &pod("p").owned_by(&web)], Propagation::Foreground),
    ] {
        let mut memory = Memory::of(&seen);
        let step = with_item_read(&mut memory, &web);
        assert_eq!(expect_delete(memory.finds(step, &waiting)).propagation, propagation);
    }
}

/// G4.6: a dependent that waits for its own dependents may be waiting for this item.
#[test]
fn an_item_that_may_be_in_a_cycle_stops_blocking_before_it_is_deleted() {
    let shop = deployment("shop");
    let waiting = shop.clone().held_by(FOREGROUND).deleting();
    let web = replica_set("web").blocking(&shop).owned_by(&deployment("gone"));
    let looping = pod("p").blocking(&web).held_by(FOREGROUND).deleting();
    let mut memory = Memory::of(&[&web, &looping]);
    memory.absent.insert(deployment("gone").identity);
    let step = with_item_read(&mut memory, &web);
    let step = memory.finds(step, &waiting);
    let AttemptStep::Patch(_, patch, patching) = step else { panic!("expected a patch, got {step:?}") };
    let blocking = OwnerReference { block_owner_deletion: true, ..reference(&shop) };
    assert_eq!(patch, MetadataPatch::Unblock { object: uid(&web), references: vec![blocking] });

    let unblocked = replica_set("web").owned_by(&shop).owned_by(&deployment("gone")).version("2");
    let deletion = expect_delete(patching.resume(PatchResult::Patched(unblocked)));
    assert_eq!(deletion.propagation, Propagation::Foreground);
    assert_eq!(deletion.version, Some("2".into()), "the patch created a new version");
}

/// G4.6: nothing has to be unblocked if no reference blocks.
#[test]
fn an_item_that_blocks_no_owner_is_deleted_without_a_patch() {
    let shop = deployment("shop");
    let web = replica_set("web").owned_by(&shop);
    let mut memory = Memory::of(&[&web, &pod("p").blocking(&web).held_by(FOREGROUND).deleting()]);
    let step = with_item_read(&mut memory, &web);
    let deletion = expect_delete(memory.finds(step, &shop.held_by(FOREGROUND).deleting()));
    assert_eq!(deletion.propagation, Propagation::Foreground);
}

/// G4.8: an item that got another owner while it was unblocked is not deleted, but retried.
#[test]
fn an_item_that_gets_another_owner_while_it_is_unblocked_is_not_deleted() {
    let shop = deployment("shop");
    let web = replica_set("web").blocking(&shop);
    let mut memory = Memory::of(&[&web, &pod("p").blocking(&web).held_by(FOREGROUND).deleting()]);
    let step = with_item_read(&mut memory, &web);
    let step = memory.finds(step, &shop.clone().held_by(FOREGROUND).deleting());
    let AttemptStep::Patch(_, _, patching) = step else { panic!("expected a patch, got {step:?}") };
    let adopted = replica_set("web").owned_by(&shop).owned_by(&deployment("new"));
    let outcome = done(patching.resume(PatchResult::Patched(adopted)));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::Conflict(web.identity)));
}

/// G4.5, G4.6, G4.7: the decision for each combination of owners and dependents.
#[test]
fn the_decision_follows_from_owners_and_dependents() {
    let p = pod("p").blocking(&replica_set("web"));
    let one = || vec![reference(&replica_set("web"))];
    let other = || vec![reference(&replica_set("other"))];
    let owners = |dangling, waiting, solid| Owners { dangling, waiting, solid };
    let release = CollectionDecision::Release(vec![uid(&replica_set("other"))]);
    let after_dependents = |unblock| CollectionDecision::DeleteAfterDependents { unblock };
    let none = Vec::new;
    for (owners, dependents, expected) in [
        (owners(none(), none(), one()), DependentState::Empty, CollectionDecision::Keep),
        (owners(none(), none(), one()), DependentState::WithWaitingDependent, CollectionDecision::Keep),
        (owners(other(), none(), one()), DependentState::Dependents, release.clone()),
        (owners(none(), other(), one()), DependentState::Dependents, release),
        (owners(one(), none(), none()), DependentState::WithWaitingDependent, CollectionDecision::Delete),
        (owners(one(), other(), none()), DependentState::Empty, CollectionDecision::Delete),
        (owners(one(), other(), none()), DependentState::Dependents, after_dependents(none())),
        (
            owners(none(), one(), none()),
            DependentState::WithWaitingDependent,
            after_dependents(p.owners.clone()),
        ),
    ] {
        assert_eq!(decide(&p, &owners, dependents), expected, "{owners:?} {dependents:?}");
    }
}
