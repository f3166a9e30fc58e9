//! Which ReplicaSets a change enqueues, and which expectations it meets.
//!
//! The sync depends on what is observed, not on what changed. Expectations are the exception, because they are about
//! having seen a change; so a change is handled here before its key is enqueued.

use std::time::Duration;

use gantry_model::{Name, Namespace, ObjectKey, Pod, ReplicaSet};

use super::expectations::MetExpectation;

/// Lookups in the caller's cache.
pub trait Lookup {
    /// The ReplicaSet of this name.
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet>;
    /// All ReplicaSets of a namespace, in a fixed order.
    fn replica_sets(&self, namespace: &Namespace) -> impl Iterator<Item = &ReplicaSet>;
}

/// The consequences of a change. Expectations are lowered before the sets are enqueued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triggered {
    /// The expectations that are met.
    pub met: Vec<MetExpectation>,
    /// The sets to enqueue, each at most once for each delay.
    pub enqueue: Vec<Enqueue>,
}

/// A set to enqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueue {
    /// The set.
    pub key: ObjectKey,
    /// The delay; zero is immediately.
    pub after: Duration,
}

/// A ReplicaSet was added.
pub fn on_set_added(set: &ReplicaSet) -> Triggered {
    let mut triggered = Triggered::default();
    triggered.enqueue(set.meta.key());
    triggered
}

/// A ReplicaSet was updated or resynced: it is always enqueued.
pub fn on_set_updated(old: &ReplicaSet, new: &ReplicaSet) -> Triggered {
    // Another uid under the same name: the deletion in between was missed.
    let mut triggered = if old.meta.uid == new.meta.uid { Triggered::default() } else { on_set_deleted(old) };
    triggered.enqueue(new.meta.key());
    triggered
}

/// A ReplicaSet was deleted; its last known state may be stale.
pub fn on_set_deleted(set: &ReplicaSet) -> Triggered {
    let mut triggered = Triggered::default();
    triggered.met.push(MetExpectation::Everything { set: set.meta.key(), uid: set.meta.uid.clone() });
    triggered.enqueue(set.meta.key());
    triggered
}

/// A pod was added.
pub fn on_pod_added(pod: &Pod, cache: &impl Lookup) -> Triggered {
    if pod.meta.is_deleting() {
        // Already terminating when first seen after a restart.
        return on_pod_deleted(pod, cache);
    }
    let mut triggered = Triggered::default();
    if pod.meta.controller().is_none() {
        triggered.enqueue_matching(pod, cache);
    } else if let Some(set) = controller_of(pod, cache) {
        triggered.met.push(MetExpectation::Creations { set: set.meta.key(), count: 1 });
        triggered.enqueue(set.meta.key());
    }
    triggered
}

/// A pod was updated.
pub fn on_pod_updated(old: &Pod, new: &Pod, cache: &impl Lookup) -> Triggered {
    let mut triggered = Triggered::default();
    if old.meta.resource_version == new.meta.resource_version {
        return triggered;
    }
    let is_relabelled = old.meta.labels != new.meta.labels;
    if new.meta.is_deleting() {
        triggered.pod_deleted(new, cache);
        if is_relabelled {
            triggered.pod_deleted(old, cache);
        }
        return triggered;
    }
    let changed_hands = old.meta.controller() != new.meta.controller();
    if changed_hands && let Some(previous) = controller_of(old, cache) {
        triggered.enqueue(previous.meta.key());
    }
    if new.meta.controller().is_none() {
        if is_relabelled || changed_hands {
            triggered.enqueue_matching(new, cache);
        }
    } else if let Some(set) = controller_of(new, cache) {
        triggered.enqueue(set.meta.key());
        let became_ready = !old.is_ready() && new.is_ready();
        if became_ready {
            triggered.enqueue_for_availability(set);
        }
    }
    triggered
}

/// A pod was deleted; its last known state may be stale.
pub fn on_pod_deleted(pod: &Pod, cache: &impl Lookup) -> Triggered {
    let mut triggered = Triggered::default();
    triggered.pod_deleted(pod, cache);
    triggered
}

/// The set that a pod's controller reference names, if the uid matches.
fn controller_of<'a>(pod: &Pod, cache: &'a impl Lookup) -> Option<&'a ReplicaSet> {
    let controller = pod.meta.controller()?;
    let set = cache.replica_set(&pod.meta.namespace, &controller.name)?;
    (controller.kind == set.kind.as_str() && set.meta.uid == controller.uid).then_some(set)
}

impl Triggered {
    fn pod_deleted(&mut self, pod: &Pod, cache: &impl Lookup) {
        if let Some(set) = controller_of(pod, cache) {
            self.met.push(MetExpectation::Deletion { set: set.meta.key(), pod: pod.meta.key() });
            self.enqueue(set.meta.key());
        }
    }

    /// Enqueues all sets whose selector matches an orphan.
    fn enqueue_matching(&mut self, orphan: &Pod, cache: &impl Lookup) {
        for set in cache.replica_sets(&orphan.meta.namespace) {
            if set.selector.as_ref().is_ok_and(|selector| selector.matches_orphan(&orphan.meta.labels)) {
                self.enqueue(set.meta.key());
            }
        }
    }

    /// Enqueues a set for the time at which a pod that is ready now may become available.
    fn enqueue_for_availability(&mut self, set: &ReplicaSet) {
        match u64::try_from(set.min_ready_seconds) {
            Ok(seconds) if seconds > 0 => self.enqueue_after(set.meta.key(), Duration::from_secs(seconds)),
            _ => {}
        }
    }

    fn enqueue(&mut self, key: ObjectKey) {
        self.enqueue_after(key, Duration::ZERO);
    }

    fn enqueue_after(&mut self, key: ObjectKey, after: Duration) {
        let entry = Enqueue { key, after };
        if !self.enqueue.contains(&entry) {
            self.enqueue.push(entry);
        }
    }
}
