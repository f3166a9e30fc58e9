//! The situations in which a garbage collector can be, from creation until it settles. The rows are those of G8.

use gantry_model::OwnerReference;
use gantry_testkit::{MetadataBuilder, object, reference};

use super::cluster::Cluster;
use super::{HOLD, deployment, node, pod, replica_set, uid, unserved_object, widget};
use crate::gc::{GraphNode, Presence, Propagation, QueueItem};

/// G8 row 1, G7.1: the owner is read in the namespace of the child, and does not exist there.
#[test]
fn a_child_of_an_owner_in_another_namespace_is_reported_and_deleted() {
    let web = replica_set("web").in_namespace("elsewhere");
    let p = pod("p").owned_by(&web);
    for order in [[&web, &p], [&p, &web]] {
        let mut cluster = Cluster::of(&order);
        cluster.settle();
        assert!(!cluster.exists(&p) && cluster.exists(&web));
        assert_eq!(cluster.reports.len(), 1);
        assert_eq!(cluster.reports[0].object, p.identity);
    }
}

/// G8 row 2, G4.5: a reference that cannot be resolved is reported and left alone, also after the owner is deleted.
#[test]
fn a_cluster_scoped_child_of_a_namespaced_owner_is_reported_and_kept_without_retries() {
    let web = replica_set("web");
    let n = node("n").owned_by(&web);
    for order in [[&web, &n], [&n, &web]] {
        let mut cluster = Cluster::of(&order);
        cluster.settle().delete(&web, Propagation::Background);
        assert!(cluster.exists(&n) && !cluster.exists(&web));
        assert!(!cluster.is_retrying(&n) && !cluster.is_retrying(&web));
        assert_eq!(cluster.reports.len(), 1);
    }
}

/// G8 row 3, G2.4: cluster-scoped owners can be referred to from every namespace, and their dependents are collected.
#[test]
fn children_of_a_cluster_scoped_owner_are_collected_with_it_in_any_namespace() {
    let rack = node("rack");
    let (p, q) = (pod("p").owned_by(&rack), pod("q").in_namespace("elsewhere").owned_by(&rack));
    let n = node("n").owned_by(&rack);
    for order in [[&rack, &p, &q, &n], [&p, &q, &n, &rack], [&n, &q, &rack, &p]] {
        let mut cluster = Cluster::of(&order);
        cluster.settle();
        assert_eq!(cluster.uids().len(), 4);
        assert!(cluster.reports.is_empty());
        cluster.delete(&rack, Propagation::Background);
        assert!(cluster.uids().is_empty());
    }
}

/// G8 row 4, G4.5: a reference may name a version that is served but not watched.
#[test]
fn a_child_that_names_its_owner_in_another_version_is_collected_with_it() {
    let web = replica_set("web");
    let old_style = OwnerReference { api_version: "apps/v1beta2".into(), ..reference(&web) };
    let p = pod("p").referring(old_style);
    for order in [[&web, &p], [&p, &web]] {
        let mut cluster = Cluster::of(&order);
        cluster.settle();
        assert!(cluster.exists(&p));
        cluster.delete(&web, Propagation::Background);
        assert!(!cluster.exists(&p));
    }
}

/// G8 row 5, G3.2: an unreadable owner is retried, and delays no other object.
#[test]
fn a_child_of_an_unknown_kind_is_kept_and_retried_while_its_siblings_are_deleted() {
    let web = replica_set("web");
    let unserved = OwnerReference { api_version: "apps/v0".into(), ..reference(&web) };
    let (lost, sibling) = (pod("lost").referring(unserved), pod("sibling").owned_by(&web));
    for order in [[&lost, &sibling, &web], [&web, &sibling, &lost]] {
        let mut cluster = Cluster::of(&order);
        cluster.settle().delete(&web, Propagation::Background);
        assert!(cluster.exists(&lost) && !cluster.exists(&sibling));
        assert!(cluster.is_retrying(&lost));
    }
}

/// G8 row 5: the same for an owner that was never observed.
#[test]
fn a_child_of_an_unlisted_owner_is_kept() {
    let unserved = unserved_object("unserved");
    let p = pod("p").owned_by(&unserved);
    let mut cluster = Cluster::of(&[&p]);
    cluster.settle();
    assert!(cluster.exists(&p));
    assert!(cluster.is_retrying(&unserved));
}

/// G8 row 6, G2.1, G2.8: an owner that never existed is like one that was deleted.
#[test]
fn a_child_of_an_owner_that_does_not_exist_is_deleted() {
    for p in [pod("p").owned_by(&replica_set("web")), pod("p").owned_by(&node("rack"))] {
        let mut cluster = Cluster::of(&[&p]);
        cluster.settle();
        assert!(cluster.uids().is_empty());
        assert_eq!(cluster.memory.graph.nodes().count(), 0, "the graph is empty, too");
    }
}

/// G8 row 7, G2.7: the owner is deleted at once, then its children, then theirs.
#[test]
fn children_are_deleted_after_an_owner_that_is_deleted_in_the_background() {
    let shop = deployment("shop");
    let web = replica_set("web").blocking(&shop);
    let p = pod("p").blocking(&web);
    let mut cluster = Cluster::of(&[&shop, &web, &p]);
    cluster.settle().delete(&shop, Propagation::Background);
    assert_eq!(cluster.log, ["delete ReplicaSet web Background", "delete Pod p Background"]);
    assert!(cluster.uids().is_empty());
}

/// G8 row 8, G4.5: an owner with a finalizer of another component still exists.
#[test]
fn children_are_kept_while_their_owner_has_a_finalizer() {
    let web = replica_set("web").held_by(HOLD);
    let p = pod("p").blocking(&web);
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle().delete(&web, Propagation::Background);
    assert!(cluster.api.by_uid(&uid(&web)).unwrap().is_deleting());
    assert!(cluster.exists(&p));

    cluster.api.update(&uid(&web), |web| web.finalizers.clear());
    cluster.settle();

    assert!(cluster.uids().is_empty());
}

/// G8 row 9, G4.2, G4.5: another object of the owner's name is not the owner.
#[test]
fn old_children_are_deleted_although_another_object_of_the_same_name_exists() {
    let (web, another) = (replica_set("web"), replica_set("web").uid("another"));
    let (p, q) = (pod("p").owned_by(&web), pod("q").owned_by(&another));
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle();
    cluster.request_deletion(&uid(&web), Propagation::Background);
    cluster.api.create(another.clone());
    cluster.api.create(q.clone());
    cluster.settle();
    assert!(!cluster.exists(&p));
    assert!(cluster.exists(&another) && cluster.exists(&q));
}

/// G8 row 10, G4.5, G6.1: a child with one remaining owner is not garbage.
#[test]
fn a_child_of_two_owners_keeps_the_remaining_one() {
    for child in [pod("child"), widget("child")] {
        let (a, b) = (replica_set("a"), replica_set("b"));
        let child = child.owned_by(&a).owned_by(&b);
        let mut cluster = Cluster::of(&[&a, &b, &child]);
        cluster.settle().delete(&a, Propagation::Background);
        assert_eq!(cluster.owners(&child), ["b"]);
        cluster.delete(&b, Propagation::Background);
        assert!(!cluster.exists(&child));
    }
}

/// G8 row 11, G5.4: the owner does not wait for children that do not block it.
#[test]
fn an_owner_does_not_wait_for_children_that_do_not_block() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web);
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle();
    cluster.request_deletion(&uid(&web), Propagation::Foreground);
    cluster.deliver();
    cluster.work(1);
    assert!(!cluster.exists(&web) && cluster.exists(&p), "the owner was processed first, and is deleted");
    cluster.settle();
    assert!(!cluster.exists(&p));
}

/// G8 row 12, G5.3: the owner waits for a child with a finalizer of another component.
#[test]
fn an_owner_waits_for_a_child_with_a_finalizer() {
    let web = replica_set("web");
    let p = pod("p").blocking(&web).held_by(HOLD);
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle().delete(&web, Propagation::Foreground);
    assert!(cluster.exists(&web));
    assert!(cluster.api.by_uid(&uid(&p)).unwrap().is_deleting());
    cluster.api.update(&uid(&p), |p| p.finalizers.clear());
    cluster.settle();
    assert!(cluster.uids().is_empty());
}

/// G8 row 13, G4.6: one of the two is deleted first, and stops blocking the other.
#[test]
fn a_cycle_of_two_owners_is_broken_when_one_is_deleted_in_the_foreground() {
    let a = replica_set("a").blocking(&replica_set("b"));
    let b = replica_set("b").blocking(&replica_set("a"));
    let mut cluster = Cluster::of(&[&a, &b]);
    cluster.settle().delete(&a, Propagation::Foreground);
    assert!(cluster.uids().is_empty());
    assert_eq!(
        cluster.log,
        [
            r#"unblock ["uid-of-a"] by ReplicaSet b"#,
            "delete ReplicaSet b Foreground",
            "leave [] on ReplicaSet a",
            "leave [] on ReplicaSet b",
        ]
    );
}

/// G8 row 13: the same if both are deleted before the first attempt.
#[test]
fn a_cycle_of_two_owners_is_broken_when_both_are_deleted_at_once() {
    let a = widget("a").blocking(&replica_set("b"));
    let b = replica_set("b").blocking(&widget("a"));
    let mut cluster = Cluster::of(&[&a, &b]);
    cluster.settle();
    cluster.request_deletion(&uid(&a), Propagation::Foreground);
    cluster.request_deletion(&uid(&b), Propagation::Foreground);
    cluster.settle();
    assert!(cluster.uids().is_empty());
}

/// G8 row 14, G2.7: the children of an owner whose foreground deletion became a background deletion are garbage.
#[test]
fn a_background_deletion_overtakes_a_foreground_one() {
    let web = replica_set("web");
    let p = pod("p").blocking(&web).held_by(HOLD);
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle().delete(&web, Propagation::Foreground);
    assert!(cluster.exists(&web));
    cluster.delete(&web, Propagation::Background);
    assert!(!cluster.exists(&web));
    cluster.api.update(&uid(&p), |p| p.finalizers.clear());
    cluster.settle();
    assert!(cluster.uids().is_empty());
}

/// G8 row 15: no watch shows an Event: as an owner it is polled, and its child is kept as long as it exists.
#[test]
fn a_child_of_an_event_is_kept_while_the_event_exists() {
    let event = object("v1", "Event", "e");
    let p = pod("p").owned_by(&event);
    let mut cluster = Cluster::of(&[&event]);
    cluster.api.watch.clear();
    cluster.api.create(p.clone());
    cluster.settle();
    assert!(cluster.exists(&p));
    assert!(cluster.is_retrying(&event));

    cluster.request_deletion(&uid(&event), Propagation::Background);
    cluster.api.watch.clear();
    cluster.settle();

    assert!(!cluster.exists(&p));
}

/// G8 row 16, G4.4: an object without owners is not garbage.
#[test]
fn objects_without_owners_are_never_touched() {
    let (p, n) = (pod("p"), node("n"));
    let mut cluster = Cluster::of(&[&p, &n]);
    cluster.settle();
    for object in [&p, &n] {
        let step = cluster.memory.attempt(object);
        cluster.drive(step);
    }
    assert_eq!(cluster.uids().len(), 2);
    assert!(cluster.log.is_empty());
}

/// G8 row 17, G4.8: a change that has nothing to do with owners does not save the child.
#[test]
fn a_child_that_is_updated_while_it_is_collected_is_deleted() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web);
    let mut cluster = Cluster::of(&[&web, &p]);
    cluster.settle().interfere = Some(|api, uid| api.update(uid, |_| ()));
    cluster.delete(&web, Propagation::Background);
    assert!(!cluster.exists(&p));
    assert_eq!(cluster.log, ["delete Pod p Background", "delete Pod p Background"]);
}

/// G8 row 17, G4.8: a new owner keeps the child.
#[test]
fn a_child_that_is_adopted_while_it_is_collected_is_kept() {
    let (web, new) = (replica_set("web"), replica_set("new"));
    let p = pod("p").owned_by(&web);
    let mut cluster = Cluster::of(&[&web, &new, &p]);
    cluster.settle().interfere = Some(|api, uid| {
        api.update(uid, |p| p.owners.push(reference(&replica_set("new"))));
    });
    cluster.delete(&web, Propagation::Background);
    assert!(cluster.exists(&p));
    assert_eq!(cluster.owners(&p), ["new"]);
    assert!(cluster.violations.is_empty(), "{:?}", cluster.violations);
}

/// G8 row 18, G4.7: a ReplicaSet that is garbage still orphans its pods, although the Deployment was deleted first.
#[test]
fn a_replica_set_that_orphans_its_pods_does_so_though_it_is_garbage() {
    let shop = deployment("shop");
    let web = replica_set("web").blocking(&shop);
    let p = pod("p").blocking(&web);
    let mut cluster = Cluster::of(&[&shop, &web, &p]);
    cluster.settle();
    cluster.request_deletion(&uid(&shop), Propagation::Background);
    cluster.request_deletion(&uid(&web), Propagation::Orphan);
    // The collector processes the deletion of the Deployment first, and then the ReplicaSet.
    cluster.deliver();
    cluster.work(0);
    assert_eq!(cluster.log, ["delete ReplicaSet web Orphan"]);
    cluster.settle();
    assert!(!cluster.exists(&web) && cluster.exists(&p));
    assert!(cluster.owners(&p).is_empty());
}

/// G1.3: an object that no watch has shown is read live before anything is deleted.
#[test]
fn an_owner_that_no_watch_has_shown_keeps_its_children() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web);
    let mut cluster = Cluster::of(&[&web]);
    cluster.api.watch.clear();
    cluster.api.create(p.clone());
    cluster.settle();
    assert!(cluster.exists(&p));
    assert_eq!(cluster.memory.graph.node(&uid(&web)).map(GraphNode::presence), Some(Presence::Virtual));
    assert!(matches!(cluster.memory.graph.node(&uid(&web)).unwrap().item(), QueueItem::Virtual(_)));
}

/// G4.5: two owners that own each other keep each other, without any other owner.
#[test]
fn owners_in_a_cycle_keep_each_other() {
    let root = deployment("root");
    let a = replica_set("a").owned_by(&root).owned_by(&replica_set("b"));
    let b = replica_set("b").owned_by(&replica_set("a"));
    let mut cluster = Cluster::of(&[&root, &a, &b]);
    cluster.settle().delete(&root, Propagation::Background);
    assert_eq!(cluster.owners(&a), ["b"]);
    assert_eq!(cluster.owners(&b), ["a"]);
}

/// G2.8, G2.9: of two children that disagree on their owner's name, only the one that is right is kept.
#[test]
fn children_that_disagree_on_their_owner_are_decided_each_by_its_own_reference() {
    let web = replica_set("web");
    let mistaken = pod("mistaken").referring(OwnerReference { name: "other".into(), ..reference(&web) });
    let right = pod("right").owned_by(&web);
    for order in [[&mistaken, &right, &web], [&right, &mistaken, &web], [&web, &right, &mistaken]] {
        let mut cluster = Cluster::of(&order);
        cluster.settle();
        assert!(cluster.exists(&right) && !cluster.exists(&mistaken));
    }
}

/// G2.8, G2.9: the children of an owner that does not exist are deleted, whatever name each of them refers to.
#[test]
fn children_that_disagree_on_an_absent_owner_are_all_deleted() {
    let web = replica_set("web");
    let children: Vec<_> = ["a", "b", "c"]
        .map(|name| pod(name).referring(OwnerReference { name: name.into(), ..reference(&web) }))
        .into();
    let mut cluster = Cluster::of(&children.iter().collect::<Vec<_>>());
    cluster.settle();
    assert!(cluster.uids().is_empty());
}
