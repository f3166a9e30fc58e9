//! The changes that enqueue a set, and the expectations that they meet: the rules evaluate every change.
//!
//! Expectations are lowered before the set is enqueued, in the informer's task.

use std::sync::{Arc, Mutex, PoisonError, RwLockReadGuard};

use gantry_decide::replica_set::ControllerState;
use gantry_decide::replica_set::triggers::{self, Lookup, Triggered};
use gantry_model::{Name, Namespace, ObjectKey, ReplicaSet};
use gantry_runtime::informer::Store;
use gantry_runtime::{InformerEvent, Queue};

use super::kind::CachedSet;
use super::observe::Caches;

/// The sets, locked during one lookup.
struct View<'a, S>(RwLockReadGuard<'a, Store<S>>);

/// Subscribes state and queue to all caches.
pub(super) fn subscribe<S: CachedSet>(
    caches: &Caches<S>,
    state: &Arc<Mutex<ControllerState>>,
    queue: &Queue<ObjectKey>,
) {
    let (graph_state, to) = (state.clone(), queue.clone());
    caches.sets.subscribe(move |change| {
        let triggered = match change {
            InformerEvent::Added(set) => triggers::on_set_added(set.parsed()),
            InformerEvent::Updated { old, new } => triggers::on_set_updated(old.parsed(), new.parsed()),
            InformerEvent::Deleted(set) => triggers::on_set_deleted(set.parsed()),
        };
        follow(triggered, &graph_state, &to);
    });
    let (sets, graph_state, to) = (caches.sets.clone(), state.clone(), queue.clone());
    caches.pods.subscribe(move |change| {
        let view = View(sets.read());
        let triggered = match change {
            InformerEvent::Added(pod) => triggers::on_pod_added(pod, &view),
            InformerEvent::Updated { old, new } => triggers::on_pod_updated(old, new, &view),
            InformerEvent::Deleted(pod) => triggers::on_pod_deleted(pod, &view),
        };
        follow(triggered, &graph_state, &to);
    });
}

fn follow(triggered: Triggered, state: &Mutex<ControllerState>, queue: &Queue<ObjectKey>) {
    if !triggered.met.is_empty() {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        for met in &triggered.met {
            state.lower(met);
        }
    }
    for enqueue in triggered.enqueue {
        if enqueue.after.is_zero() {
            queue.add(enqueue.key);
        } else {
            queue.add_after(enqueue.key, enqueue.after);
        }
    }
}

impl<S: CachedSet> Lookup for View<'_, S> {
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.0.named(namespace, name).map(|set| set.parsed())
    }

    fn replica_sets(&self, namespace: &Namespace) -> impl Iterator<Item = &ReplicaSet> {
        self.0.in_namespace(namespace).map(|set| set.parsed())
    }
}
