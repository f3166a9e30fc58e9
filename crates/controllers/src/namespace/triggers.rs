//! The changes that enqueue a namespace: its own while it is terminating, and the deletion of its pods.

use gantry_model::Name;
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{InformerEvent, Queue};

use super::is_active;
use super::observe::Caches;

/// Subscribes the queue to the caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.namespaces.subscribe(move |change| {
        if !is_active(&change.object().wire) {
            to.add(change.object().key().name);
        }
    });
    let (view, to) = (caches.clone(), queue.clone());
    caches.pods.subscribe(move |change| {
        let InformerEvent::Deleted(pod) = change else { return };
        let name = Name::from(pod.meta.namespace.as_str());
        if view.terminating(&name).is_some() {
            to.add(name);
        }
    });
}
