//! The owner graph after a live read found no object: which identity was meant, and by which dependents.

use gantry_model::{Identity, Namespace, ObjectMetadata, OwnerReference};
use gantry_testkit::{MetadataBuilder, reference};

use super::{Memory, enqueued, node, pod, replica_set, uid, verify};
use crate::gc::EnqueueMode;

fn identity(memory: &Memory, object: &ObjectMetadata) -> Option<Identity> {
    memory.graph.node(&uid(object)).map(|node| node.identity().clone())
}

/// A reference to the owner `web` by another name.
fn known_as(name: &str) -> OwnerReference {
    OwnerReference { name: name.into(), ..reference(&replica_set("web")) }
}

fn renamed(name: &str) -> Identity {
    Identity { name: name.into(), ..replica_set("web").identity }
}

/// G2.8: all dependents agree on the absent identity, so it counts as deleted.
#[test]
fn a_presumed_owner_that_does_not_exist_is_dropped_and_its_dependents_enqueued() {
    let web = replica_set("web");
    let (p, q) = (pod("p").owned_by(&web), pod("q").owned_by(&web));
    let mut memory = Memory::of(&[&p, &q]);
    assert_eq!(memory.verifies_absent(&web.identity), [enqueued(&p), enqueued(&q)]);
    assert!(memory.absent.contains(&web.identity));
    assert_eq!(identity(&memory, &web), None);
}

/// G2.8: some dependents refer to another identity with this uid: that one is verified next, rate limited.
#[test]
fn another_identity_of_a_presumed_owner_is_verified_next() {
    let web = replica_set("web");
    let (right, other) = (pod("p").owned_by(&web), pod("q").referring(known_as("xyz")));
    let mut memory = Memory::of(&[&right, &other]);
    assert_eq!(
        memory.verifies_absent(&web.identity),
        [enqueued(&right), verify(&web, EnqueueMode::RateLimited)]
    );
    assert!(memory.absent.contains(&web.identity));
    assert_eq!(identity(&memory, &web), Some(renamed("xyz")));
}

/// G2.8: the absence of an identity other than the presumed one does not change the presumed one.
#[test]
fn an_identity_that_is_no_longer_presumed_is_absent_for_its_dependents() {
    let web = replica_set("web");
    let (first, second) = (pod("p").referring(known_as("first")), pod("q").referring(known_as("second")));
    let mut memory = Memory::of(&[&first, &second]);
    assert_eq!(memory.verifies_absent(&renamed("second")), [enqueued(&second)]);
    assert!(memory.absent.contains(&renamed("second")));
    assert_eq!(identity(&memory, &web), Some(renamed("first")));
}

/// G2.8: an identity that no dependent refers to is not remembered.
#[test]
fn an_identity_that_no_dependent_refers_to_is_not_cached() {
    let mut memory = Memory::of(&[&pod("p").referring(known_as("first"))]);
    assert_eq!(memory.verifies_absent(&renamed("zeroth")), []);
    assert!(memory.absent.is_empty());
    assert_eq!(identity(&memory, &replica_set("web")), Some(renamed("first")));
}

/// G2.8: the owner was observed under another identity: dependents that refer to the absent one are enqueued.
#[test]
fn an_observed_owner_stays_when_another_identity_is_absent() {
    let web = replica_set("web");
    let (right, wrong) = (pod("p").owned_by(&web), pod("q").referring(known_as("xyz")));
    let mut memory = Memory::of(&[&web, &right, &wrong]);
    assert_eq!(memory.verifies_absent(&renamed("xyz")), [enqueued(&wrong)]);
    assert!(memory.absent.contains(&renamed("xyz")));
    assert_eq!(identity(&memory, &web), Some(web.identity.clone()));
    assert_eq!(memory.graph.node(&uid(&web)).unwrap().dependents().len(), 2);
}

/// G2.8: the live read was ahead of the watch.
#[test]
fn an_observed_owner_that_does_not_exist_any_more_is_dropped() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web);
    let mut memory = Memory::of(&[&web, &p]);
    assert_eq!(memory.verifies_absent(&web.identity), [enqueued(&p)]);
    assert_eq!(identity(&memory, &web), None);
    assert_eq!(memory.sees_go(&web), [], "the watch event has no effect");
}

/// G2.8: the graph may have removed it already.
#[test]
fn the_absence_of_an_unknown_object_changes_nothing() {
    assert_eq!(Memory::default().verifies_absent(&replica_set("web").identity), []);
}

/// G2.9: the next identity is the one after the absent one in the order of identities, and after the last the first.
#[test]
fn alternate_identities_are_tried_in_order_and_round_and_round() {
    let web = replica_set("web");
    let dependents: Vec<_> =
        ["b", "a", "c"].map(|name| pod(&format!("of-{name}")).referring(known_as(name))).into();
    let mut memory = Memory::of(&dependents.iter().collect::<Vec<_>>());
    assert_eq!(identity(&memory, &web), Some(renamed("b")));
    for next in ["c", "a", "b", "c"] {
        let presumed = identity(&memory, &web).unwrap();
        let effects = memory.verifies_absent(&presumed);
        assert_eq!(effects.last(), Some(&verify(&web, EnqueueMode::RateLimited)));
        assert_eq!(identity(&memory, &web), Some(renamed(next)));
    }
}

/// G2.9: identities are ordered by kind, then API version, then namespace and name.
#[test]
fn alternate_identities_are_ordered_by_kind_first() {
    let web = replica_set("web");
    let beta = OwnerReference { api_version: "apps/v1beta2".into(), ..known_as("a") };
    let deployment = OwnerReference { kind: "Deployment".into(), ..known_as("z") };
    let mut memory = Memory::of(&[
        &pod("o").owned_by(&web),
        &pod("p").in_namespace("elsewhere").referring(known_as("a")),
        &pod("q").referring(beta.clone()),
        &pod("r").referring(deployment.clone()),
    ]);
    let mut order = Vec::new();
    for _ in 0..4 {
        let presumed = identity(&memory, &web).unwrap();
        memory.verifies_absent(&presumed);
        order.push(identity(&memory, &web).unwrap());
    }
    let here = Some(Namespace::from("default"));
    let elsewhere = renamed("a").in_namespace(Some("elsewhere".into()));
    let expected = [
        elsewhere,
        Identity::of_owner(&beta, here.clone()),
        Identity::of_owner(&deployment, here),
        web.identity.clone(),
    ];
    assert_eq!(order, expected);
}

/// G2.9: a kind that was found to be cluster-scoped is so for every dependent.
#[test]
fn an_alternate_identity_of_a_cluster_scoped_kind_has_no_namespace() {
    let rack = node("rack");
    let other_name = OwnerReference { name: "shelf".into(), ..reference(&rack) };
    let other_kind = OwnerReference { kind: "Pod".into(), ..reference(&rack) };
    let mut memory = Memory::of(&[
        &node("n").owned_by(&rack),
        &pod("p").referring(other_name),
        &pod("q").referring(other_kind),
    ]);
    memory.verifies_absent(&rack.identity);
    assert_eq!(identity(&memory, &rack), Some(Identity { name: "shelf".into(), ..rack.identity.clone() }));
    memory.verifies_absent(&Identity { name: "shelf".into(), ..rack.identity.clone() });
    let pod_here =
        Identity { kind: "Pod".into(), namespace: Some("default".into()), ..rack.identity.clone() };
    assert_eq!(identity(&memory, &rack), Some(pod_here));
}

/// G2.8: a dependent that names the same uid twice refers to both identities, so the owner is kept for the other one.
#[test]
fn a_dependent_can_refer_to_two_identities_of_one_uid() {
    let web = replica_set("web");
    let p = pod("p").owned_by(&web).referring(known_as("xyz"));
    let mut memory = Memory::default();
    assert_eq!(memory.sees(&p), [verify(&web, EnqueueMode::AtOnce), enqueued(&p)]);
    assert_eq!(memory.verifies_absent(&web.identity), [enqueued(&p), verify(&web, EnqueueMode::RateLimited)]);
    assert_eq!(identity(&memory, &web), Some(renamed("xyz")));
}

/// G2.8: dependents in other namespaces refer to another identity, even by the same name.
#[test]
fn a_presumed_owner_is_read_in_the_namespace_of_every_dependent() {
    let web = replica_set("web");
    let (here, there) = (pod("p").owned_by(&web), pod("q").in_namespace("there").owned_by(&web));
    let mut memory = Memory::of(&[&here, &there]);
    memory.verifies_absent(&web.identity);
    assert_eq!(identity(&memory, &web), Some(web.identity.in_namespace(Some("there".into()))));
}
