//! The scale of a pod's controller.

use gantry_model::{Deployment, Name, Namespace, OwnerReference, ReplicaSet, Replicas, SetKind, Uid, keys};

/// The scale of a pod's controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The scale was read.
    Known {
        /// The controller: for a ReplicaSet of a Deployment, the Deployment.
        controller: Uid,
        /// `spec.replicas`.
        replicas: Replicas,
    },
    /// The controller does not exist.
    Missing,
    /// The scale could not be read, with the reason.
    Failed(String),
}

/// The result of a lookup in the caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScaleLookup {
    /// Its scale.
    Scale(Scale),
    /// The controller is not in the caches: its `scale` subresource has to be read.
    NotCached,
}

/// Lookups in the caller's caches.
pub trait Lookup {
    /// The Deployment of this name.
    fn deployment(&self, namespace: &Namespace, name: &Name) -> Option<&Deployment>;
    /// The ReplicaSet of this name.
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet>;
    /// The ReplicationController of this name.
    fn replication_controller(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet>;
    /// Uid and size of the StatefulSet of this name.
    fn stateful_set(&self, namespace: &Namespace, name: &Name) -> Option<(Uid, Replicas)>;
}

/// Looks up the scale of the controller that a pod names.
pub fn find_scale(namespace: &Namespace, owner: &OwnerReference, cache: &impl Lookup) -> ScaleLookup {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    let scale = match (group, owner.kind.as_str()) {
        ("apps" | "extensions", keys::REPLICA_SET) => {
            let set = cache.replica_set(namespace, &owner.name).filter(|set| set.meta.uid == owner.uid);
            set.and_then(|set| scale_of_set(namespace, set, cache))
        }
        ("", keys::REPLICATION_CONTROLLER) => {
            let set = cache.replication_controller(namespace, &owner.name);
            set.filter(|set| set.meta.uid == owner.uid).map(|set| known(&set.meta.uid, set.replicas))
        }
        ("apps", keys::STATEFUL_SET) => {
            let set = cache.stateful_set(namespace, &owner.name).filter(|(uid, _)| *uid == owner.uid);
            set.map(|(uid, replicas)| known(&uid, replicas))
        }
        _ => None,
    };
    scale.map_or(ScaleLookup::NotCached, ScaleLookup::Scale)
}

/// The scale of a ReplicaSet, or of the Deployment that owns it.
fn scale_of_set(namespace: &Namespace, set: &ReplicaSet, cache: &impl Lookup) -> Option<Scale> {
    debug_assert_eq!(set.kind, SetKind::ReplicaSet);
    match set.meta.controller().filter(|owner| owner.kind == keys::DEPLOYMENT) {
        None => Some(known(&set.meta.uid, set.replicas)),
        Some(owner) => {
            let deployment = cache.deployment(namespace, &owner.name);
            let deployment = deployment.filter(|deployment| deployment.meta.uid == owner.uid);
            deployment.map(|deployment| known(&deployment.meta.uid, deployment.replicas))
        }
    }
}

fn known(controller: &Uid, replicas: Replicas) -> Scale {
    Scale::Known { controller: controller.clone(), replicas }
}
