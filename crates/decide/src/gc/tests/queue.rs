//! Queue items, and their disposition after an attempt.

use gantry_model::Refusal;
use gantry_testkit::MetadataBuilder;

use super::{HOLD, Memory, deployment, done, pod, replica_set, uid};
use crate::gc::attempt::ReadResult;
use crate::gc::{
    AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep, ItemDisposition, Propagation,
    QueueItem,
};

/// G3.1: the item of a virtual owner that is not in the graph any more is forgotten.
#[test]
fn a_virtual_item_without_a_node_is_dropped() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    memory.verifies_absent(&web.identity);
    let item = QueueItem::Virtual(uid(&web));
    let outcome = done(memory.attempt_item(&item));
    assert_eq!(
        outcome,
        AttemptResult::Settled { did: AttemptAction::Nothing, why: AttemptReason::NotInGraph }
    );
    assert_eq!(outcome.disposition(&item, &memory.graph), ItemDisposition::Forget);
}

/// G3.1: the item of a virtual owner that was observed since is forgotten without a live read.
#[test]
fn a_virtual_item_that_was_observed_meanwhile_is_dropped() {
    let web = replica_set("web").owned_by(&deployment("shop"));
    let mut memory = Memory::of(&[&pod("p").owned_by(&web), &web]);
    let item = QueueItem::Virtual(uid(&web));
    let outcome = done(memory.attempt_item(&item));
    assert_eq!(
        outcome,
        AttemptResult::Settled { did: AttemptAction::Nothing, why: AttemptReason::MeanwhileObserved }
    );
    assert_eq!(outcome.disposition(&item, &memory.graph), ItemDisposition::Forget);
}

/// G3.1: an observed item, by contrast, is always processed.
#[test]
fn an_observed_item_is_processed() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&web]);
    assert!(matches!(memory.attempt(&web), AttemptStep::Read(identity, _) if identity == web.identity));
}

/// G3.2: the result of the attempt determines whether the item is retried.
#[test]
fn an_item_is_retried_after_transient_errors_and_dropped_otherwise() {
    let p = pod("p");
    let identity = p.identity.clone();
    let refusal = || Refusal::other("internal error");
    let memory = Memory::of(&[&p]);
    for (outcome, expected) in [
        (AttemptResult::Absent(identity.clone()), ItemDisposition::Forget),
        (
            AttemptResult::Failed(AttemptError::NamespacedOwnerOfClusterScoped(identity.clone())),
            ItemDisposition::Forget,
        ),
        (AttemptResult::Failed(AttemptError::UnknownKind(identity.clone())), ItemDisposition::Retry),
        (
            AttemptResult::Failed(AttemptError::ReadFailed(identity.clone(), refusal())),
            ItemDisposition::Retry,
        ),
        (
            AttemptResult::Failed(AttemptError::PatchFailed(identity.clone(), refusal())),
            ItemDisposition::Retry,
        ),
        (
            AttemptResult::Failed(AttemptError::DeleteFailed(identity.clone(), refusal())),
            ItemDisposition::Retry,
        ),
        (AttemptResult::Failed(AttemptError::Conflict(identity.clone())), ItemDisposition::Retry),
        (AttemptResult::Failed(AttemptError::Vanished(identity.clone())), ItemDisposition::Retry),
        (
            AttemptResult::Settled { did: AttemptAction::Nothing, why: AttemptReason::NoOwners },
            ItemDisposition::Forget,
        ),
        (
            AttemptResult::Settled {
                did: AttemptAction::Deleted(Propagation::Background),
                why: AttemptReason::AlreadyDeleting,
            },
            ItemDisposition::Forget,
        ),
    ] {
        assert_eq!(outcome.disposition(&QueueItem::Observed(uid(&p)), &memory.graph), expected, "{outcome}");
    }
}

/// G3.2: errors about unserved kinds, and no others, are too common for a warning.
#[test]
fn errors_about_unknown_kinds_are_not_warnings() {
    let identity = pod("p").identity;
    assert!(AttemptError::UnknownKind(identity.clone()).is_quiet());
    assert!(!AttemptError::Conflict(identity.clone()).is_quiet());
    assert!(!AttemptError::ReadFailed(identity, Refusal::other("")).is_quiet());
}

/// G3.2: an owner that exists but that no watch has shown is polled until one does.
#[test]
fn a_virtual_owner_that_exists_is_retried_until_a_watch_shows_it() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    let item = QueueItem::Virtual(uid(&web));
    let step = memory.attempt_item(&item);
    let outcome = done(memory.finds(step, &web));
    assert_eq!(outcome, AttemptResult::Settled { did: AttemptAction::Nothing, why: AttemptReason::NoOwners });
    assert_eq!(outcome.disposition(&item, &memory.graph), ItemDisposition::Retry);
    memory.sees(&web);
    assert_eq!(outcome.disposition(&item, &memory.graph), ItemDisposition::Forget);
}

/// G3.2: a virtual owner that is found absent is forgotten: the graph is updated.
#[test]
fn a_virtual_owner_that_does_not_exist_is_dropped() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    let item = QueueItem::Virtual(uid(&web));
    let step = memory.attempt_item(&item);
    let outcome = done(memory.respond(step, ReadResult::NotFound));
    assert_eq!(outcome, AttemptResult::Absent(web.identity));
    assert_eq!(outcome.disposition(&item, &memory.graph), ItemDisposition::Forget);
}

/// G4.1, G3.1: an item that was removed from the graph during its live read is left alone.
#[test]
fn an_item_that_is_removed_during_its_live_read_is_left_alone() {
    let p = pod("p").owned_by(&replica_set("web")).held_by(HOLD);
    let mut memory = Memory::of(&[&p]);
    let step = memory.attempt(&p);
    memory.sees_go(&p);
    assert_eq!(
        done(memory.finds(step, &p)),
        AttemptResult::Settled { did: AttemptAction::Nothing, why: AttemptReason::NotInGraph }
    );
}
