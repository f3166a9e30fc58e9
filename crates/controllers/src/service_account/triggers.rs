//! What wakes a namespace: anything about itself, and the loss of its account.

use gantry_model::Name;
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{Change, Queue};

use super::observe::Caches;

/// Has the queue hear of it.
pub(super) fn subscribe(caches: &Caches, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.namespaces.subscribe(move |change| to.add(change.object().key().name));
    let to = queue.clone();
    caches.accounts.subscribe(move |change| {
        if let Change::Deleted(account) = change {
            to.add(account.key().namespace.as_str().into());
        }
    });
}
