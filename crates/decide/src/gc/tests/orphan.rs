//! Owners that leave their dependents to themselves.

use gantry_model::patch::MetadataPatch;
use gantry_model::{ObjectMetadata, Refusal};
use gantry_testkit::MetadataWords;

use super::cluster::Cluster;
use super::{HOLD, Memory, done, ghost, node, pod, replica_set, uid, widget};
use crate::gc::attempt::PatchAnswer;
use crate::gc::orphan::{self, Afterwards, Orphaning};
use crate::gc::{Deed, Fate, Item, Outcome, Propagation, Step, Trouble, Why};

const ORPHAN: &str = "orphan";

fn parting(name: &str) -> ObjectMetadata {
    replica_set(name).held_by(ORPHAN).deleting()
}

fn begin(memory: &mut Memory, owner: &ObjectMetadata) -> Orphaning {
    orphan::begin(&uid(owner), &memory.knowledge())
}

fn releases(orphaning: Orphaning) -> (Vec<Step>, Afterwards) {
    match orphaning {
        Orphaning::Release(steps, afterwards) => (steps, afterwards),
        Orphaning::Done(outcome) => panic!("wanted releases, got {outcome}"),
    }
}

/// G7.0: every dependent is freed, then the owner may go.
#[test]
fn every_dependent_is_released_and_then_the_finalizer_removed() {
    let web = parting("web");
    let (p, q) = (pod("p").blocking(&web), pod("q").owned_by(&web));
    let mut memory = Memory::of(&[&web, &p, &q]);
    let (steps, afterwards) = releases(begin(&mut memory, &web));
    let mut freed = Vec::new();
    let mut outcomes = Vec::new();
    for step in steps {
        let Step::Patch(target, patch, patching) = step else { panic!("wanted a patch, got {step:?}") };
        assert_eq!(patch, MetadataPatch::Release { object: target.uid.clone(), owners: vec![uid(&web)] });
        freed.push(target);
        outcomes.push(done(patching.resume(PatchAnswer::Patched(p.clone()))));
    }
    assert_eq!(freed, [p.identity, q.identity]);
    let step = afterwards.resume(outcomes);
    let step = memory.finds(step, &web);
    let Step::Patch(target, patch, patching) = step else { panic!("wanted a patch, got {step:?}") };
    assert_eq!(target, web.identity);
    assert_eq!(patch, MetadataPatch::SetFinalizers { version: "1".into(), finalizers: Vec::new() });
    let outcome = done(patching.resume(PatchAnswer::Patched(web)));
    let did = Deed::RemovedFinalizer(ORPHAN);
    assert_eq!(outcome, Outcome::Settled { did, why: Why::DependentsOrphaned { dependents: 2 } });
}

/// G7.0: a dependent that is gone needs no freeing.
#[test]
fn a_dependent_that_is_gone_counts_as_released() {
    let web = parting("web");
    let mut memory = Memory::of(&[&web, &pod("p").owned_by(&web)]);
    let (mut steps, afterwards) = releases(begin(&mut memory, &web));
    let Some(Step::Patch(_, _, patching)) = steps.pop() else { panic!("wanted a patch") };
    let outcome = done(patching.resume(PatchAnswer::NotFound));
    assert!(matches!(afterwards.resume(vec![outcome]), Step::Read(identity, _) if identity == web.identity));
}

/// G7.0: one that could not be freed keeps the owner, whose item is retried.
#[test]
fn a_dependent_that_cannot_be_released_keeps_the_owner() {
    let web = parting("web");
    let mut memory = Memory::of(&[&web, &pod("p").owned_by(&web), &pod("q").owned_by(&web)]);
    let (steps, afterwards) = releases(begin(&mut memory, &web));
    let answers = [PatchAnswer::Failed(Refusal::other("no")), PatchAnswer::NotFound];
    let outcomes = steps.into_iter().zip(answers).map(|(step, answer)| match step {
        Step::Patch(_, _, patching) => done(patching.resume(answer)),
        other => panic!("wanted a patch, got {other:?}"),
    });
    let outcome = done(afterwards.resume(outcomes.collect()));
    let trouble = Trouble::PatchFailed(pod("p").identity, Refusal::other("no"));
    assert_eq!(outcome, Outcome::Failed(trouble));
    assert_eq!(outcome.fate(&Item::Observed(uid(&web)), &memory.graph), Fate::Retry);
}

/// G7.0: kinds that nobody serves can be neither freed nor finalized.
#[test]
fn unknown_kinds_keep_an_orphaning_from_ending() {
    let web = parting("web");
    let casper = ghost("casper").owned_by(&web);
    let mut memory = Memory::of(&[&web, &casper]);
    let (mut steps, _) = releases(begin(&mut memory, &web));
    let unknown = Outcome::Failed(Trouble::UnknownKind(casper.identity));
    assert_eq!(steps.pop().map(done), Some(unknown));

    let owner = ghost("owner").held_by(ORPHAN).deleting();
    let mut memory = Memory::of(&[&owner]);
    let unknown = Outcome::Failed(Trouble::UnknownKind(owner.identity.clone()));
    assert_eq!(begin(&mut memory, &owner), Orphaning::Done(unknown));
}

/// G7.0: what the deletion has become in the meantime counts, and what is gone is gone.
#[test]
fn an_owner_that_is_gone_or_deleted_in_another_way_orphans_nobody() {
    let web = replica_set("web");
    for (seen, why) in [
        (vec![], Why::NotInGraph),
        (vec![web.clone().held_by("foregroundDeletion").deleting()], Why::NotOrphaning),
        (vec![web.clone().held_by(HOLD).deleting()], Why::NotOrphaning),
    ] {
        let mut memory = Memory::of(&seen.iter().collect::<Vec<_>>());
        let outcome = Outcome::Settled { did: Deed::Nothing, why };
        assert_eq!(begin(&mut memory, &web), Orphaning::Done(outcome));
    }
}

/// G7.0: the dependents run on without that owner: pods, custom resources, and whatever lives in no namespace.
#[test]
fn dependents_survive_an_orphaning_deletion() {
    let rack = node("rack");
    let (p, w, n) = (pod("p").blocking(&rack), widget("w").owned_by(&rack), node("n").owned_by(&rack));
    let mut cluster = Cluster::of(&[&rack, &p, &w, &n]);
    cluster.settle().delete(&rack, Propagation::Orphan);
    assert!(!cluster.exists(&rack));
    for survivor in [&p, &w, &n] {
        assert!(cluster.exists(survivor));
        assert!(cluster.owners(survivor).is_empty());
    }
}

/// G7.0: an object that owns itself frees itself by going.
#[test]
fn an_object_that_owns_itself_can_be_deleted_with_orphaning() {
    let web = replica_set("web");
    let narcissus = web.clone().blocking(&web);
    let mut cluster = Cluster::of(&[&narcissus]);
    cluster.settle().delete(&narcissus, Propagation::Orphan);
    assert!(cluster.uids().is_empty());
    assert_eq!(cluster.log, ["leave [] on ReplicaSet web"]);
}
