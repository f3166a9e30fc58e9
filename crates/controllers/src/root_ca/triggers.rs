//! What wakes a namespace: anything about itself, and anything about its map.

use gantry_model::Name;
use gantry_runtime::Queue;
use gantry_runtime::informer::Cached as _;

use super::observe::Caches;

/// Has the queue hear of it.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.namespaces.subscribe(move |change| to.add(change.object().key().name));
    let to = queue.clone();
    caches.maps.subscribe(move |change| to.add(change.object().key().namespace.as_str().into()));
}
