//! Owners that are deleted with the orphan policy.

use gantry_model::patch::MetadataPatch;
use gantry_model::{ObjectMetadata, Refusal};
use gantry_testkit::MetadataBuilder;

use super::cluster::Cluster;
use super::{HOLD, Memory, done, node, pod, replica_set, uid, unserved_object, widget};
use crate::gc::attempt::PatchResult;
use crate::gc::orphan::{self, Orphaning, PendingOrphaning};
use crate::gc::{
    AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep, ItemDisposition, Propagation,
    QueueItem,
};

const ORPHAN: &str = "orphan";

fn orphaning_owner(name: &str) -> ObjectMetadata {
    replica_set(name).held_by(ORPHAN).deleting()
}

fn begin(memory: &mut Memory, owner: &ObjectMetadata) -> Orphaning {
    orphan::begin(&uid(owner), &memory.context())
}

fn releases(orphaning: Orphaning) -> (Vec<AttemptStep>, PendingOrphaning) {
    match orphaning {
        Orphaning::Release(steps, afterwards) => (steps, afterwards),
        Orphaning::Done(outcome) => panic!("expected releases, got {outcome}"),
    }
}

/// G7.0: every dependent is released, then the owner's finalizer is removed.
#[test]
fn every_dependent_is_released_and_then_the_finalizer_removed() {
    let web = orphaning_owner("web");
    let (p, q) = (pod("p").blocking(&web), pod("q").owned_by(&web));
    let mut memory = Memory::of(&[&web, &p, &q]);
    let (steps, afterwards) = releases(begin(&mut memory, &web));
    let mut released = Vec::new();
    let mut outcomes = Vec::new();
    for step in steps {
        let AttemptStep::Patch(target, patch, patching) = step else {
            panic!("expected a patch, got {step:?}")
        };
        assert_eq!(patch, MetadataPatch::Release { object: target.uid.clone(), owners: vec![uid(&web)] });
        released.push(target);
        outcomes.push(done(patching.resume(PatchResult::Patched(p.clone()))));
    }
    assert_eq!(released, [p.identity, q.identity]);
    let step = afterwards.resume(outcomes);
    let step = memory.finds(step, &web);
    let AttemptStep::Patch(target, patch, patching) = step else { panic!("expected a patch, got {step:?}") };
    assert_eq!(target, web.identity);
    assert_eq!(patch, MetadataPatch::SetFinalizers { version: "1".into(), finalizers: Vec::new() });
    let outcome = done(patching.resume(PatchResult::Patched(web)));
    let did = AttemptAction::RemovedFinalizer(ORPHAN);
    assert_eq!(
        outcome,
        AttemptResult::Settled { did, why: AttemptReason::DependentsOrphaned { dependents: 2 } }
    );
}

/// G7.0: a dependent that does not exist any more counts as released.
#[test]
fn an_absent_dependent_counts_as_released() {
    let web = orphaning_owner("web");
    let mut memory = Memory::of(&[&web, &pod("p").owned_by(&web)]);
    let (mut steps, afterwards) = releases(begin(&mut memory, &web));
    let Some(AttemptStep::Patch(_, _, patching)) = steps.pop() else { panic!("expected a patch") };
    let outcome = done(patching.resume(PatchResult::NotFound));
    assert!(
        matches!(afterwards.resume(vec![outcome]), AttemptStep::Read(identity, _) if identity == web.identity)
    );
}

/// G7.0: a dependent that could not be released keeps the owner, whose item is retried.
#[test]
fn a_dependent_that_cannot_be_released_keeps_the_owner() {
    let web = orphaning_owner("web");
    let mut memory = Memory::of(&[&web, &pod("p").owned_by(&web), &pod("q").owned_by(&web)]);
    let (steps, afterwards) = releases(begin(&mut memory, &web));
    let responses = [PatchResult::Failed(Refusal::other("no")), PatchResult::NotFound];
    let outcomes = steps.into_iter().zip(responses).map(|(step, response)| match step {
        AttemptStep::Patch(_, _, patching) => done(patching.resume(response)),
        other => panic!("expected a patch, got {other:?}"),
    });
    let outcome = done(afterwards.resume(outcomes.collect()));
    let error = AttemptError::PatchFailed(pod("p").identity, Refusal::other("no"));
    assert_eq!(outcome, AttemptResult::Failed(error));
    assert_eq!(outcome.disposition(&QueueItem::Observed(uid(&web)), &memory.graph), ItemDisposition::Retry);
}

/// G7.0: unserved kinds can be neither orphaned nor finalized.
#[test]
fn unknown_kinds_block_the_end_of_orphaning() {
    let web = orphaning_owner("web");
    let unserved = unserved_object("unserved").owned_by(&web);
    let mut memory = Memory::of(&[&web, &unserved]);
    let (mut steps, _) = releases(begin(&mut memory, &web));
    let unknown = AttemptResult::Failed(AttemptError::UnknownKind(unserved.identity));
    assert_eq!(steps.pop().map(done), Some(unknown));

    let owner = unserved_object("owner").held_by(ORPHAN).deleting();
    let mut memory = Memory::of(&[&owner]);
    let unknown = AttemptResult::Failed(AttemptError::UnknownKind(owner.identity.clone()));
    assert_eq!(begin(&mut memory, &owner), Orphaning::Done(unknown));
}

/// G7.0: an owner whose deletion changed its policy, or that does not exist any more, orphans no dependents.
#[test]
fn an_owner_that_is_absent_or_not_orphaning_orphans_no_dependents() {
    let web = replica_set("web");
    for (seen, why) in [
        (vec![], AttemptReason::NotInGraph),
        (vec![web.clone().held_by("foregroundDeletion").deleting()], AttemptReason::NotOrphaning),
        (vec![web.clone().held_by(HOLD).deleting()], AttemptReason::NotOrphaning),
    ] {
        let mut memory = Memory::of(&seen.iter().collect::<Vec<_>>());
        let outcome = AttemptResult::Settled { did: AttemptAction::Nothing, why };
        assert_eq!(begin(&mut memory, &web), Orphaning::Done(outcome));
    }
}

/// G7.0: the dependents remain, without that owner: pods, custom resources and cluster-scoped objects.
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

/// G7.0: an object that owns itself need not be released from itself.
#[test]
fn an_object_that_owns_itself_can_be_deleted_with_orphaning() {
    let web = replica_set("web");
    let self_owned = web.clone().blocking(&web);
    let mut cluster = Cluster::of(&[&self_owned]);
    cluster.settle().delete(&self_owned, Propagation::Orphan);
    assert!(cluster.uids().is_empty());
    assert_eq!(cluster.log, ["leave [] on ReplicaSet web"]);
}
