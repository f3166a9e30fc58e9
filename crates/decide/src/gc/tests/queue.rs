//! What the queue holds, and what becomes of it.

use gantry_model::Refusal;
use gantry_testkit::MetadataWords;

use super::{HOLD, Memory, deployment, done, pod, replica_set, uid};
use crate::gc::attempt::ReadAnswer;
use crate::gc::{Deed, Fate, Item, Outcome, Propagation, Step, Trouble, Why};

/// G3.1: an owner that was queued for being unknown, and is no owner any more, is forgotten.
#[test]
fn a_virtual_item_whose_node_is_gone_is_forgotten() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    memory.verifies_absent(&web.identity);
    let item = Item::Virtual(uid(&web));
    let outcome = done(memory.attempt_item(&item));
    assert_eq!(outcome, Outcome::Settled { did: Deed::Nothing, why: Why::NotInGraph });
    assert_eq!(outcome.fate(&item, &memory.graph), Fate::Forget);
}

/// G3.1: an owner that was queued for being unknown, and has been seen since, is forgotten without a live read.
#[test]
fn a_virtual_item_that_was_observed_meanwhile_is_forgotten() {
    let web = replica_set("web").owned_by(&deployment("shop"));
    let mut memory = Memory::of(&[&pod("p").owned_by(&web), &web]);
    let item = Item::Virtual(uid(&web));
    let outcome = done(memory.attempt_item(&item));
    assert_eq!(outcome, Outcome::Settled { did: Deed::Nothing, why: Why::MeanwhileObserved });
    assert_eq!(outcome.fate(&item, &memory.graph), Fate::Forget);
}

/// G3.1: an observed item, by contrast, is always looked at.
#[test]
fn an_observed_item_is_looked_at() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&web]);
    assert!(matches!(memory.attempt(&web), Step::Read(identity, _) if identity == web.identity));
}

/// G3.2: how the attempt ended says whether the item comes back.
#[test]
fn an_item_is_retried_after_trouble_that_may_pass_and_forgotten_otherwise() {
    let p = pod("p");
    let identity = p.identity.clone();
    let refusal = || Refusal::other("the server is on fire");
    let memory = Memory::of(&[&p]);
    for (outcome, expected) in [
        (Outcome::Absent(identity.clone()), Fate::Forget),
        (Outcome::Failed(Trouble::NamespacedOwnerOfClusterScoped(identity.clone())), Fate::Forget),
        (Outcome::Failed(Trouble::UnknownKind(identity.clone())), Fate::Retry),
        (Outcome::Failed(Trouble::ReadFailed(identity.clone(), refusal())), Fate::Retry),
        (Outcome::Failed(Trouble::PatchFailed(identity.clone(), refusal())), Fate::Retry),
        (Outcome::Failed(Trouble::DeleteFailed(identity.clone(), refusal())), Fate::Retry),
        (Outcome::Failed(Trouble::Conflict(identity.clone())), Fate::Retry),
        (Outcome::Failed(Trouble::Vanished(identity.clone())), Fate::Retry),
        (Outcome::Settled { did: Deed::Nothing, why: Why::NoOwners }, Fate::Forget),
        (
            Outcome::Settled { did: Deed::Deleted(Propagation::Background), why: Why::AlreadyDeleting },
            Fate::Forget,
        ),
    ] {
        assert_eq!(outcome.fate(&Item::Observed(uid(&p)), &memory.graph), expected, "{outcome}");
    }
}

/// G3.2: only kinds that nobody serves are too common to be told loudly.
#[test]
fn trouble_with_unknown_kinds_is_told_quietly() {
    let identity = pod("p").identity;
    assert!(Trouble::UnknownKind(identity.clone()).is_quiet());
    assert!(!Trouble::Conflict(identity.clone()).is_quiet());
    assert!(!Trouble::ReadFailed(identity, Refusal::other("")).is_quiet());
}

/// G3.2: an owner that exists but that no watch has shown is polled until one does.
#[test]
fn a_virtual_owner_that_exists_is_retried_until_a_watch_shows_it() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    let item = Item::Virtual(uid(&web));
    let step = memory.attempt_item(&item);
    let outcome = done(memory.finds(step, &web));
    assert_eq!(outcome, Outcome::Settled { did: Deed::Nothing, why: Why::NoOwners });
    assert_eq!(outcome.fate(&item, &memory.graph), Fate::Retry);
    memory.sees(&web);
    assert_eq!(outcome.fate(&item, &memory.graph), Fate::Forget);
}

/// G3.2: a virtual owner that is found absent is forgotten: the graph will hear of it.
#[test]
fn a_virtual_owner_that_does_not_exist_is_forgotten() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    let item = Item::Virtual(uid(&web));
    let step = memory.attempt_item(&item);
    let outcome = done(memory.answer(step, ReadAnswer::NotFound));
    assert_eq!(outcome, Outcome::Absent(web.identity));
    assert_eq!(outcome.fate(&item, &memory.graph), Fate::Forget);
}

/// G4.1, G3.1: an item that left the graph before its live read came back is left alone.
#[test]
fn an_item_that_goes_during_its_live_read_is_left_alone() {
    let p = pod("p").owned_by(&replica_set("web")).held_by(HOLD);
    let mut memory = Memory::of(&[&p]);
    let step = memory.attempt(&p);
    memory.sees_go(&p);
    assert_eq!(done(memory.finds(step, &p)), Outcome::Settled { did: Deed::Nothing, why: Why::NotInGraph });
}
