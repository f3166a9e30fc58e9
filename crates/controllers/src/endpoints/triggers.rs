//! The changes that enqueue a Service: its own, those of its pods, and the deletion of its Endpoints.

use gantry_decide::endpoints::is_lock;
use gantry_model::ObjectKey;
use gantry_runtime::{InformerEvent, Queue};

use super::observe::Caches;

/// Subscribes the queue to all caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<ObjectKey>) {
    caches.services.subscribe(queue);
    let to = queue.clone();
    // Writes of other clients are not corrected before the Service or a pod changes, as on Kubernetes.
    caches.endpoints.subscribe(move |change| {
        if let InformerEvent::Deleted(endpoints) = change {
            to.add(endpoints.parsed.meta.key());
        }
    });
}

/// Enqueues the Services of all existing Endpoints: one may have been deleted while no controller ran.
pub(super) fn enqueue_existing(caches: &Caches, queue: &Queue<ObjectKey>) {
    for endpoints in caches.endpoints.read().iter().filter(|endpoints| !is_lock(&endpoints.parsed)) {
        queue.add(endpoints.parsed.meta.key());
    }
}
