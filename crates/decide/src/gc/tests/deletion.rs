//! Delete requests that are refused.

use gantry_model::{ObjectMetadata, OwnerReference, Refusal};
use gantry_testkit::{MetadataBuilder, reference};

use super::{Memory, done, pod, replica_set, uid};
use crate::gc::attempt::{DeleteResult, PendingDelete, ReadResult};
use crate::gc::{
    AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep, DeleteRequest, Propagation,
};

/// A pod whose owner is gone, read in version 1.
fn garbage() -> ObjectMetadata {
    pod("p").owned_by(&replica_set("web"))
}

fn expect_delete(step: AttemptStep) -> (DeleteRequest, PendingDelete) {
    match step {
        AttemptStep::Delete(deletion, deleting) => (deletion, deleting),
        other => panic!("expected a deletion, got {other:?}"),
    }
}

/// An attempt up to the delete request.
fn about_to_delete(memory: &mut Memory) -> PendingDelete {
    memory.sees(&garbage());
    memory.absent.insert(replica_set("web").identity);
    let step = memory.attempt(&garbage());
    expect_delete(memory.finds(step, &garbage())).1
}

/// An attempt whose delete request was refused with a conflict, and that reads the object again.
fn in_conflict(memory: &mut Memory) -> AttemptStep {
    let step = about_to_delete(memory).resume(DeleteResult::Conflict);
    assert!(matches!(&step, AttemptStep::Read(identity, _) if *identity == garbage().identity));
    step
}

/// G4.8: the result says what was done, and why.
#[test]
fn an_accepted_deletion_settles_the_item() {
    let outcome = done(about_to_delete(&mut Memory::default()).resume(DeleteResult::Accepted));
    let AttemptResult::Settled {
        did: AttemptAction::Deleted(Propagation::Background),
        why: AttemptReason::NoSolidOwner(owners),
    } = outcome
    else {
        panic!("{outcome:?}")
    };
    assert_eq!(owners.dangling, [reference(&replica_set("web"))]);
}

/// G4.8: if the object does not exist any more, the result is its absence.
#[test]
fn a_deletion_of_an_absent_object_updates_the_graph() {
    let outcome = done(about_to_delete(&mut Memory::default()).resume(DeleteResult::NotFound));
    assert_eq!(outcome, AttemptResult::Absent(garbage().identity));
}

/// G4.8: other refusals are retried later.
#[test]
fn a_deletion_that_fails_is_retried() {
    let refusal = Refusal::other("refused by a webhook");
    let outcome = done(about_to_delete(&mut Memory::default()).resume(DeleteResult::Failed(refusal.clone())));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::DeleteFailed(garbage().identity, refusal)));
}

/// G4.8: after a change that left the owners alone the object is still deleted; the uid remains a precondition.
#[test]
fn garbage_with_unchanged_owners_is_deleted_at_any_version() {
    let mut memory = Memory::default();
    let step = in_conflict(&mut memory);
    let (deletion, deleting) = expect_delete(memory.finds(step, &garbage().version("2")));
    let expected = DeleteRequest {
        target: garbage().identity,
        propagation: Propagation::Background,
        uid: uid(&garbage()),
        version: None,
    };
    assert_eq!(deletion, expected);
    let outcome = done(deleting.resume(DeleteResult::Conflict));
    assert_eq!(
        outcome,
        AttemptResult::Failed(AttemptError::Conflict(garbage().identity)),
        "the second refusal is the last"
    );
}

/// G4.8, G4.7: an orphan finalizer that was added in the meantime determines the propagation policy.
#[test]
fn an_orphan_finalizer_added_meanwhile_determines_the_policy() {
    let mut memory = Memory::default();
    let step = in_conflict(&mut memory);
    let (deletion, _) = expect_delete(memory.finds(step, &garbage().held_by("orphan").version("2")));
    assert_eq!(deletion.propagation, Propagation::Orphan);
}

/// G4.8: after any other change the item is retried later.
#[test]
fn a_conflict_with_changed_owners_or_without_a_change_is_retried_later() {
    let adopted = garbage().owned_by(&replica_set("new")).version("2");
    let blocking = OwnerReference { block_owner_deletion: true, ..reference(&replica_set("web")) };
    let changed_reference = pod("p").referring(blocking).version("2");
    for now in [adopted, changed_reference, garbage().uid("another").version("2"), garbage()] {
        let mut memory = Memory::default();
        let step = in_conflict(&mut memory);
        let outcome = done(memory.finds(step, &now));
        assert_eq!(outcome, AttemptResult::Failed(AttemptError::Conflict(garbage().identity)), "{now:?}");
    }
}

/// G4.8: the conflict was caused by the deletion of the object.
#[test]
fn a_conflict_over_an_absent_object_updates_the_graph() {
    let mut memory = Memory::default();
    let step = in_conflict(&mut memory);
    assert_eq!(done(memory.respond(step, ReadResult::NotFound)), AttemptResult::Absent(garbage().identity));
}

/// G4.8: if the read after a conflict fails, the item is retried later.
#[test]
fn a_conflict_that_cannot_be_explained_is_retried_later() {
    let mut memory = Memory::default();
    let step = in_conflict(&mut memory);
    let refusal = Refusal::other("timed out");
    let outcome = done(memory.respond(step, ReadResult::Failed(refusal.clone())));
    assert_eq!(outcome, AttemptResult::Failed(AttemptError::ReadFailed(garbage().identity, refusal)));
}
