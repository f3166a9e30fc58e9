//! The changes that enqueue Endpoints: their own, those of their Service, and those of the slices that mirror them.

use gantry_decide::endpoint_slice_mirroring::service_of;
use gantry_model::ObjectKey;
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{InformerEvent, Queue};

use super::observe::Caches;

/// Subscribes the queue to all caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<ObjectKey>) {
    let to = queue.clone();
    caches.endpoints.subscribe(move |change| to.add(change.object().key()));
    let to = queue.clone();
    caches.services.subscribe(move |change| {
        let had_selector = match change {
            InformerEvent::Updated { old, .. } => old.selector.is_some(),
            InformerEvent::Added(_) | InformerEvent::Deleted(_) => true,
        };
        // The Endpoints of other Services are not written by hand.
        if change.object().selector.is_none() || !had_selector {
            to.add(change.object().key());
        }
    });
    caches.slices.subscribe(queue, service_of);
}
