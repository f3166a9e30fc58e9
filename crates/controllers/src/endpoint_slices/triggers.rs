//! What wakes the slices of a Service: its changes, those of its pods, and their own.

use gantry_decide::endpoint_slices::service_of;
use gantry_model::{EndpointSlice, ObjectKey};
use gantry_runtime::{InformerEvent, Queue};

use super::observe::Caches;

/// Subscribes the queue to every change.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<ObjectKey>) {
    caches.services.subscribe(queue);
    let to = queue.clone();
    let wake = move |slice: &EndpointSlice| {
        if let Some(name) = service_of(slice) {
            to.add(ObjectKey { namespace: slice.meta.namespace.clone(), name });
        }
    };
    caches.slices.subscribe(move |change| {
        wake(&change.object().noun);
        // A slice that was relabelled is missing where it belonged.
        if let InformerEvent::Updated { old, .. } = change {
            wake(&old.noun);
        }
    });
}
