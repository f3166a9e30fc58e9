//! Services and the pods that serve them, for the controllers of endpoints.

use std::sync::{Arc, RwLockReadGuard};

use gantry_decide::services::triggers::{Lookup, on_pod};
use gantry_model::{Namespace, ObjectKey, Pod, Service};
use gantry_runtime::informer::{Cached as _, Store};
use gantry_runtime::{Informer, InformerEvent, Queue};

use crate::context::Assembly;

/// The caches of Services and pods.
#[derive(Clone, Debug)]
pub(crate) struct ServiceCaches {
    services: Informer<Service>,
    pods: Informer<Pod>,
}

/// The cache of Services, locked for one lookup.
struct View<'a>(RwLockReadGuard<'a, Store<Service>>);

impl ServiceCaches {
    pub(crate) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self { services: assembly.informer(), pods: assembly.informer() }
    }

    pub(crate) fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.services.read().get(key).cloned()
    }

    /// Returns the pods that a Service selects, in the order of their names.
    pub(crate) fn pods_of(&self, service: &Service) -> Vec<Arc<Pod>> {
        let Some(selector) = &service.selector else { return Vec::new() };
        let store = self.pods.read();
        store.selected(&service.meta.namespace, selector).into_iter().cloned().collect()
    }

    /// Enqueues a Service when it changes, and when a pod changes that it selects.
    pub(crate) fn subscribe(&self, queue: &Queue<ObjectKey>) {
        let to = queue.clone();
        self.services.subscribe(move |change| to.add(change.object().key()));
        let (services, to) = (self.services.clone(), queue.clone());
        self.pods.subscribe(move |change| {
            let old = match change {
                InformerEvent::Updated { old, .. } => Some(&**old),
                InformerEvent::Added(_) | InformerEvent::Deleted(_) => None,
            };
            for service in on_pod(old, change.object(), &View(services.read())) {
                to.add(service);
            }
        });
    }
}

impl Lookup for View<'_> {
    fn services(&self, namespace: &Namespace) -> impl Iterator<Item = &Service> {
        self.0.in_namespace(namespace).map(|service| &**service)
    }
}
