//! The consequences of a change in the graph.

use gantry_model::{Event, Identity, Namespace, OwnerReference, Uid};

use super::QueueItem;

/// The `source.component` of its events.
pub const EVENT_SOURCE: &str = "garbage-collector-controller";

/// The namespace of events about cluster-scoped objects.
const NAMESPACE_OF_CLUSTER_EVENTS: &str = "default";

/// A consequence of a changed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Check whether this object is garbage.
    AttemptToDelete(QueueItem, EnqueueMode),
    /// Orphan the dependents of this object.
    AttemptToOrphan(Uid),
    /// Record an event.
    RecordEvent(ObjectEvent),
}

/// How an item is enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueueMode {
    /// Immediately.
    AtOnce,
    /// With the backoff of a failed item.
    RateLimited,
}

/// An event about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEvent {
    /// The object.
    pub object: Identity,
    /// The event.
    pub event: Event,
}

impl Effect {
    pub(super) fn attempt(item: QueueItem) -> Self {
        Self::AttemptToDelete(item, EnqueueMode::AtOnce)
    }

    pub(super) fn attempt_on(dependent: &Uid) -> Self {
        Self::attempt(QueueItem::Observed(dependent.clone()))
    }
}

impl ObjectEvent {
    /// The owner that a dependent names is in another namespace, which a reference cannot reach.
    pub(super) fn owner_in_other_namespace(dependent: &Identity, reference: &OwnerReference) -> Self {
        let namespace = dependent.namespace.as_ref().map_or("", Namespace::as_str);
        let OwnerReference { api_version, kind, name, uid, .. } = reference;
        let message = format!(
            "ownerRef [{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}] \
             does not exist in namespace \"{namespace}\""
        );
        Self { object: dependent.clone(), event: Event::warning("OwnerRefInvalidNamespace", message) }
    }

    /// The namespace of the event: the object's, or `default` for cluster-scoped objects.
    pub fn namespace(&self) -> Namespace {
        self.object.namespace.clone().unwrap_or_else(|| NAMESPACE_OF_CLUSTER_EVENTS.into())
    }
}
