//! Which ReplicaSets a change wakes, and what it settles of what they expect.
//!
//! Waking is a hint: the sync looks at what is, never at what changed. The expectations are the exception, for they
//! are about having seen a change; that is why a change leads here first and to the queue second.

use std::time::Duration;

use gantry_model::{Name, Namespace, ObjectKey, Pod, ReplicaSet};

use super::expectations::Settled;

/// Where ReplicaSets are looked up: the cache of whoever asks.
pub trait Lookup {
    /// The ReplicaSet of this name.
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet>;
    /// All ReplicaSets of a namespace, in a fixed order.
    fn replica_sets(&self, namespace: &Namespace) -> impl Iterator<Item = &ReplicaSet>;
}

/// What a change leads to. What it settles comes first, then the sets are enqueued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triggered {
    /// What need not be waited for any more.
    pub settled: Vec<Settled>,
    /// The sets to look at, each at most once for each delay.
    pub enqueue: Vec<Enqueue>,
}

/// A set to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueue {
    /// The set.
    pub key: ObjectKey,
    /// How much later; zero for at once.
    pub after: Duration,
}

/// A ReplicaSet was seen for the first time.
pub fn on_set_added(set: &ReplicaSet) -> Triggered {
    let mut triggered = Triggered::default();
    triggered.enqueue(set.meta.key());
    triggered
}

/// A ReplicaSet was updated, or told about again: it is looked at, whatever changed.
pub fn on_set_updated(old: &ReplicaSet, new: &ReplicaSet) -> Triggered {
    // Another uid under the same name: the deletion in between was missed.
    let mut triggered = if old.meta.uid == new.meta.uid { Triggered::default() } else { on_set_deleted(old) };
    triggered.enqueue(new.meta.key());
    triggered
}

/// A ReplicaSet was deleted; what is known of it may be out of date.
pub fn on_set_deleted(set: &ReplicaSet) -> Triggered {
    let mut triggered = Triggered::default();
    triggered.settled.push(Settled::Everything { set: set.meta.key(), uid: set.meta.uid.clone() });
    triggered.enqueue(set.meta.key());
    triggered
}

/// A pod was seen for the first time.
pub fn on_pod_added(pod: &Pod, cache: &impl Lookup) -> Triggered {
    if pod.meta.is_deleting() {
        // Seen first after a restart, on its way out already.
        return on_pod_deleted(pod, cache);
    }
    let mut triggered = Triggered::default();
    if pod.meta.controller().is_none() {
        triggered.enqueue_matching(pod, cache);
    } else if let Some(set) = controller_of(pod, cache) {
        triggered.settled.push(Settled::Creations { set: set.meta.key(), count: 1 });
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

/// A pod was deleted; what is known of it may be out of date.
pub fn on_pod_deleted(pod: &Pod, cache: &impl Lookup) -> Triggered {
    let mut triggered = Triggered::default();
    triggered.pod_deleted(pod, cache);
    triggered
}

/// The set a pod's controller reference means: of that name, and with that uid.
fn controller_of<'a>(pod: &Pod, cache: &'a impl Lookup) -> Option<&'a ReplicaSet> {
    let controller = pod.meta.controller()?;
    let set = cache.replica_set(&pod.meta.namespace, &controller.name)?;
    (controller.kind == set.kind.as_str() && set.meta.uid == controller.uid).then_some(set)
}

impl Triggered {
    fn pod_deleted(&mut self, pod: &Pod, cache: &impl Lookup) {
        if let Some(set) = controller_of(pod, cache) {
            self.settled.push(Settled::Deletion { set: set.meta.key(), pod: pod.meta.key() });
            self.enqueue(set.meta.key());
        }
    }

    /// Enqueues all sets that would take on an orphan.
    fn enqueue_matching(&mut self, orphan: &Pod, cache: &impl Lookup) {
        for set in cache.replica_sets(&orphan.meta.namespace) {
            if set.selector.as_ref().is_ok_and(|selector| selector.matches_orphan(&orphan.meta.labels)) {
                self.enqueue(set.meta.key());
            }
        }
    }

    /// Enqueues a set for when a pod that is ready now may have become available.
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
