//! What wakes a set, and what need not be waited for any more: every change goes through the rules.
//!
//! What a change settles is noted before the set is queued, in the task that heard of it.

use std::sync::{Arc, Mutex, PoisonError, RwLockReadGuard};

use gantry_decide::replica_set::Memory;
use gantry_decide::replica_set::triggers::{self, Lookup, Triggered};
use gantry_model::{Name, Namespace, ObjectKey, ReplicaSet};
use gantry_runtime::informer::Store;
use gantry_runtime::{Change, Queue};

use super::kind::CachedSet;
use super::observe::Caches;

/// The sets for the moment of one lookup.
struct View<'a, S>(RwLockReadGuard<'a, Store<S>>);

/// Has memory and queue hear of everything.
pub(super) fn subscribe<S: CachedSet>(
    caches: &Caches<S>,
    memory: &Arc<Mutex<Memory>>,
    queue: &Queue<ObjectKey>,
) {
    let (mind, to) = (memory.clone(), queue.clone());
    caches.sets.subscribe(move |change| {
        let triggered = match change {
            Change::Added(set) => triggers::on_set_added(set.noun()),
            Change::Updated { old, new } => triggers::on_set_updated(old.noun(), new.noun()),
            Change::Deleted(set) => triggers::on_set_deleted(set.noun()),
        };
        follow(triggered, &mind, &to);
    });
    let (sets, mind, to) = (caches.sets.clone(), memory.clone(), queue.clone());
    caches.pods.subscribe(move |change| {
        let view = View(sets.read());
        let triggered = match change {
            Change::Added(pod) => triggers::on_pod_added(pod, &view),
            Change::Updated { old, new } => triggers::on_pod_updated(old, new, &view),
            Change::Deleted(pod) => triggers::on_pod_deleted(pod, &view),
        };
        follow(triggered, &mind, &to);
    });
}

fn follow(triggered: Triggered, memory: &Mutex<Memory>, queue: &Queue<ObjectKey>) {
    if !triggered.settled.is_empty() {
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        for settled in &triggered.settled {
            memory.settle(settled);
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
        self.0.named(namespace, name).map(|set| set.noun())
    }

    fn replica_sets(&self, namespace: &Namespace) -> impl Iterator<Item = &ReplicaSet> {
        self.0.in_namespace(namespace).map(|set| set.noun())
    }
}
