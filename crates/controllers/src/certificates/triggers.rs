//! The changes that enqueue a request: its own.

use gantry_model::ObjectKey;
use gantry_runtime::Queue;
use gantry_runtime::informer::Cached as _;

use super::observe::Caches;

/// Subscribes the queue to the cache.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<ObjectKey>) {
    let to = queue.clone();
    caches.requests.subscribe(move |change| to.add(change.object().key()));
}
