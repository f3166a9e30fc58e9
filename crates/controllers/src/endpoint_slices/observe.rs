//! The snapshot: a Service, the pods that it selects, the zones of their nodes, and its slices.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_decide::endpoint_slices::{Decision, MANAGER, Observed, decide};
use gantry_decide::services::TriggerTimes;
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{EndpointSlice, Name, Namespace, Pod, Service, keys};
use gantry_runtime::Informer;
use gantry_runtime::informer::{CachedEndpointSlice, Plain};
use k8s_openapi::api::core::v1 as core;

use crate::context::Assembly;
use crate::endpoint_slice_cache::SliceCache;
use crate::services::ServiceCaches;

/// The caches that the controller reads.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) services: ServiceCaches,
    pub(super) slices: SliceCache,
    nodes: Informer<Plain<core::Node>>,
}

/// The objects of one sync.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) service: Arc<Service>,
    pub(super) slices: Vec<Arc<CachedEndpointSlice>>,
    pods: Vec<Arc<Pod>>,
    zones: BTreeMap<Name, Option<String>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self {
            services: ServiceCaches::of(assembly),
            slices: SliceCache::of(assembly, MANAGER),
            nodes: assembly.informer(),
        }
    }

    /// Returns the versions that the caches of written resources have reached.
    pub(super) fn versions(&self) -> ReadVersions {
        ReadVersions::from([(CachedResource::EndpointSlices, self.slices.version())])
    }

    /// Takes the snapshot of one Service.
    pub(super) fn observe(&self, service: Arc<Service>) -> Snapshot {
        let pods = self.services.pods_of(&service);
        let (slices, zones) = (self.slices.slices_of(&service.meta.key()), self.zones_of(&pods));
        Snapshot { service, slices, pods, zones }
    }

    fn zones_of(&self, pods: &[Arc<Pod>]) -> BTreeMap<Name, Option<String>> {
        let store = self.nodes.read();
        let cluster_scoped = Namespace::from("");
        let zone = |name: &Name| {
            let node = store.named(&cluster_scoped, name)?;
            let zone = node.wire.metadata.labels.as_ref().and_then(|labels| labels.get(keys::ZONE));
            Some((name.clone(), zone.filter(|zone| !zone.is_empty()).cloned()))
        };
        pods.iter().filter_map(|pod| zone(pod.node.as_ref()?)).collect()
    }
}

impl Snapshot {
    /// Decides what to do.
    pub(super) fn decide(&self, times: &mut TriggerTimes) -> Decision {
        let pods: Vec<&Pod> = self.pods.iter().map(|pod| &**pod).collect();
        let slices: Vec<&EndpointSlice> = self.slices.iter().map(|slice| &slice.parsed).collect();
        let triggered = times.observe(&self.service, &pods);
        decide(&Observed {
            service: &self.service,
            pods: &pods,
            zones: &self.zones,
            slices: &slices,
            triggered,
        })
    }
}
