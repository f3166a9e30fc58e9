//! The owner graph: the effects of each change. Absences that only a live read has shown are in `refuted`.

use gantry_model::{Identity, Namespace, ObjectMetadata, OwnerReference};
use gantry_testkit::{MetadataBuilder, reference};

use super::{HOLD, Memory, deployment, enqueued, node, pod, replica_set, uid, verify};
use crate::gc::{EVENT_SOURCE, Effect, EnqueueMode, GraphNode, ObjectEvent, Presence};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

fn presence(memory: &Memory, object: &ObjectMetadata) -> Option<Presence> {
    memory.graph.node(&uid(object)).map(GraphNode::presence)
}

fn reports(effects: &[Effect]) -> Vec<&ObjectEvent> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::RecordEvent(report) => Some(report),
            Effect::AttemptToDelete(..) | Effect::AttemptToOrphan(_) => None,
        })
        .collect()
}

/// G1.4: changes are applied one after the other, each to the result of the previous one.
#[test]
fn the_graph_follows_an_object_from_creation_to_deletion() {
    let (web, p) = (replica_set("web"), pod("p"));
    let mut memory = Memory::of(&[&web]);
    memory.sees(&p);
    assert!(memory.graph.dependents(&uid(&web)).next().is_none());
    memory.sees(&pod("p").owned_by(&web));
    assert_eq!(
        memory.graph.dependents(&uid(&web)).map(|node| &node.identity().name).collect::<Vec<_>>(),
        [&p.identity.name]
    );
    memory.sees_go(&p);
    assert_eq!(presence(&memory, &p), None);
    assert!(memory.graph.dependents(&uid(&web)).next().is_none());
    assert_eq!(memory.sees_go(&p), [], "a change that is observed twice has no further effect");
}

/// G2.1: an unknown owner is presumed in the namespace of its dependent, and verified.
#[test]
fn an_unknown_owner_is_presumed_in_its_dependents_namespace_and_verified() {
    let web = replica_set("web").in_namespace("elsewhere");
    let mut memory = Memory::default();
    let effects = memory.sees(&pod("p").in_namespace("shop").owned_by(&web));
    assert_eq!(effects, [verify(&web, EnqueueMode::AtOnce)]);
    let presumed = memory.graph.node(&uid(&web)).unwrap();
    assert_eq!(presumed.presence(), Presence::Virtual);
    assert_eq!(*presumed.identity(), web.identity.in_namespace(Some(Namespace::from("shop"))));
}

/// G2.1: a second dependent of a presumed owner has no effect.
#[test]
fn an_owner_is_presumed_once() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    assert_eq!(memory.sees(&pod("q").owned_by(&web)), []);
}

/// G2.2: the lifecycle state follows from the deletion timestamp and the finalizers.
#[test]
fn the_lifecycle_state_of_a_new_object_follows_from_its_metadata() {
    for (object, expected) in [
        (pod("p"), Presence::Live),
        (pod("p").held_by(FOREGROUND), Presence::Live),
        (pod("p").held_by(HOLD).deleting(), Presence::PendingDelete),
        (pod("p").held_by(FOREGROUND).deleting(), Presence::DeletingDependents),
        (pod("p").held_by(ORPHAN).deleting(), Presence::Orphaning),
    ] {
        let memory = Memory::of(&[&object]);
        assert_eq!(presence(&memory, &object), Some(expected), "{object:?}");
    }
}

/// G2.2, G2.6: an object that is first seen during its foreground deletion is enqueued at once.
#[test]
fn a_new_object_that_waits_for_dependents_is_enqueued() {
    let web = replica_set("web").held_by(FOREGROUND).deleting();
    assert_eq!(Memory::default().sees(&web), [enqueued(&web)]);
}

/// G2.3: references are added and removed with the object's updates.
#[test]
fn an_update_links_new_owners_and_unlinks_old_ones() {
    let (old, new) = (replica_set("old"), replica_set("new"));
    let mut memory = Memory::of(&[&old, &new, &pod("p").owned_by(&old)]);
    assert_eq!(memory.sees(&pod("p").owned_by(&new)), []);
    assert_eq!(memory.graph.dependents(&uid(&old)).count(), 0);
    assert_eq!(memory.graph.dependents(&uid(&new)).count(), 1);
    assert_eq!(memory.graph.node(&uid(&pod("p"))).unwrap().owners(), [reference(&new)]);
}

/// G2.3: an owner that a dependent stops blocking is enqueued, because its deletion may be able to proceed.
#[test]
fn an_owner_is_enqueued_when_a_blocking_reference_is_removed_or_stops_blocking() {
    let web = replica_set("web");
    for after in [pod("p"), pod("p").owned_by(&web)] {
        let mut memory = Memory::of(&[&web, &pod("p").blocking(&web)]);
        assert_eq!(memory.sees(&after), [enqueued(&web)], "{after:?}");
    }
}

/// G2.3: no other change of a reference enqueues its owner.
#[test]
fn an_owner_is_not_enqueued_when_it_was_not_blocked_or_still_is() {
    let web = replica_set("web");
    for (before, after) in [
        (pod("p").owned_by(&web), pod("p")),
        (pod("p").owned_by(&web), pod("p").blocking(&web)),
        (
            pod("p").blocking(&web),
            pod("p").referring(OwnerReference {
                controller: true,
                block_owner_deletion: true,
                ..reference(&web)
            }),
        ),
    ] {
        let mut memory = Memory::of(&[&web, &before]);
        assert_eq!(memory.sees(&after), [], "{before:?} to {after:?}");
    }
}

/// G2.3, G2.1: a presumed owner that is no longer blocked is verified again.
#[test]
fn an_unblocked_owner_that_no_watch_has_shown_is_verified_again() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").blocking(&web)]);
    assert_eq!(memory.sees(&pod("p").owned_by(&web)), [verify(&web, EnqueueMode::AtOnce)]);
}

/// G2.3, G3.2: an error that is never retried ends when the references change, so the object is enqueued then.
#[test]
fn a_cluster_scoped_object_is_enqueued_when_its_references_change() {
    let (web, rack) = (replica_set("web"), node("rack"));
    let (wrong, right) = (node("n").owned_by(&web).owned_by(&rack), node("n").owned_by(&rack));
    let mut memory = Memory::of(&[&web, &rack, &wrong]);
    assert_eq!(memory.sees(&wrong.version("2")), []);
    assert_eq!(memory.sees(&right), [enqueued(&right)]);
    assert_eq!(memory.sees(&node("n")), [], "no owner remains");
}

/// G2.3: an update with a deletion timestamp changes the lifecycle state.
#[test]
fn an_update_can_begin_a_deletion() {
    let p = pod("p").held_by(HOLD);
    let mut memory = Memory::of(&[&p]);
    memory.sees(&p.clone().deleting());
    assert_eq!(presence(&memory, &p), Some(Presence::PendingDelete));
}

/// G2.4, G7.1: an owner in another namespace is out of reach: an event is recorded, and the dependent is enqueued.
#[test]
fn a_dependent_of_an_owner_in_another_namespace_is_reported_and_enqueued() {
    let web = replica_set("web").in_namespace("elsewhere");
    let p = pod("p").owned_by(&web);
    let mut memory = Memory::of(&[&web]);
    let effects = memory.sees(&p);
    assert_eq!(effects.len(), 2);
    assert_eq!(reports(&effects)[0].object, p.identity);
    assert_eq!(effects[1], enqueued(&p));
}

/// G2.4: as long as the owner was not observed, its namespace is only presumed, and no event is recorded.
#[test]
fn a_dependent_of_a_presumed_owner_in_another_namespace_is_enqueued_without_an_event() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    let elsewhere = pod("q").in_namespace("elsewhere").owned_by(&web);
    assert_eq!(memory.sees(&elsewhere), [enqueued(&elsewhere)]);
}

/// G2.4: a reference mismatches if the uid fits but the name, kind or version does not.
#[test]
fn a_dependent_with_a_mismatching_reference_is_enqueued() {
    let web = replica_set("web");
    for wrong in [
        OwnerReference { api_version: "apps/v1beta2".into(), ..reference(&web) },
        OwnerReference { kind: "Deployment".into(), ..reference(&web) },
        OwnerReference { name: "shop".into(), ..reference(&web) },
    ] {
        let p = pod("p").referring(wrong);
        assert_eq!(Memory::of(&[&web]).sees(&p), [enqueued(&p)]);
    }
}

/// G2.4: an object with several mismatching references is enqueued once.
#[test]
fn a_dependent_with_two_mismatching_references_is_queued_once() {
    let (web, shop) = (replica_set("web"), replica_set("shop"));
    let wrong = |owner| OwnerReference { kind: "Deployment".into(), ..reference(owner) };
    let p = pod("p").referring(wrong(&web)).referring(wrong(&shop));
    assert_eq!(Memory::of(&[&web, &shop]).sees(&p), [enqueued(&p)]);
}

/// G2.4: an owner presumed from a cluster-scoped object has no namespace, which may be wrong for namespaced
/// dependents.
#[test]
fn a_namespaced_dependent_of_an_owner_presumed_cluster_scoped_is_enqueued() {
    let rack = node("rack");
    let mut memory = Memory::of(&[&node("n").owned_by(&rack)]);
    let p = pod("p").owned_by(&rack);
    assert_eq!(memory.sees(&p), [enqueued(&p)]);
    assert_eq!(memory.sees(&node("m").owned_by(&rack)), [], "another cluster-scoped dependent agrees");
}

/// G2.4: an owner that is known to be cluster-scoped can be referred to from every namespace.
#[test]
fn dependents_of_an_observed_cluster_scoped_owner_match() {
    let rack = node("rack");
    let mut memory = Memory::of(&[&rack]);
    assert_eq!(memory.sees(&pod("p").owned_by(&rack)), []);
    assert_eq!(memory.sees(&pod("q").in_namespace("elsewhere").owned_by(&rack)), []);
}

/// G2.5: the observed owner has the presumed identity, and nothing has to be done.
#[test]
fn a_presumed_owner_with_the_expected_identity_is_observed() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&pod("p").owned_by(&web)]);
    assert_eq!(memory.sees(&web), []);
    assert_eq!(presence(&memory, &web), Some(Presence::Live));
}

/// G2.5: dependents that mismatch the observed owner are enqueued.
#[test]
fn dependents_that_mismatch_the_observed_owner_are_enqueued() {
    let web = replica_set("web");
    let mistaken = pod("p").referring(OwnerReference { name: "shop".into(), ..reference(&web) });
    let right = pod("q").owned_by(&web);
    let mut memory = Memory::of(&[&mistaken, &right]);
    assert_eq!(memory.sees(&web), [enqueued(&mistaken)]);
    assert_eq!(*memory.graph.node(&uid(&web)).unwrap().identity(), web.identity);
}

/// G2.5, G7.1: of these, the ones in the wrong namespace are reported.
#[test]
fn dependents_of_an_owner_observed_in_another_namespace_are_reported() {
    let web = replica_set("web").in_namespace("elsewhere");
    let p = pod("p").owned_by(&web);
    let mut memory = Memory::of(&[&p]);
    let effects = memory.sees(&web);
    assert_eq!(reports(&effects).len(), 1);
    assert_eq!(reports(&effects)[0].object, p.identity);
    assert_eq!(effects.last(), Some(&enqueued(&p)));
}

/// G2.5: the first observation of a presumed owner may be its deletion.
#[test]
fn the_first_observation_of_a_presumed_owner_may_be_its_deletion() {
    let web = replica_set("web").in_namespace("elsewhere");
    let p = pod("p").owned_by(&web);
    let mut memory = Memory::of(&[&p]);
    let effects = memory.sees_go(&web);
    assert_eq!(reports(&effects).len(), 1);
    assert!(effects.contains(&enqueued(&p)));
    assert!(memory.absent.contains(&web.identity));
    assert_eq!(presence(&memory, &web), None);
}

/// G2.6: an orphaning deletion enqueues the owner for orphaning, and nothing else.
#[test]
fn the_beginning_of_an_orphaning_deletion_queues_the_owner_for_orphaning_only() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&web, &pod("p").blocking(&web)]);
    let orphaning = web.held_by(ORPHAN).deleting();
    assert_eq!(memory.sees(&orphaning), [Effect::AttemptToOrphan(uid(&orphaning))]);
    assert_eq!(memory.sees(&orphaning.version("2")), [], "it began only once");
}

/// G2.6: a foreground deletion enqueues all dependents, blocking or not, and then the owner.
#[test]
fn the_beginning_of_a_foreground_deletion_queues_all_dependents_and_the_owner() {
    let web = replica_set("web");
    let (p, q) = (pod("p").blocking(&web), pod("q").owned_by(&web));
    let mut memory = Memory::of(&[&web, &p, &q]);
    let deleting = web.held_by(FOREGROUND).deleting();
    assert_eq!(memory.sees(&deleting), [enqueued(&p), enqueued(&q), enqueued(&deleting)]);
    assert_eq!(memory.sees(&deleting.version("2")), [], "it began only once");
}

/// G2.6: a deletion whose policy changes has the effects of the new policy.
#[test]
fn a_changed_propagation_policy_has_the_effects_of_the_new_policy() {
    let web = replica_set("web").deleting();
    let (orphaning, foreground) = (web.clone().held_by(ORPHAN), web.clone().held_by(FOREGROUND));
    let mut memory = Memory::of(&[&web.held_by(HOLD)]);
    assert_eq!(memory.sees(&foreground), [enqueued(&foreground)]);
    assert_eq!(memory.sees(&orphaning), [Effect::AttemptToOrphan(uid(&orphaning))]);
    assert_eq!(memory.sees(&foreground), [enqueued(&foreground)]);
}

/// G2.6: a background deletion has no consequences until it is complete.
#[test]
fn the_beginning_of_a_background_deletion_queues_nothing() {
    let web = replica_set("web").held_by(HOLD);
    let mut memory = Memory::of(&[&web, &pod("p").blocking(&web)]);
    assert_eq!(memory.sees(&web.deleting()), []);
}

/// G2.7: the dependents of a deleted object are enqueued, and it is remembered as absent, so that it is not read.
#[test]
fn the_dependents_of_a_deleted_object_are_enqueued_and_it_is_cached_as_absent() {
    let web = replica_set("web");
    let (p, q) = (pod("p").owned_by(&web), pod("q").blocking(&web));
    let mut memory = Memory::of(&[&web, &p, &q]);
    assert_eq!(memory.sees_go(&web), [enqueued(&p), enqueued(&q)]);
    assert!(memory.absent.contains(&web.identity));
    assert!(memory.graph.node(&uid(&web)).is_none());
}

/// G2.7: an object without dependents is not remembered as absent.
#[test]
fn an_object_without_dependents_is_not_cached_as_absent() {
    let web = replica_set("web");
    let mut memory = Memory::of(&[&web]);
    assert_eq!(memory.sees_go(&web), []);
    assert!(memory.absent.is_empty());
}

/// G2.7: an owner that waits for its dependents is enqueued when one is deleted, another owner is not.
#[test]
fn the_owners_that_wait_for_a_deleted_object_are_enqueued() {
    let waiting = deployment("waiting").held_by(FOREGROUND).deleting();
    let live = deployment("live");
    let web = replica_set("web").blocking(&waiting).blocking(&live);
    let mut memory = Memory::of(&[&waiting, &live, &web]);
    assert_eq!(memory.sees_go(&web), [enqueued(&waiting)]);
    assert_eq!(memory.graph.dependents(&uid(&waiting)).count(), 0);
    assert_eq!(memory.graph.dependents(&uid(&live)).count(), 0);
}

/// G2.7: an object that owns itself is not enqueued as its own dependent.
#[test]
fn a_deleted_object_that_owned_itself_is_removed_from_the_graph() {
    let web = replica_set("web");
    let self_owned = replica_set("web").owned_by(&web);
    let mut memory = Memory::of(&[&self_owned]);
    assert_eq!(memory.sees_go(&self_owned), []);
    assert!(memory.absent.is_empty());
    assert_eq!(memory.graph.nodes().count(), 0);
}

/// G7.1: the message as in Kubernetes; the event is in the namespace of the dependent.
#[test]
fn the_report_of_an_owner_in_another_namespace_names_the_reference_and_the_dependents_namespace() {
    let web = replica_set("web").in_namespace("elsewhere");
    let p = pod("p").in_namespace("shop").owned_by(&web);
    let effects = Memory::of(&[&web]).sees(&p);
    let report = reports(&effects)[0];
    assert_eq!(report.event.reason, "OwnerRefInvalidNamespace");
    assert_eq!(report.event.event_type.as_str(), "Warning");
    assert_eq!(
        report.event.message,
        "ownerRef [apps/v1/ReplicaSet, namespace: shop, name: web, uid: uid-of-web] \
         does not exist in namespace \"shop\""
    );
    assert_eq!(report.namespace(), Namespace::from("shop"));
    assert_eq!(EVENT_SOURCE, "garbage-collector-controller");
}

/// G7.1: the message about a cluster-scoped dependent has no namespace, and its event is in `default`.
#[test]
fn the_report_about_a_cluster_scoped_dependent_leaves_the_namespace_empty() {
    let web = replica_set("web").in_namespace("elsewhere");
    let effects = Memory::of(&[&web]).sees(&node("n").owned_by(&web));
    let report = reports(&effects)[0];
    assert_eq!(
        report.event.message,
        "ownerRef [apps/v1/ReplicaSet, namespace: , name: web, uid: uid-of-web] does not exist in namespace \"\""
    );
    assert_eq!(report.object, Identity { namespace: None, ..node("n").identity });
    assert_eq!(report.namespace(), Namespace::from("default"));
}
