//! The cache of EndpointSlices, for both controllers that write them.

use std::sync::Arc;

use gantry_decide::endpoint_slices::SliceUpdate;
use gantry_model::{EndpointSlice, Name, ObjectKey, ResourceVersion, Selector, keys};
use gantry_runtime::informer::CachedEndpointSlice;
use gantry_runtime::{Informer, InformerEvent, Queue};
use k8s_openapi::api::discovery::v1 as discovery;

use crate::context::Assembly;

/// The cache of EndpointSlices, for the controller that manages some of them.
#[derive(Clone, Debug)]
pub(crate) struct SliceCache {
    slices: Informer<CachedEndpointSlice>,
    manager: &'static str,
}

impl SliceCache {
    /// `manager` is the value of the label `endpointslice.kubernetes.io/managed-by`.
    pub(crate) fn of(assembly: &mut Assembly<'_>, manager: &'static str) -> Self {
        Self { slices: assembly.informer(), manager }
    }

    /// Returns the version of the newest slice in the cache.
    pub(crate) fn version(&self) -> ResourceVersion {
        self.slices.read().version().clone()
    }

    /// Returns the slices of the controller for a Service, without those that are being deleted.
    pub(crate) fn slices_of(&self, service: &ObjectKey) -> Vec<Arc<CachedEndpointSlice>> {
        let selector = Selector::with_labels([
            (keys::SERVICE_NAME, service.name.as_str()),
            (keys::SLICE_MANAGED_BY, self.manager),
        ]);
        let store = self.slices.read();
        let found = store.selected(&service.namespace, &selector).into_iter();
        found.filter(|slice| !slice.parsed.meta.is_deleting()).cloned().collect()
    }

    /// Subscribes the queue to changes of slices; `service_of` returns the Service to enqueue.
    pub(crate) fn subscribe(&self, queue: &Queue<ObjectKey>, service_of: fn(&EndpointSlice) -> Option<Name>) {
        let queue = queue.clone();
        let enqueue = move |slice: &EndpointSlice| {
            if let Some(name) = service_of(slice) {
                queue.add(ObjectKey { namespace: slice.meta.namespace.clone(), name });
            }
        };
        self.slices.subscribe(move |change| {
            enqueue(&change.object().parsed);
            // The Service that a relabelled slice belonged to has to be synced as well.
            if let InformerEvent::Updated { old, .. } = change {
                enqueue(&old.parsed);
            }
        });
    }
}

/// Returns the slice to write for an update; `None` if it is not among those that were read.
pub(crate) fn updated_slice(
    read: &[Arc<CachedEndpointSlice>],
    update: &SliceUpdate,
) -> Option<discovery::EndpointSlice> {
    let slice = read.iter().find(|slice| slice.parsed.meta.name == update.name)?;
    let mut changed = discovery::EndpointSlice::clone(&slice.wire);
    changed.metadata.labels = Some(update.labels.clone());
    changed.metadata.annotations = Some(update.annotations.clone());
    update.content.write(&mut changed);
    Some(changed)
}
