//! The objects of one kind, and their watch events.

use std::collections::BTreeMap;

use gantry_model::{Deployment, Meta, ObjectKey, Pod, ReplicaSet};

use super::PlainCluster;

#[derive(Clone, Debug)]
pub(crate) struct ObjectMap<T>(BTreeMap<ObjectKey, T>);

/// A watch event.
#[derive(Clone, Debug)]
pub(crate) enum WatchEvent<T> {
    Added(T),
    Updated { old: T, new: T },
    Deleted(T),
}

/// A watch event of any kind.
#[derive(Clone, Debug)]
pub(crate) enum AnyWatchEvent {
    Deployment(Box<WatchEvent<Deployment>>),
    ReplicaSet(Box<WatchEvent<ReplicaSet>>),
    Pod(Box<WatchEvent<Pod>>),
}

/// A kind of object that the cluster stores.
pub(crate) trait Stored: Clone + PartialEq {
    fn meta(&self) -> &Meta;
    fn meta_mut(&mut self) -> &mut Meta;
    fn objects(cluster: &PlainCluster) -> &ObjectMap<Self>;
    fn objects_mut(cluster: &mut PlainCluster) -> &mut ObjectMap<Self>;
    /// Whether the specs differ, so that the generation increases.
    fn has_other_spec(&self, other: &Self) -> bool;
    /// Whether it stays although it is being deleted and has no finalizer.
    fn is_held(&self) -> bool {
        false
    }
    fn event(change: WatchEvent<Self>) -> AnyWatchEvent;

    fn added(object: Self) -> AnyWatchEvent {
        Self::event(WatchEvent::Added(object))
    }
    fn updated(old: Self, new: Self) -> AnyWatchEvent {
        Self::event(WatchEvent::Updated { old, new })
    }
    fn deleted(object: Self) -> AnyWatchEvent {
        Self::event(WatchEvent::Deleted(object))
    }
}

impl<T> Default for ObjectMap<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Stored> ObjectMap<T> {
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
    fn objects(cluster: &PlainCluster) -> &ObjectMap<Self> {
        &cluster.deployments
    }
    fn objects_mut(cluster: &mut PlainCluster) -> &mut ObjectMap<Self> {
        &mut cluster.deployments
    }
    /// Annotations count for Deployments, and only for them.
    fn has_other_spec(&self, other: &Self) -> bool {
        let spec_of = |d: &Self| Self { meta: self.meta.clone(), status: self.status.clone(), ..d.clone() };
        spec_of(self) != spec_of(other) || self.meta.annotations != other.meta.annotations
    }
    fn event(change: WatchEvent<Self>) -> AnyWatchEvent {
        AnyWatchEvent::Deployment(Box::new(change))
    }
}

impl Stored for ReplicaSet {
    fn meta(&self) -> &Meta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }
    fn objects(cluster: &PlainCluster) -> &ObjectMap<Self> {
        &cluster.sets
    }
    fn objects_mut(cluster: &mut PlainCluster) -> &mut ObjectMap<Self> {
        &mut cluster.sets
    }
    fn has_other_spec(&self, other: &Self) -> bool {
        let spec_of = |s: &Self| Self { meta: self.meta.clone(), status: self.status.clone(), ..s.clone() };
        spec_of(self) != spec_of(other)
    }
    fn event(change: WatchEvent<Self>) -> AnyWatchEvent {
        AnyWatchEvent::ReplicaSet(Box::new(change))
    }
}

impl Stored for Pod {
    fn meta(&self) -> &Meta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }
    fn objects(cluster: &PlainCluster) -> &ObjectMap<Self> {
        &cluster.pods
    }
    fn objects_mut(cluster: &mut PlainCluster) -> &mut ObjectMap<Self> {
        &mut cluster.pods
    }
    fn has_other_spec(&self, other: &Self) -> bool {
        self.node != other.node
    }
    /// A terminating pod stays until its kubelet has finished it.
    fn is_held(&self) -> bool {
        self.is_terminating()
    }
    fn event(change: WatchEvent<Self>) -> AnyWatchEvent {
        AnyWatchEvent::Pod(Box::new(change))
    }
}
