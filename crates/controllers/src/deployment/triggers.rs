//! The changes that enqueue a Deployment: the rules map every change to keys.

use std::sync::RwLockReadGuard;

use gantry_decide::deployment::triggers::{self, Lookup};
use gantry_model::{Deployment, Name, Namespace, ObjectKey, ReplicaSet};
use gantry_runtime::informer::{CachedDeployment, CachedReplicaSet, Store};
use gantry_runtime::{InformerEvent, Queue};

use super::observe::Caches;

/// The caches during one lookup, locked in a fixed order: Deployments, then sets.
struct View<'a> {
    deployments: RwLockReadGuard<'a, Store<CachedDeployment>>,
    sets: RwLockReadGuard<'a, Store<CachedReplicaSet>>,
}

/// Subscribes the queue to all caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<ObjectKey>) {
    let to = queue.clone();
    caches.deployments.subscribe(move |change| to.add(triggers::on_deployment(&change.object().parsed)));
    let (view, to) = (caches.clone(), queue.clone());
    caches.sets.subscribe(move |change| {
        let view = View::of(&view);
        let keys = match change {
            InformerEvent::Added(set) => triggers::on_set_added(&set.parsed, &view),
            InformerEvent::Updated { old, new } => triggers::on_set_updated(&old.parsed, &new.parsed, &view),
            InformerEvent::Deleted(set) => triggers::on_set_deleted(&set.parsed, &view),
        };
        for key in keys {
            to.add(key);
        }
    });
    let (view, to) = (caches.clone(), queue.clone());
    caches.pods.subscribe(move |change| {
        if let InformerEvent::Deleted(pod) = change
            && let Some(key) = triggers::on_pod_deleted(pod, &View::of(&view))
        {
            to.add(key);
        }
    });
}

impl<'a> View<'a> {
    fn of(caches: &'a Caches) -> Self {
        let deployments = caches.deployments.read();
        Self { deployments, sets: caches.sets.read() }
    }
}

impl Lookup for View<'_> {
    fn deployment(&self, namespace: &Namespace, name: &Name) -> Option<&Deployment> {
        self.deployments.named(namespace, name).map(|deployment| &deployment.parsed)
    }

    fn deployments(&self, namespace: &Namespace) -> impl Iterator<Item = &Deployment> {
        self.deployments.in_namespace(namespace).map(|deployment| &deployment.parsed)
    }

    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.named(namespace, name).map(|set| &set.parsed)
    }
}
