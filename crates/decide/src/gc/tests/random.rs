//! Random owner graphs, random deletions and a collector with delayed watches: the invariants that hold.

use gantry_model::{ObjectMetadata, OwnerReference, Uid};
use gantry_testkit::{MetadataBuilder, reference};
use proptest::prelude::*;

use super::cluster::Cluster;
use super::{HOLD, deployment, node, pod, replica_set, uid, widget};
use crate::gc::Propagation;

/// A wrong field of an owner reference whose uid is right.
#[derive(Clone, Copy, Debug)]
enum Mistake {
    None,
    Name,
    Kind,
    OtherVersion,
    UnservedVersion,
}

/// One step of a test.
#[derive(Clone, Debug)]
enum Step {
    Delete(usize, Propagation),
    RemoveFinalizer(usize),
    Touch(usize),
    Adopt { child: usize, owner: usize },
    Deliver,
    Work(usize),
    TimePasses,
    InterfereNext,
}

/// The objects to create, in this order, and the steps that follow.
#[derive(Clone, Debug)]
struct World {
    objects: Vec<ObjectMetadata>,
    steps: Vec<Step>,
}

fn blank(kind: u8, name: usize, elsewhere: bool) -> ObjectMetadata {
    let name = name.to_string();
    let object = match kind {
        0 => pod(&name),
        1 => replica_set(&name),
        2 => deployment(&name),
        3 => widget(&name),
        _ => return node(&name),
    };
    if elsewhere { object.in_namespace("elsewhere") } else { object }
}

fn mistaken(mistake: Mistake, reference: OwnerReference) -> OwnerReference {
    match mistake {
        Mistake::None => reference,
        Mistake::Name => OwnerReference { name: "absent".into(), ..reference },
        Mistake::Kind => OwnerReference { kind: "Pod".into(), api_version: "v1".into(), ..reference },
        Mistake::OtherVersion => {
            let api_version = reference.api_version.replace("apps/v1", "apps/v1beta2").into();
            OwnerReference { api_version, ..reference }
        }
        Mistake::UnservedVersion => OwnerReference { api_version: "apps/v0".into(), ..reference },
    }
}

fn mistakes() -> impl Strategy<Value = Mistake> {
    prop_oneof![
        12 => Just(Mistake::None),
        1 => Just(Mistake::Name),
        1 => Just(Mistake::Kind),
        1 => Just(Mistake::OtherVersion),
        1 => Just(Mistake::UnservedVersion),
    ]
}

fn propagations() -> impl Strategy<Value = Propagation> {
    prop_oneof![
        2 => Just(Propagation::Background),
        3 => Just(Propagation::Foreground),
        1 => Just(Propagation::Orphan),
    ]
}

fn steps(objects: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..objects, propagations()).prop_map(|(nth, how)| Step::Delete(nth, how)),
        1 => (0..objects).prop_map(Step::RemoveFinalizer),
        1 => (0..objects).prop_map(Step::Touch),
        1 => (0..objects, 0..objects).prop_map(|(child, owner)| Step::Adopt { child, owner }),
        10 => Just(Step::Deliver),
        10 => (0..8_usize).prop_map(Step::Work),
        2 => Just(Step::TimePasses),
        2 => Just(Step::InterfereNext),
    ]
}

fn worlds() -> impl Strategy<Value = World> {
    // Of six kinds one is cluster-scoped; a fifth is in another namespace; a fifth has a foreign finalizer.
    let blanks = prop::collection::vec((0..6_u8, prop::bool::weighted(0.2), prop::bool::weighted(0.2)), 1..8);
    blanks
        .prop_flat_map(|blanks| {
            let count = blanks.len();
            // One owner more than there are objects: the last one does not exist.
            let owners = prop::collection::vec((0..=count, any::<bool>(), mistakes()), 0..3);
            let owners = prop::collection::vec(owners, count);
            let steps = prop::collection::vec(steps(count), 0..60);
            (Just(blanks), owners, steps)
        })
        .prop_map(|(blanks, owners, steps)| {
            let named: Vec<_> = blanks
                .iter()
                .enumerate()
                .map(|(n, (kind, elsewhere, _))| blank(*kind, n, *elsewhere))
                .collect();
            let absent = replica_set("absent");
            let mut objects = named.clone();
            for ((object, (_, _, held)), owners) in objects.iter_mut().zip(&blanks).zip(owners) {
                for (owner, blocking, mistake) in owners {
                    let reference = reference(named.get(owner).unwrap_or(&absent));
                    let reference = mistaken(mistake, reference);
                    object.owners.push(OwnerReference { block_owner_deletion: blocking, ..reference });
                }
                object.finalizers.extend(held.then(|| HOLD.to_owned()));
            }
            World { objects, steps }
        })
}

fn play(cluster: &mut Cluster, objects: &[ObjectMetadata], step: &Step) {
    match *step {
        Step::Delete(nth, propagation) => cluster.request_deletion(&uid(&objects[nth]), propagation),
        Step::RemoveFinalizer(nth) => {
            cluster.api.update(&uid(&objects[nth]), |object| object.finalizers.retain(|held| held != HOLD));
        }
        Step::Touch(nth) => cluster.api.update(&uid(&objects[nth]), |_| ()),
        Step::Adopt { child, owner } => {
            let reference = reference(&objects[owner]);
            cluster.api.update(&uid(&objects[child]), |child| child.owners.push(reference));
        }
        Step::Deliver => {
            cluster.deliver();
        }
        Step::Work(nth) => {
            cluster.work(nth);
        }
        Step::TimePasses => cluster.let_time_pass(),
        Step::InterfereNext => cluster.interfere = Some(|api, uid| api.update(uid, |_| ())),
    }
}

/// Whether every owner of the object is known not to exist.
fn is_garbage(cluster: &Cluster, object: &ObjectMetadata) -> bool {
    let gone = |reference| cluster.owner(object, reference) == Ok(None);
    !object.owners.is_empty() && object.owners.iter().all(gone)
}

/// Whether another component keeps the object from being deleted, or the collector cannot decide about it.
fn is_stuck(cluster: &Cluster, object: &ObjectMetadata) -> bool {
    let foreign = |held: &String| held == HOLD;
    let undecidable = |reference| cluster.owner(object, reference).is_err();
    (object.is_deleting() && object.finalizers.iter().any(foreign)) || object.owners.iter().any(undecidable)
}

/// Whether the object waits, directly or through others, for an object that is stuck.
fn waits_for_something_stuck(cluster: &Cluster, owner: &Uid) -> bool {
    let mut seen = vec![owner.clone()];
    let mut next = 0;
    while let Some(owner) = seen.get(next).cloned() {
        let blocks = |object: &&ObjectMetadata| {
            object.owners.iter().any(|reference| reference.uid == owner && reference.block_owner_deletion)
        };
        for dependent in cluster.api.objects().filter(blocks) {
            if is_stuck(cluster, dependent) {
                return true;
            }
            if !seen.contains(&dependent.identity.uid) {
                seen.push(dependent.identity.uid.clone());
            }
        }
        next += 1;
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// G4.5, G4.7, G5.2, G7.0: no object with a solid owner is deleted; garbage is; deletions end.
    #[test]
    fn garbage_is_deleted_and_nothing_else(world in worlds()) {
        let mut cluster = Cluster::default();
        for object in &world.objects {
            cluster.api.create(object.clone());
        }
        for step in &world.steps {
            play(&mut cluster, &world.objects, step);
        }
        cluster.settle();

        prop_assert!(cluster.violations.is_empty(), "{:?}", cluster.violations);
        for object in cluster.api.objects() {
            let name = &object.identity;
            prop_assert!(object.is_deleting() || !is_garbage(&cluster, object), "{name} is garbage");
            prop_assert!(!object.is_orphaning(), "{name} has not released its dependents");
            prop_assert!(
                !object.is_deleting_dependents() || waits_for_something_stuck(&cluster, &name.uid),
                "{name} waits for nothing: {:#?}", cluster.log
            );
        }
    }

    /// G1.4: the settled graph contains the objects that exist, with their owner references.
    #[test]
    fn the_settled_graph_equals_the_stored_objects(world in worlds()) {
        let mut cluster = Cluster::default();
        for object in &world.objects {
            cluster.api.create(object.clone());
        }
        for step in &world.steps {
            play(&mut cluster, &world.objects, step);
        }
        cluster.settle();

        let graph = &cluster.memory.graph;
        for node in graph.nodes() {
            match cluster.api.by_uid(node.uid()) {
                Some(object) => prop_assert_eq!(node.owners(), &object.owners[..]),
                None => prop_assert!(node.item() == crate::gc::QueueItem::Virtual(node.uid().clone()), "{:?}", node),
            }
        }
        for object in cluster.api.objects() {
            prop_assert!(graph.node(&object.identity.uid).is_some(), "{} is unknown", object.identity);
        }
    }
}
