//! Writes slices: new ones first, so that no endpoint is missing in between.

use gantry_decide::endpoint_slices::Decision;
use gantry_decide::written_versions::CachedResource;
use gantry_model::{Name, Refusal};
use gantry_runtime::informer::{CachedEndpointSlice, Typed as _};
use gantry_runtime::{DeleteParams, NoneIf as _, RequestError, ResourcePath};
use k8s_openapi::api::discovery::v1 as discovery;

use super::EndpointSlices;
use super::observe::Snapshot;
use crate::endpoint_slice_cache::updated_slice;

impl EndpointSlices {
    /// Creates, changes and deletes slices, until a request is refused.
    pub(super) async fn apply(&self, snapshot: &Snapshot, decision: &Decision) -> Result<(), Refusal> {
        let resource = CachedEndpointSlice::resource();
        let meta = &snapshot.service.meta;
        let (namespace, api) = (Some(&meta.namespace), &self.context.api);
        let failed = |what: String| {
            let key = meta.key();
            move |failure: RequestError| {
                let Refusal { kind, message } = Refusal::from(failure);
                Refusal::new(kind, format!("failed to {what} for Service {key}: {message}"))
            }
        };
        for draft in &decision.create {
            let target = ResourcePath::collection(&resource, namespace);
            let created = api.create::<discovery::EndpointSlice>(&target, &draft.render()).await;
            self.wrote(snapshot, created.map_err(failed("create EndpointSlice".to_owned()))?);
        }
        for update in &decision.update {
            let Some(changed) = updated_slice(&snapshot.slices, update) else { continue };
            let target = ResourcePath::object(&resource, namespace, &update.name);
            let updated = api.replace::<discovery::EndpointSlice>(&target, &changed).await;
            self.wrote(snapshot, updated.map_err(failed(format!("update {} EndpointSlice", update.name)))?);
        }
        for name in &decision.delete {
            self.delete(snapshot, name).await.map_err(failed(format!("delete {name} EndpointSlice")))?;
        }
        Ok(())
    }

    async fn delete(&self, snapshot: &Snapshot, name: &Name) -> Result<(), RequestError> {
        let uid = snapshot.slices.iter().find(|slice| slice.parsed.meta.name == *name);
        let deletion =
            DeleteParams { uid: uid.map(|slice| slice.parsed.meta.uid.clone()), ..DeleteParams::default() };
        let namespace = Some(&snapshot.service.meta.namespace);
        let target = ResourcePath::object(&CachedEndpointSlice::resource(), namespace, name);
        self.context.api.delete(&target, &deletion).await.none_if_absent().map(drop)
    }

    fn wrote(&self, snapshot: &Snapshot, stored: discovery::EndpointSlice) {
        let version = stored.metadata.resource_version.unwrap_or_default();
        self.memory().wrote(&snapshot.service, CachedResource::EndpointSlices, &version.into());
    }
}
