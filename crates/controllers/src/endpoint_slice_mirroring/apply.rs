//! Writes slices: new ones first, so that no address is missing in between.

use gantry_decide::endpoint_slice_mirroring::Mirroring;
use gantry_json::Value;
use gantry_model::ObjectKey;
use gantry_runtime::informer::{CachedEndpointSlice, Typed as _};
use gantry_runtime::{DeleteParams, NoneIf as _, RequestError, ResourcePath};

use super::Mirror;
use super::observe::Snapshot;
use crate::endpoint_slice_cache::updated_slice;

impl Mirror {
    /// Creates, changes and deletes slices, until a request is refused.
    pub(super) async fn apply(
        &self,
        key: &ObjectKey,
        snapshot: &Snapshot,
        mirroring: &Mirroring,
    ) -> Result<(), RequestError> {
        let (resource, namespace) = (CachedEndpointSlice::resource(), Some(&key.namespace));
        let api = &self.context.api;
        for draft in &mirroring.create {
            api.create::<Value>(&ResourcePath::collection(&resource, namespace), &draft.render()).await?;
        }
        for update in &mirroring.update {
            let Some(changed) = updated_slice(&snapshot.slices, update) else { continue };
            let target = ResourcePath::object(&resource, namespace, &update.name);
            api.replace::<Value>(&target, &changed).await?;
        }
        for name in &mirroring.delete {
            let target = ResourcePath::object(&resource, namespace, name);
            api.delete(&target, &DeleteParams::default()).await.none_if_absent()?;
        }
        Ok(())
    }
}
