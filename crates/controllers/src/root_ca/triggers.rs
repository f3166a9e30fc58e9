//! The changes that enqueue a namespace: its own, and those of its ConfigMap.

use gantry_model::Name;
use gantry_runtime::Queue;
use gantry_runtime::informer::Cached as _;

use super::observe::Caches;

/// Subscribes the queue to the caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.namespaces.subscribe(move |change| to.add(change.object().key().name));
    let to = queue.clone();
    caches.maps.subscribe(move |change| to.add(change.object().key().namespace.as_str().into()));
}
