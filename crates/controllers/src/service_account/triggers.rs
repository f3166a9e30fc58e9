//! The changes that enqueue a namespace: its own, and the deletion of its account.

use gantry_model::Name;
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{InformerEvent, Queue};

use super::observe::Caches;

/// Subscribes the queue to the caches.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.namespaces.subscribe(move |change| to.add(change.object().key().name));
    let to = queue.clone();
    caches.accounts.subscribe(move |change| {
        if let InformerEvent::Deleted(account) = change {
            to.add(account.key().namespace.as_str().into());
        }
    });
}
