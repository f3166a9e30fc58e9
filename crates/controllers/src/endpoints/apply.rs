//! Writes Endpoints.

use gantry_decide::endpoints::{Decision, EVENT_SOURCE, failed};
use gantry_decide::written_versions::CachedResource;
use gantry_model::{EndpointsDraft, ObjectKey, Refusal, RefusalKind};
use gantry_runtime::informer::{CachedEndpoints, Typed as _};
use gantry_runtime::{DeleteParams, NoneIf as _, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::EndpointsController;
use super::observe::Snapshot;

impl EndpointsController {
    /// Creates or updates the Endpoints of a Service; records an event if that is refused.
    pub(super) async fn apply(&self, snapshot: &Snapshot, decision: Decision) -> Result<(), Refusal> {
        let (draft, existing) = match &decision {
            Decision::Nothing => return Ok(()),
            Decision::Create(draft) => (draft, None),
            Decision::Update(draft) => (draft, snapshot.endpoints.as_ref()),
        };
        let resource = CachedEndpoints::resource();
        let namespace = Some(&draft.namespace);
        let written = match existing {
            None => {
                let target = ResourcePath::collection(&resource, namespace);
                self.context.api.create::<core::Endpoints>(&target, &draft.render()).await
            }
            Some(existing) => {
                let target = ResourcePath::object(&resource, namespace, &draft.name);
                let changed = draft.change(core::Endpoints::clone(&existing.wire));
                self.context.api.replace::<core::Endpoints>(&target, &changed).await
            }
        };
        match written {
            Ok(stored) => {
                let version = stored.metadata.resource_version.unwrap_or_default();
                self.memory().wrote(&snapshot.service, CachedResource::Endpoints, &version.into());
                Ok(())
            }
            Err(failure) => {
                let refusal = Refusal::from(failure);
                self.record_refusal(snapshot, draft, &refusal);
                Err(refusal)
            }
        }
    }

    /// Deletes the Endpoints of a deleted Service.
    pub(super) async fn delete(&self, key: &ObjectKey) -> Result<(), Refusal> {
        let resource = CachedEndpoints::resource();
        let target = ResourcePath::object(&resource, Some(&key.namespace), &key.name);
        self.context.api.delete(&target, &DeleteParams::default()).await.none_if_absent()?;
        Ok(())
    }

    /// Records an event about a refused write, unless the namespace is terminating.
    fn record_refusal(&self, snapshot: &Snapshot, draft: &EndpointsDraft, refusal: &Refusal) {
        if refusal.kind == RefusalKind::NamespaceTerminating {
            return;
        }
        let event = failed(draft, snapshot.endpoints.is_none(), &refusal.message);
        // Endpoints that could not be created have no uid: the event is about their Service.
        let service = &snapshot.service.meta;
        let meta = snapshot.endpoints.as_ref().map_or(service, |endpoints| &endpoints.parsed.meta);
        self.context.record_event(EVENT_SOURCE, "v1", "Endpoints", meta, event);
    }
}
