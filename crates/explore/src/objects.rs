//! The objects of a small cluster: those on the server, and the copies in the controllers' caches.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_decide::{deployment, replica_set};
use gantry_model::{Deployment, Meta, Name, Namespace, ObjectKey, Pod, ReplicaSet};

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";

gantry_model::text_enum! {
    /// The kinds of object, each with a watch stream of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Watched {
        Deployments = "Deployments",
        ReplicaSets = "ReplicaSets",
        Pods = "Pods",
    }

    pub(crate) const ALL: [Self; 3];
    pub(crate) fn as_str(self) -> &'static str;
}

/// One Deployment, its ReplicaSets and their pods.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    pub(crate) deployment: Option<Arc<Deployment>>,
    pub(crate) sets: BTreeMap<Name, Arc<ReplicaSet>>,
    pub(crate) pods: BTreeMap<Name, Arc<Pod>>,
}

/// A change that a watch delivers; `None` is a deletion.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Deployment(Option<Arc<Deployment>>),
    ReplicaSet(Name, Option<Arc<ReplicaSet>>),
    Pod(Name, Option<Arc<Pod>>),
}

/// A change with the version that the store gave it.
#[derive(Clone, Debug)]
pub(crate) struct VersionedChange {
    pub(crate) version: u64,
    pub(crate) change: Change,
}

impl Watched {
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl Change {
    pub(crate) fn kind(&self) -> Watched {
        match self {
            Self::Deployment(_) => Watched::Deployments,
            Self::ReplicaSet(..) => Watched::ReplicaSets,
            Self::Pod(..) => Watched::Pods,
        }
    }
}

impl Objects {
    /// The sets that the Deployment controls, by name.
    pub(crate) fn owned_sets(&self) -> impl Iterator<Item = &Arc<ReplicaSet>> {
        let uid = self.deployment.as_ref().map(|deployment| deployment.meta.uid.clone());
        self.sets.values().filter(move |set| uid.as_ref().is_some_and(|uid| set.meta.is_controlled_by(uid)))
    }

    /// The pods that a set controls.
    pub(crate) fn pods_of<'a>(&'a self, set: &'a ReplicaSet) -> impl Iterator<Item = &'a Arc<Pod>> {
        self.pods.values().filter(|pod| pod.meta.is_controlled_by(&set.meta.uid))
    }

    /// Applies a change.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Deployment(object) => self.deployment.clone_from(object),
            Change::ReplicaSet(name, object) => put(&mut self.sets, name, object.as_ref()),
            Change::Pod(name, object) => put(&mut self.pods, name, object.as_ref()),
        }
    }
}

fn put<T>(objects: &mut BTreeMap<Name, Arc<T>>, name: &Name, object: Option<&Arc<T>>) {
    match object {
        Some(object) => objects.insert(name.clone(), object.clone()),
        None => objects.remove(name),
    };
}

/// The key of an object.
pub(crate) fn key(name: &Name) -> ObjectKey {
    ObjectKey { namespace: NAMESPACE.into(), name: name.clone() }
}

/// The version of a stored object.
pub(crate) fn version_of(meta: &Meta) -> u64 {
    meta.resource_version.as_str().parse().unwrap_or(0)
}

impl deployment::triggers::Lookup for Objects {
    fn deployment(&self, _: &Namespace, name: &Name) -> Option<&Deployment> {
        self.deployment.as_deref().filter(|deployment| deployment.meta.name == *name)
    }

    fn deployments(&self, _: &Namespace) -> impl Iterator<Item = &Deployment> {
        self.deployment.iter().map(|deployment| &**deployment)
    }

    fn replica_set(&self, _: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.get(name).map(|set| &**set)
    }
}

impl replica_set::triggers::Lookup for Objects {
    fn replica_set(&self, _: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.get(name).map(|set| &**set)
    }

    fn replica_sets(&self, _: &Namespace) -> impl Iterator<Item = &ReplicaSet> {
        self.sets.values().map(|set| &**set)
    }
}
