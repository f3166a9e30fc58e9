//! Which Deployments a change enqueues.
//!
//! The sync then depends on what is observed, not on what changed.

use gantry_model::{Deployment, Name, Namespace, ObjectKey, OwnerReference, Pod, ReplicaSet, Strategy, keys};

/// Lookups in the caller's caches.
pub trait Lookup {
    /// The Deployment of this name.
    fn deployment(&self, namespace: &Namespace, name: &Name) -> Option<&Deployment>;
    /// All Deployments of a namespace.
    fn deployments(&self, namespace: &Namespace) -> impl Iterator<Item = &Deployment>;
    /// The ReplicaSet of this name.
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet>;
}

/// A Deployment was added, updated or deleted; it is always enqueued.
pub fn on_deployment(deployment: &Deployment) -> ObjectKey {
    deployment.meta.key()
}

/// A ReplicaSet was added.
pub fn on_set_added(set: &ReplicaSet, caches: &impl Lookup) -> Vec<ObjectKey> {
    if set.meta.is_deleting() {
        // Already terminating when first seen after a restart.
        return on_set_deleted(set, caches);
    }
    match set.meta.controller() {
        Some(controller) => owner_of(set, controller, caches).into_iter().collect(),
        None => matching(set, caches),
    }
}

/// A ReplicaSet was updated.
pub fn on_set_updated(old: &ReplicaSet, new: &ReplicaSet, caches: &impl Lookup) -> Vec<ObjectKey> {
    if old.meta.resource_version == new.meta.resource_version {
        return Vec::new();
    }
    let (before, after) = (old.meta.controller(), new.meta.controller());
    let previous = before.filter(|_| before != after).and_then(|before| owner_of(old, before, caches));
    let mut keys: Vec<_> = previous.into_iter().collect();
    match after {
        Some(after) => keys.extend(owner_of(new, after, caches)),
        None if before != after || old.meta.labels != new.meta.labels => keys.extend(matching(new, caches)),
        None => {}
    }
    keys
}

/// A ReplicaSet was deleted; its last known state may be stale.
pub fn on_set_deleted(set: &ReplicaSet, caches: &impl Lookup) -> Vec<ObjectKey> {
    set.meta.controller().and_then(|controller| owner_of(set, controller, caches)).into_iter().collect()
}

/// A pod was deleted, which only `Recreate` waits for. A rolling update follows the ReplicaSets' statuses.
pub fn on_pod_deleted(pod: &Pod, caches: &impl Lookup) -> Option<ObjectKey> {
    let controller = pod.meta.controller().filter(|owner| owner.kind == keys::REPLICA_SET)?;
    let set = caches.replica_set(&pod.meta.namespace, &controller.name)?;
    if set.meta.uid != controller.uid {
        return None;
    }
    let deployment = resolve(set, set.meta.controller()?, caches)?;
    matches!(deployment.strategy, Strategy::Recreate).then(|| deployment.meta.key())
}

fn owner_of(set: &ReplicaSet, controller: &OwnerReference, caches: &impl Lookup) -> Option<ObjectKey> {
    resolve(set, controller, caches).map(|deployment| deployment.meta.key())
}

/// The Deployment that a controller reference names, if the uid matches.
fn resolve<'a>(
    set: &ReplicaSet,
    controller: &OwnerReference,
    caches: &'a impl Lookup,
) -> Option<&'a Deployment> {
    let deployment = caches.deployment(&set.meta.namespace, &controller.name)?;
    (controller.kind == keys::DEPLOYMENT && deployment.meta.uid == controller.uid).then_some(deployment)
}

/// Every Deployment whose selector matches an orphan; adoption decides which of them owns it.
fn matching(set: &ReplicaSet, caches: &impl Lookup) -> Vec<ObjectKey> {
    let selects = |deployment: &&Deployment| {
        deployment.selector.as_ref().is_ok_and(|selector| selector.matches_orphan(&set.meta.labels))
    };
    caches.deployments(&set.meta.namespace).filter(selects).map(|deployment| deployment.meta.key()).collect()
}
