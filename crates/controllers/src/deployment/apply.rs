//! Carries out a decision step by step. Each write has the last known version as a precondition, and the snapshot
//! takes the server's response.

use std::sync::Arc;

use gantry_decide::deployment::{Action, Decision, EVENT_SOURCE, IfRefused, RefusedStep, Step};
use gantry_decide::written_versions::CachedResource;
use gantry_model::{
    DeploymentEdit, DeploymentStatus, Name, ObjectKey, Refusal, RefusalKind, ReplicaSetDraft, ReplicaSetEdit,
    keys,
};
use gantry_runtime::informer::{Cached as _, CachedDeployment, CachedReplicaSet, Typed as _};
use gantry_runtime::{DeleteParams, ResourcePath};
use k8s_openapi::api::apps::v1 as wire;

use super::Deployments;
use super::observe::SyncSnapshot;
use super::rollout_end::{RolloutEnd, result};

/// Why a decision was not carried out completely.
#[derive(Debug)]
pub(super) enum ApplyError {
    /// The sync fails.
    Failed(Refusal),
    /// The refusal needs another decision.
    DecideAgain(RefusedStep),
}

impl Deployments {
    /// Carries out the steps in order, up to a refusal that matters.
    pub(super) async fn apply(
        &self,
        snapshot: &mut SyncSnapshot,
        decision: &Decision,
    ) -> Result<(), ApplyError> {
        for step in &decision.steps {
            if !matches!(step.action, Action::Emit(_)) {
                tracing::debug!(deployment = %snapshot.key(), action = %step.action, "step");
            }
            if let Err(refusal) = self.take(snapshot, step).await {
                tracing::debug!(deployment = %snapshot.key(), action = %step.action, %refusal, "refused");
                self.refused(snapshot, step, refusal)?;
            }
        }
        Ok(())
    }

    async fn take(&self, snapshot: &mut SyncSnapshot, step: &Step) -> Result<(), Refusal> {
        match &step.action {
            Action::CreateReplicaSet(draft) => self.create_set(snapshot, draft).await,
            Action::UpdateReplicaSet { set, edit, .. } => self.update_set(snapshot, set, edit).await,
            Action::DeleteReplicaSet { set } => self.delete_set(snapshot, set).await,
            Action::UpdateStatus { status, revision } => {
                self.update_status(snapshot, status, revision.as_deref()).await
            }
            Action::UpdateDeployment(edit) => self.update_deployment(snapshot, edit).await,
            Action::Emit(event) => {
                let meta = &snapshot.deployment.noun.meta;
                self.context.record_event(EVENT_SOURCE, keys::APPS_V1, keys::DEPLOYMENT, meta, event.clone());
                Ok(())
            }
        }
    }

    fn refused(&self, snapshot: &SyncSnapshot, step: &Step, refusal: Refusal) -> Result<(), ApplyError> {
        match step.if_refused {
            IfRefused::Ignore => Ok(()),
            IfRefused::Fail => Err(ApplyError::Failed(refusal)),
            IfRefused::DecideOnScaleDown => Err(ApplyError::DecideAgain(RefusedStep::ScaleDownFailed)),
            IfRefused::DecideOnCreate => {
                let existing = match &step.action {
                    Action::CreateReplicaSet(draft) if refusal.kind == RefusalKind::AlreadyExists => {
                        let key = ObjectKey { namespace: snapshot.key().namespace, name: draft.name.clone() };
                        self.caches.set(&key).map(|set| Box::new(set.noun.clone()))
                    }
                    _ => None,
                };
                Err(ApplyError::DecideAgain(RefusedStep::CreateRefused { refusal, existing }))
            }
        }
    }

    async fn create_set(&self, snapshot: &mut SyncSnapshot, draft: &ReplicaSetDraft) -> Result<(), Refusal> {
        let target = ResourcePath::collection(&CachedReplicaSet::resource(), Some(&draft.namespace));
        let stored = self.context.api.create::<wire::ReplicaSet>(&target, &draft.render()).await?;
        // Until the cache shows it, no sync may take it for missing.
        let version = stored.metadata.resource_version.clone().unwrap_or_default().into();
        let uid = &snapshot.deployment.noun.meta.uid;
        self.created_sets().wrote(&snapshot.key(), uid, CachedResource::ReplicaSets, &version);
        snapshot.update_set_in_snapshot(stored)
    }

    async fn update_set(
        &self,
        snapshot: &mut SyncSnapshot,
        set: &Name,
        edit: &ReplicaSetEdit,
    ) -> Result<(), Refusal> {
        let key = ObjectKey { namespace: snapshot.key().namespace, name: set.clone() };
        // A set that was recognized by its name is not in the snapshot yet, but in the cache.
        let known = snapshot.sets.get(set).cloned().or_else(|| self.caches.set(&key));
        let Some(known) = known else {
            return Err(Refusal::new(RefusalKind::NotFound, format!("replicaset.apps {set:?} not found")));
        };
        let mut changed = wire::ReplicaSet::clone(&known.wire);
        edit.apply_to(&mut changed);
        let stored = self.context.api.replace::<wire::ReplicaSet>(&set_target(&key), &changed).await?;
        snapshot.update_set_in_snapshot(stored)
    }

    /// Deletes a set; not found counts as success.
    async fn delete_set(&self, snapshot: &mut SyncSnapshot, set: &Name) -> Result<(), Refusal> {
        let key = ObjectKey { namespace: snapshot.key().namespace, name: set.clone() };
        let uid = snapshot.sets.get(set).map(|set| set.noun.meta.uid.clone());
        let deletion = DeleteParams { uid, ..DeleteParams::default() };
        match self.context.api.delete(&set_target(&key), &deletion).await {
            Err(failure) if failure.kind() != RefusalKind::NotFound => Err(failure.into()),
            Ok(()) | Err(_) => {
                snapshot.sets.remove(set);
                Ok(())
            }
        }
    }

    async fn update_status(
        &self,
        snapshot: &mut SyncSnapshot,
        status: &DeploymentStatus,
        revision: Option<&str>,
    ) -> Result<(), Refusal> {
        let mut changed = wire::Deployment::clone(&snapshot.deployment.wire);
        changed.status = Some(status.render());
        if let Some(revision) = revision {
            let annotations = changed.metadata.annotations.get_or_insert_default();
            annotations.insert(keys::REVISION.to_owned(), revision.to_owned());
        }
        let target = deployment_target(&snapshot.key()).part("status");
        let stored = self.context.api.replace::<wire::Deployment>(&target, &changed).await?;
        let ended = result(&snapshot.deployment.noun.status, status);
        snapshot.update_deployment_in_snapshot(stored)?;
        if let Some(ended) = ended {
            log_end(snapshot, ended, status);
        }
        Ok(())
    }

    async fn update_deployment(
        &self,
        snapshot: &mut SyncSnapshot,
        edit: &DeploymentEdit,
    ) -> Result<(), Refusal> {
        let mut changed = wire::Deployment::clone(&snapshot.deployment.wire);
        edit.apply_to(&mut changed);
        let stored = self
            .context
            .api
            .replace::<wire::Deployment>(&deployment_target(&snapshot.key()), &changed)
            .await?;
        snapshot.update_deployment_in_snapshot(stored)
    }
}

impl SyncSnapshot {
    /// Replaces the object in the snapshot by what the server stored.
    fn update_set_in_snapshot(&mut self, stored: wire::ReplicaSet) -> Result<(), Refusal> {
        let set = CachedReplicaSet::parse(&CachedReplicaSet::resource(), &Arc::new(stored))
            .map_err(|error| Refusal::other(error.to_string()))?;
        self.sets.insert(set.noun.meta.name.clone(), Arc::new(set));
        Ok(())
    }

    fn update_deployment_in_snapshot(&mut self, stored: wire::Deployment) -> Result<(), Refusal> {
        let deployment = CachedDeployment::parse(&CachedDeployment::resource(), &Arc::new(stored))
            .map_err(|error| Refusal::other(error.to_string()))?;
        self.deployment = Arc::new(deployment);
        Ok(())
    }
}

/// One line for each rollout; its steps are in the events.
fn log_end(snapshot: &SyncSnapshot, ended: RolloutEnd, status: &DeploymentStatus) {
    let (key, available) = (snapshot.key(), status.available);
    let annotations = snapshot.deployment.wire.metadata.annotations.as_ref();
    let revision = annotations.and_then(|all| all.get(keys::REVISION)).map_or("?", String::as_str);
    match ended {
        RolloutEnd::Complete => {
            tracing::info!(
                "Deployment {key}: revision {revision} is rolled out, pods available: {available}"
            );
        }
        RolloutEnd::DeadlineExceeded => {
            let updated = status.updated;
            tracing::warn!(
                "Deployment {key}: revision {revision} made no progress within its deadline; pods updated: {updated}, \
                 available: {available}"
            );
        }
    }
}

fn set_target(key: &ObjectKey) -> ResourcePath {
    ResourcePath::object(&CachedReplicaSet::resource(), Some(&key.namespace), &key.name)
}

fn deployment_target(key: &ObjectKey) -> ResourcePath {
    ResourcePath::object(&CachedDeployment::resource(), Some(&key.namespace), &key.name)
}
