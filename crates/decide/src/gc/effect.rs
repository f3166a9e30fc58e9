//! What a change in the graph leads to.

use gantry_model::{Event, Identity, Namespace, OwnerReference, Uid};

use super::Item;

/// The component that events are said to come from.
pub const EVENT_SOURCE: &str = "garbage-collector-controller";

/// Where events about objects without a namespace are kept.
const NAMESPACE_OF_CLUSTER_EVENTS: &str = "default";

/// Something to be done because the graph changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// See whether this object is garbage.
    AttemptToDelete(Item, Pace),
    /// Free the dependents of this object.
    AttemptToOrphan(Uid),
    /// Tell people.
    Report(Report),
}

/// When an item is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As soon as a worker is free.
    AtOnce,
    /// As if it had failed: later, and later each time.
    RateLimited,
}

/// An event about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The object it is about.
    pub about: Identity,
    /// What it says.
    pub event: Event,
}

impl Effect {
    pub(super) fn attempt(item: Item) -> Self {
        Self::AttemptToDelete(item, Pace::AtOnce)
    }

    pub(super) fn attempt_on(dependent: &Uid) -> Self {
        Self::attempt(Item::Observed(dependent.clone()))
    }
}

impl Report {
    /// The owner that a dependent names lives, but in another namespace, where no reference can reach it.
    pub(super) fn owner_elsewhere(dependent: &Identity, reference: &OwnerReference) -> Self {
        let namespace = dependent.namespace.as_ref().map_or("", Namespace::as_str);
        let OwnerReference { api_version, kind, name, uid, .. } = reference;
        let message = format!(
            "ownerRef [{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}] \
             does not exist in namespace \"{namespace}\""
        );
        Self { about: dependent.clone(), event: Event::warning("OwnerRefInvalidNamespace", message) }
    }

    /// Where the event is kept: beside the object, or in `default` for objects without a namespace.
    pub fn namespace(&self) -> Namespace {
        self.about.namespace.clone().unwrap_or_else(|| NAMESPACE_OF_CLUSTER_EVENTS.into())
    }
}
