//! Which Services a changed pod concerns.

use gantry_model::{Namespace, ObjectKey, Pod, Service};

/// Lookups of Services in the caller's cache.
pub trait Lookup {
    /// All Services of a namespace.
    fn services(&self, namespace: &Namespace) -> impl Iterator<Item = &Service>;
}

/// The Services whose endpoints may change because a pod was added, changed or deleted; `old` is its previous state.
pub fn on_pod(old: Option<&Pod>, pod: &Pod, cache: &impl Lookup) -> Vec<ObjectKey> {
    if old.is_some_and(|old| is_same_endpoint(old, pod)) {
        return Vec::new();
    }
    let selects = |service: &&Service, pod: &Pod| {
        service.selector.as_ref().is_some_and(|selector| selector.matches(&pod.meta.labels))
    };
    let concerned =
        |service: &&Service| selects(service, pod) || old.is_some_and(|old| selects(service, old));
    cache.services(&pod.meta.namespace).filter(concerned).map(|service| service.meta.key()).collect()
}

/// Whether nothing that endpoints contain has changed about a pod.
fn is_same_endpoint(old: &Pod, new: &Pod) -> bool {
    old.meta.uid == new.meta.uid
        && old.meta.labels == new.meta.labels
        && old.meta.deleting == new.meta.deleting
        && old.phase == new.phase
        && old.is_ready() == new.is_ready()
        && old.node == new.node
        && old.network == new.network
}
