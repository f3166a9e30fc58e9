//! The snapshot: Endpoints, their Service, and the slices that mirror them.

use std::sync::Arc;

use gantry_decide::endpoint_slice_mirroring::{MANAGER, Mirroring, mirror};
use gantry_model::{EndpointSlice, ObjectKey, Service};
use gantry_runtime::Informer;
use gantry_runtime::informer::{CachedEndpointSlice, CachedEndpoints};

use crate::context::Assembly;
use crate::endpoint_slice_cache::SliceCache;

/// The caches that the controller reads.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) endpoints: Informer<CachedEndpoints>,
    pub(super) services: Informer<Service>,
    pub(super) slices: SliceCache,
}

/// The objects of one sync.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) endpoints: Option<Arc<CachedEndpoints>>,
    service: Option<Arc<Service>>,
    pub(super) slices: Vec<Arc<CachedEndpointSlice>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self {
            endpoints: assembly.informer(),
            services: assembly.informer(),
            slices: SliceCache::of(assembly, MANAGER),
        }
    }

    /// Takes the snapshot of one Endpoints object.
    pub(super) fn observe(&self, key: &ObjectKey) -> Snapshot {
        Snapshot {
            endpoints: self.endpoints.read().get(key).cloned(),
            service: self.services.read().get(key).cloned(),
            slices: self.slices.slices_of(key),
        }
    }
}

impl Snapshot {
    /// Decides what to do.
    pub(super) fn decide(&self) -> Mirroring {
        let slices: Vec<&EndpointSlice> = self.slices.iter().map(|slice| &slice.parsed).collect();
        mirror(self.endpoints.as_ref().map(|found| &found.parsed), self.service.as_deref(), &slices)
    }
}
