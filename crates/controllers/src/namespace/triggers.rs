//! What wakes a namespace: anything about itself once it is to go, and every pod of it that has gone.

use gantry_model::Name;
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{Change, Queue};

use super::is_active;
use super::observe::Caches;

/// Has the queue hear of it.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.namespaces.subscribe(move |change| {
        if !is_active(&change.object().wire) {
            to.add(change.object().key().name);
        }
    });
    let (view, to) = (caches.clone(), queue.clone());
    caches.pods.subscribe(move |change| {
        let Change::Deleted(pod) = change else { return };
        let name = Name::from(pod.meta.namespace.as_str());
        if view.going(&name).is_some() {
            to.add(name);
        }
    });
}
