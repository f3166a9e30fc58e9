//! The snapshot: Endpoints, their Service, and the slices that mirror them.

use std::sync::Arc;

use gantry_decide::endpoint_slice_mirroring::{MANAGER, Mirroring, mirror};
use gantry_model::{EndpointSlice, ObjectKey, Selector, Service, keys};
use gantry_runtime::informer::{CachedEndpointSlice, CachedEndpoints};
use gantry_runtime::{Informer, Informers};

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) endpoints: Informer<CachedEndpoints>,
    pub(super) services: Informer<Service>,
    pub(super) slices: Informer<CachedEndpointSlice>,
}

/// The objects of one sync.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) endpoints: Option<Arc<CachedEndpoints>>,
    service: Option<Arc<Service>>,
    pub(super) slices: Vec<Arc<CachedEndpointSlice>>,
}

impl Caches {
    pub(super) fn of(informers: &Informers) -> Self {
        Self { endpoints: informers.of(), services: informers.of(), slices: informers.of() }
    }

    pub(super) async fn synced(&self) {
        self.endpoints.synced().await;
        self.services.synced().await;
        self.slices.synced().await;
    }

    pub(super) fn observe(&self, key: &ObjectKey) -> Snapshot {
        let selector = Selector::with_labels([
            (keys::SERVICE_NAME, key.name.as_str()),
            (keys::SLICE_MANAGED_BY, MANAGER),
        ]);
        let slices = self.slices.read();
        let slices = slices.selected(&key.namespace, &selector).into_iter();
        Snapshot {
            endpoints: self.endpoints.read().get(key).cloned(),
            service: self.services.read().get(key).cloned(),
            slices: slices.filter(|slice| !slice.noun.meta.is_deleting()).cloned().collect(),
        }
    }
}

impl Snapshot {
    pub(super) fn decide(&self) -> Mirroring {
        let slices: Vec<&EndpointSlice> = self.slices.iter().map(|slice| &slice.noun).collect();
        mirror(self.endpoints.as_ref().map(|found| &found.noun), self.service.as_deref(), &slices)
    }
}
