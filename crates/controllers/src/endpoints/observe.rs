//! The snapshot: a Service, the pods that it selects, and its Endpoints.

use std::sync::Arc;

use gantry_decide::endpoints::{Decision, Observed, decide};
use gantry_decide::services::TriggerTimes;
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{Pod, Service};
use gantry_runtime::Informer;
use gantry_runtime::informer::CachedEndpoints;

use crate::context::Assembly;
use crate::services::ServiceCaches;

/// The caches that the controller reads.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) services: ServiceCaches,
    pub(super) endpoints: Informer<CachedEndpoints>,
}

/// The objects of one sync.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) service: Arc<Service>,
    pub(super) endpoints: Option<Arc<CachedEndpoints>>,
    pods: Vec<Arc<Pod>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self { services: ServiceCaches::of(assembly), endpoints: assembly.informer() }
    }

    /// The version that the cache of Endpoints has reached.
    pub(super) fn versions(&self) -> ReadVersions {
        ReadVersions::from([(CachedResource::Endpoints, self.endpoints.read().version().clone())])
    }

    /// Takes the snapshot of one Service.
    pub(super) fn observe(&self, service: Arc<Service>) -> Snapshot {
        let endpoints = self.endpoints.read().get(&service.meta.key()).cloned();
        Snapshot { endpoints, pods: self.services.pods_of(&service), service }
    }
}

impl Snapshot {
    /// Decides what to do.
    pub(super) fn decide(&self, times: &mut TriggerTimes) -> Decision {
        let pods: Vec<&Pod> = self.pods.iter().map(|pod| &**pod).collect();
        let triggered = times.observe(&self.service, &pods);
        let current = self.endpoints.as_ref().map(|endpoints| &endpoints.parsed);
        decide(&Observed { service: &self.service, pods: &pods, current, triggered })
    }
}
