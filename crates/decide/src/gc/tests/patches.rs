//! Patches that are refused, and the fallbacks. Their bodies are tested in `gantry-model`.

use std::time::Duration;

use gantry_model::patch::MetadataPatch;
use gantry_model::{ObjectMetadata, OwnerReference, Refusal};
use gantry_testkit::{MetadataBuilder, reference};

use super::{HOLD, Memory, done, expect_read, pod, replica_set, widget};
use crate::gc::attempt::{
    FINALIZER_PATCH_TRIES, FINALIZER_RETRY_JITTER, PatchResult, PendingPatch, ReadResult,
    finalizer_retry_delay,
};
use crate::gc::{AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep};

const FOREGROUND: &str = "foregroundDeletion";

fn expect_patch(step: AttemptStep) -> (MetadataPatch, PendingPatch) {
    match step {
        AttemptStep::Patch(_, patch, patching) => (patch, patching),
        other => panic!("expected a patch, got {other:?}"),
    }
}

/// A widget with one absent and one solid owner.
fn half_orphan() -> ObjectMetadata {
    widget("w").owned_by(&replica_set("gone")).owned_by(&replica_set("solid"))
}

/// An attempt up to the patch that removes the dangling reference.
fn about_to_release(memory: &mut Memory) -> PendingPatch {
    memory.sees(&half_orphan());
    memory.absent.insert(replica_set("gone").identity);
    let step = memory.attempt(&half_orphan());
    let step = memory.finds(step, &half_orphan());
    expect_patch(memory.finds(step, &replica_set("solid"))).1
}

/// G6.1: a kind without strategic merge gets the remaining owners, from a new read, with its version as precondition.
#[test]
fn a_kind_without_strategic_merge_gets_the_remaining_owners_as_a_whole() {
    let mut memory = Memory::default();
    let step = about_to_release(&mut memory).resume(PatchResult::UnsupportedForm);
    assert!(matches!(&step, AttemptStep::Read(identity, _) if *identity == half_orphan().identity));
    let fresh = half_orphan().owned_by(&replica_set("new")).version("9");
    let (patch, patching) = expect_patch(memory.finds(step, &fresh));
    let remaining = vec![reference(&replica_set("solid")), reference(&replica_set("new"))];
    assert_eq!(patch, MetadataPatch::SetOwners { version: "9".into(), owners: remaining });
    assert!(matches!(
        done(patching.resume(PatchResult::Patched(fresh))),
        AttemptResult::Settled { did: AttemptAction::Released(_), why: AttemptReason::SolidOwners(_) }
    ));
}

/// G6.1: after any other refusal the item is retried later.
#[test]
fn a_release_that_is_refused_is_retried_later() {
    let identity = half_orphan().identity;
    let refusal = Refusal::other("refused by a webhook");
    for (response, error) in [
        (PatchResult::NotFound, AttemptError::Vanished(identity.clone())),
        (PatchResult::Conflict, AttemptError::Conflict(identity.clone())),
        (PatchResult::Failed(refusal.clone()), AttemptError::PatchFailed(identity.clone(), refusal)),
    ] {
        let patching = about_to_release(&mut Memory::default());
        assert_eq!(done(patching.resume(response)), AttemptResult::Failed(error));
    }
}

/// G6.1: the fallback can fail in the same ways, and there is no third form.
#[test]
fn a_fallback_that_is_refused_is_retried_later() {
    let identity = half_orphan().identity;
    let mut memory = Memory::default();
    let read = |memory: &mut Memory| about_to_release(memory).resume(PatchResult::UnsupportedForm);
    for response in [ReadResult::NotFound, ReadResult::Found(half_orphan().uid("another"))] {
        let step = read(&mut memory);
        assert_eq!(
            done(memory.respond(step, response)),
            AttemptResult::Failed(AttemptError::Vanished(identity.clone()))
        );
    }
    let step = read(&mut memory);
    let (_, patching) = expect_patch(memory.finds(step, &half_orphan()));
    assert!(matches!(
        done(patching.resume(PatchResult::UnsupportedForm)),
        AttemptResult::Failed(AttemptError::PatchFailed(..))
    ));
    let step = read(&mut memory);
    let refusal = Refusal::other("timed out");
    assert_eq!(
        done(memory.respond(step, ReadResult::Failed(refusal.clone()))),
        AttemptResult::Failed(AttemptError::ReadFailed(identity, refusal))
    );
}

/// G6.2: unblocking falls back to the whole list as well, and the deletion follows.
#[test]
fn a_kind_without_strategic_merge_is_unblocked_by_its_whole_list() {
    let (owner, gone) = (replica_set("owner"), replica_set("gone"));
    let w = widget("w").blocking(&owner).owned_by(&gone);
    let mut memory = Memory::of(&[&w, &pod("p").blocking(&w).held_by(FOREGROUND).deleting()]);
    memory.absent.insert(gone.identity.clone());
    let step = memory.attempt(&w);
    let step = memory.finds(step, &w);
    let (_, patching) = expect_patch(memory.finds(step, &owner.clone().held_by(FOREGROUND).deleting()));
    let step = patching.resume(PatchResult::UnsupportedForm);
    let (patch, patching) = expect_patch(memory.finds(step, &w.clone().version("3")));
    let unblocked = vec![reference(&owner), reference(&gone)];
    assert_eq!(patch, MetadataPatch::SetOwners { version: "3".into(), owners: unblocked.clone() });
    let patched = ObjectMetadata { owners: unblocked, ..w }.version("4");
    let step = patching.resume(PatchResult::Patched(patched));
    assert!(matches!(step, AttemptStep::Delete(deletion, _) if deletion.version == Some("4".into())));
}

/// G6.2: only the references that are to be unblocked change.
#[test]
fn unblocking_by_the_whole_list_leaves_other_references_as_they_are() {
    let (a, b) = (replica_set("a"), widget("b").held_by(FOREGROUND).deleting());
    let outside = OwnerReference { block_owner_deletion: true, ..reference(&a) };
    let cycle = b.clone().referring(outside.clone()).blocking(&b);
    let mut memory = Memory::of(&[&cycle]);
    let step = memory.attempt(&cycle);
    let (_, patching) = expect_patch(memory.finds(step, &cycle));
    let (_, reading) = expect_read(patching.resume(PatchResult::UnsupportedForm));
    let (patch, _) = expect_patch(reading.resume(ReadResult::Found(cycle), &mut memory.context()));
    assert_eq!(patch, MetadataPatch::SetOwners { version: "1".into(), owners: vec![outside, reference(&b)] });
}

/// An owner without blocking dependents, and the attempt to remove its finalizer.
fn about_to_finalize(memory: &mut Memory) -> (ObjectMetadata, PendingPatch) {
    let web = replica_set("web").held_by(FOREGROUND).deleting();
    memory.sees(&web);
    let step = memory.attempt(&web);
    let (_, patching) = expect_patch(memory.finds(step, &web));
    (web, patching)
}

/// G6.3: after a conflict the removal waits for 10, 50 and 250 ms; each time the object is read again.
#[test]
fn the_removal_of_a_finalizer_is_tried_four_times() {
    let mut memory = Memory::default();
    let (web, mut patching) = about_to_finalize(&mut memory);
    for (millis, version) in [(10, "2"), (50, "3"), (250, "4")] {
        let AttemptStep::Wait(delay, waiting) = patching.resume(PatchResult::Conflict) else {
            panic!("expected a wait")
        };
        assert_eq!(delay, Duration::from_millis(millis));
        let fresh = web.clone().held_by(HOLD).version(version);
        let (patch, next) = expect_patch(memory.finds(waiting.resume(), &fresh));
        let finalizers = vec![HOLD.to_owned()];
        assert_eq!(patch, MetadataPatch::SetFinalizers { version: version.into(), finalizers });
        patching = next;
    }
    let outcome = done(patching.resume(PatchResult::Conflict));
    assert_eq!(
        outcome,
        AttemptResult::Failed(AttemptError::Conflict(web.identity)),
        "the item is retried later"
    );
}

/// G6.3: the delays in numbers.
#[test]
fn the_waits_between_tries_grow_fivefold() {
    let delays: Vec<_> = (0..=FINALIZER_PATCH_TRIES).map(finalizer_retry_delay).collect();
    let millis = |n| Some(Duration::from_millis(n));
    assert_eq!(delays, [millis(0), millis(10), millis(50), millis(250), None]);
    assert_eq!(finalizer_retry_delay(u32::MAX), None);
    assert!((FINALIZER_RETRY_JITTER - 0.1).abs() < f64::EPSILON);
}

/// G6.3: an object that does not exist any more has no finalizers.
#[test]
fn a_finalizer_of_an_absent_object_needs_no_removal() {
    let settled = AttemptResult::Settled {
        did: AttemptAction::RemovedFinalizer(FOREGROUND),
        why: AttemptReason::NoBlockingDependents,
    };
    let mut memory = Memory::default();
    let (_, patching) = about_to_finalize(&mut memory);
    assert_eq!(done(patching.resume(PatchResult::NotFound)), settled);

    for response in
        [ReadResult::NotFound, ReadResult::Found(replica_set("web").uid("another").held_by(FOREGROUND))]
    {
        let (_, patching) = about_to_finalize(&mut memory);
        let AttemptStep::Wait(_, waiting) = patching.resume(PatchResult::Conflict) else {
            panic!("expected a wait")
        };
        assert_eq!(done(memory.respond(waiting.resume(), response)), settled);
    }
}

/// G6.3: after other refusals the item is retried later.
#[test]
fn a_removal_that_fails_is_retried_later() {
    let mut memory = Memory::default();
    let refusal = Refusal::other("refused by a webhook");
    let (web, patching) = about_to_finalize(&mut memory);
    let identity = web.identity;
    assert_eq!(
        done(patching.resume(PatchResult::Failed(refusal.clone()))),
        AttemptResult::Failed(AttemptError::PatchFailed(identity.clone(), refusal.clone()))
    );
    let (_, patching) = about_to_finalize(&mut memory);
    assert!(matches!(
        done(patching.resume(PatchResult::UnsupportedForm)),
        AttemptResult::Failed(AttemptError::PatchFailed(..))
    ));
    let (_, patching) = about_to_finalize(&mut memory);
    let AttemptStep::Wait(_, waiting) = patching.resume(PatchResult::Conflict) else {
        panic!("expected a wait")
    };
    assert_eq!(
        done(memory.respond(waiting.resume(), ReadResult::Failed(refusal.clone()))),
        AttemptResult::Failed(AttemptError::ReadFailed(identity, refusal))
    );
}
