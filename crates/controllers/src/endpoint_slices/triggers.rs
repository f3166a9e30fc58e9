//! The changes that enqueue a Service: its own, those of its pods, and those of its slices.

use gantry_decide::endpoint_slices::service_of;
use gantry_model::ObjectKey;
use gantry_runtime::Queue;

use super::observe::Caches;

/// Subscribes the queue to all caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<ObjectKey>) {
    caches.services.subscribe(queue);
    caches.slices.subscribe(queue, service_of);
}
