//! How many pods the controller of a pod is asked to keep.

use gantry_model::{Deployment, Name, Namespace, OwnerReference, ReplicaSet, Replicas, SetKind, Uid, keys};

/// How many pods the controller that a pod names is asked to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// So many.
    Known {
        /// Whose scale it is: for a ReplicaSet of a Deployment, the Deployment's.
        controller: Uid,
        /// `spec.replicas`.
        replicas: Replicas,
    },
    /// The controller is gone.
    Missing,
    /// It could not be asked; why.
    Failed(String),
}

/// What the caches say about a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Its scale.
    Scale(Scale),
    /// It is of no kind that the caches hold, or it is not in them: its `scale` subresource has to be asked.
    Elsewhere,
}

/// Where controllers are looked up: the caches of the caller.
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

/// Looks for the scale of the controller that a pod names.
pub fn find_scale(namespace: &Namespace, owner: &OwnerReference, cache: &impl Lookup) -> Found {
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
    scale.map_or(Found::Elsewhere, Found::Scale)
}

/// The scale of a ReplicaSet, or of the Deployment that it belongs to.
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
