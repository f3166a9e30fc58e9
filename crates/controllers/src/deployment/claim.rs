//! Claims ReplicaSets: afterwards the snapshot has the Deployment's own ReplicaSets and no others.

use std::sync::Arc;

use gantry_decide::ownership::{claim, may_adopt};
use gantry_decide::replica_set::ClaimFailed;
use gantry_model::patch::{self, PatchForm};
use gantry_model::{Meta, Name, OwnerReference, Refusal, RefusalKind, keys};
use gantry_runtime::informer::{CachedReplicaSet, Typed as _};
use gantry_runtime::{ApiResponse, NoneIf as _, ResourcePath};
use k8s_openapi::api::apps::v1 as wire;

use super::Deployments;
use super::apply::parsed_set;
use super::observe::SyncSnapshot;

impl Deployments {
    /// Adopts and releases. Every candidate is tried; one refusal fails the sync.
    pub(super) async fn claim(&self, snapshot: &mut SyncSnapshot) -> Result<(), Refusal> {
        let Some(selector) = snapshot.selector() else {
            snapshot.sets.clear();
            return Ok(());
        };
        let claims =
            claim(&snapshot.deployment.parsed.meta, selector, snapshot.sets.values().map(|set| &set.parsed));
        let names = |sets: &[&gantry_model::ReplicaSet]| -> Vec<Name> {
            sets.iter().map(|set| set.meta.name.clone()).collect()
        };
        let (owned, adopt, release) = (names(&claims.owned), names(&claims.adopt), names(&claims.release));
        let candidates = std::mem::take(&mut snapshot.sets);
        let mut refusals = Vec::new();
        for name in owned {
            snapshot.sets.extend(candidates.get(&name).map(|set| (name, set.clone())));
        }
        let may_adopt = if adopt.is_empty() { Ok(()) } else { self.confirm(snapshot).await };
        for set in adopt.iter().filter_map(|name| candidates.get(name)) {
            let adopted = match &may_adopt {
                Ok(()) => self.adopt(snapshot, set).await,
                Err(refusal) => Err(refusal.clone()),
            };
            match adopted {
                Ok(set) => snapshot.sets.extend([(set.parsed.meta.name.clone(), Arc::new(set))]),
                // It was deleted meanwhile.
                Err(refusal) if refusal.kind == RefusalKind::NotFound => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        for set in release.iter().filter_map(|name| candidates.get(name)) {
            match self.release(snapshot, set).await {
                // It was deleted meanwhile, or another set has its name: either way it is not owned any more.
                Ok(()) | Err(Refusal { kind: RefusalKind::NotFound | RefusalKind::Invalid, .. }) => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        if refusals.is_empty() { Ok(()) } else { Err(Refusal::other(ClaimFailed { refusals }.to_string())) }
    }

    /// One live read, before the first adoption and before missing sets are recreated.
    pub(super) async fn confirm(&self, snapshot: &SyncSnapshot) -> Result<(), Refusal> {
        let meta = &snapshot.deployment.parsed.meta;
        let live = self.context.api.get::<wire::Deployment>(&target_of(meta)).await.none_if_absent()?;
        let live = live.and_then(|live| Meta::parse(live.metadata).ok());
        may_adopt(&meta.uid, live.as_ref()).map_err(|refused| Refusal::other(refused.to_string()))
    }

    async fn adopt(
        &self,
        snapshot: &SyncSnapshot,
        set: &CachedReplicaSet,
    ) -> Result<CachedReplicaSet, Refusal> {
        let owner =
            OwnerReference::to_controller(keys::APPS_V1, keys::DEPLOYMENT, &snapshot.deployment.parsed.meta);
        let body = patch::adopt(&set.parsed.meta.uid, &owner);
        self.patch(set, &body).await
    }

    async fn release(&self, snapshot: &SyncSnapshot, set: &CachedReplicaSet) -> Result<(), Refusal> {
        let body = patch::release(&set.parsed.meta.uid, [&snapshot.deployment.parsed.meta.uid]);
        self.patch(set, &body).await.map(drop)
    }

    async fn patch(
        &self,
        set: &CachedReplicaSet,
        body: &gantry_json::Value,
    ) -> Result<CachedReplicaSet, Refusal> {
        let resource = CachedReplicaSet::resource();
        let target = ResourcePath::object(&resource, Some(&set.parsed.meta.namespace), &set.parsed.meta.name);
        let stored = self.context.api.patch::<ApiResponse>(&target, PatchForm::StrategicMerge, body).await?;
        parsed_set(&stored, Some(set))
    }
}

fn target_of(meta: &Meta) -> ResourcePath {
    ResourcePath::object(
        &gantry_runtime::informer::CachedDeployment::resource(),
        Some(&meta.namespace),
        &meta.name,
    )
}
