//! Where objects of one kind are kept, and how a change of them is told.

use std::collections::BTreeMap;

use gantry_model::{Deployment, Meta, ObjectKey, Pod, ReplicaSet};

use super::Cluster;

/// The objects of one kind by their keys.
#[derive(Clone, Debug)]
pub(crate) struct Shelf<T>(BTreeMap<ObjectKey, T>);

/// What happened to one object.
#[derive(Clone, Debug)]
pub(crate) enum Watched<T> {
    Added(T),
    Updated { old: T, new: T },
    Deleted(T),
}

/// What happened to one object of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Deployment(Box<Watched<Deployment>>),
    ReplicaSet(Box<Watched<ReplicaSet>>),
    Pod(Box<Watched<Pod>>),
}

/// A kind of object that the cluster stores.
pub(crate) trait Stored: Clone + PartialEq {
    fn meta(&self) -> &Meta;
    fn meta_mut(&mut self) -> &mut Meta;
    fn shelf(cluster: &Cluster) -> &Shelf<Self>;
    fn shelf_mut(cluster: &mut Cluster) -> &mut Shelf<Self>;
    /// Whether the other version asks for something else: the generation counts how often that happened.
    fn asks_for_other_than(&self, other: &Self) -> bool;
    /// Whether it stays although it is being deleted and no finalizer holds it.
    fn holds_on(&self) -> bool {
        false
    }
    fn told(change: Watched<Self>) -> Change;

    fn added(object: Self) -> Change {
        Self::told(Watched::Added(object))
    }
    fn updated(old: Self, new: Self) -> Change {
        Self::told(Watched::Updated { old, new })
    }
    fn deleted(object: Self) -> Change {
        Self::told(Watched::Deleted(object))
    }
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Stored> Shelf<T> {
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&T> {
        self.0.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn put(&mut self, object: T) {
        self.0.insert(object.meta().key(), object);
    }

    pub(super) fn take(&mut self, key: &ObjectKey) -> Option<T> {
        self.0.remove(key)
    }
}

impl Stored for Deployment {
    fn meta(&self) -> &Meta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }
    fn shelf(cluster: &Cluster) -> &Shelf<Self> {
        &cluster.deployments
    }
    fn shelf_mut(cluster: &mut Cluster) -> &mut Shelf<Self> {
        &mut cluster.deployments
    }
    /// Annotations count for Deployments, and only for them.
    fn asks_for_other_than(&self, other: &Self) -> bool {
        let asked = |d: &Self| Self { meta: self.meta.clone(), status: self.status.clone(), ..d.clone() };
        asked(self) != asked(other) || self.meta.annotations != other.meta.annotations
    }
    fn told(change: Watched<Self>) -> Change {
        Change::Deployment(Box::new(change))
    }
}

impl Stored for ReplicaSet {
    fn meta(&self) -> &Meta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }
    fn shelf(cluster: &Cluster) -> &Shelf<Self> {
        &cluster.sets
    }
    fn shelf_mut(cluster: &mut Cluster) -> &mut Shelf<Self> {
        &mut cluster.sets
    }
    fn asks_for_other_than(&self, other: &Self) -> bool {
        let asked = |s: &Self| Self { meta: self.meta.clone(), status: self.status.clone(), ..s.clone() };
        asked(self) != asked(other)
    }
    fn told(change: Watched<Self>) -> Change {
        Change::ReplicaSet(Box::new(change))
    }
}

impl Stored for Pod {
    fn meta(&self) -> &Meta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }
    fn shelf(cluster: &Cluster) -> &Shelf<Self> {
        &cluster.pods
    }
    fn shelf_mut(cluster: &mut Cluster) -> &mut Shelf<Self> {
        &mut cluster.pods
    }
    fn asks_for_other_than(&self, other: &Self) -> bool {
        self.node != other.node
    }
    /// A pod that is terminating stays until its node says that it is gone.
    fn holds_on(&self) -> bool {
        self.is_terminating()
    }
    fn told(change: Watched<Self>) -> Change {
        Change::Pod(Box::new(change))
    }
}
