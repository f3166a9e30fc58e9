//! Carries out a decision step by step. Each write has the last known version as a precondition, and the snapshot
//! takes the server's response.

use std::sync::Arc;

use gantry_decide::deployment::{Action, Decision, EVENT_SOURCE, IfRefused, RefusedStep, Step};
use gantry_decide::written_versions::CachedResource;
use gantry_model::{
    DeploymentEdit, DeploymentStatus, Name, ObjectKey, ParseError, Refusal, RefusalKind, ReplicaSetDraft,
    ReplicaSetEdit, keys,
};
use gantry_runtime::informer::{Cached as _, CachedDeployment, CachedReplicaSet, Typed as _};
use gantry_runtime::{ApiResponse, DeleteParams, NoneIf as _, RequestError, ResourcePath};

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
    /// Carries out the steps in order, up to a refusal that is not ignored.
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
                let meta = &snapshot.deployment.parsed.meta;
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
                        self.caches.set(&key).map(|set| Box::new(set.parsed.clone()))
                    }
                    _ => None,
                };
                Err(ApplyError::DecideAgain(RefusedStep::CreateRefused { refusal, existing }))
            }
        }
    }

    async fn create_set(&self, snapshot: &mut SyncSnapshot, draft: &ReplicaSetDraft) -> Result<(), Refusal> {
        let target = ResourcePath::collection(&CachedReplicaSet::resource(), Some(&draft.namespace));
        let key = ObjectKey { namespace: draft.namespace.clone(), name: draft.name.clone() };
        let created = self.context.api.create::<ApiResponse>(&target, &draft.render()).await;
        let stored = parsed_set(&self.known_outcome(snapshot, &key, created).await?, None)?;
        self.note_written_set(snapshot, &stored);
        snapshot.update_set_in_snapshot(stored);
        Ok(())
    }

    /// Reads a set if the outcome of a write to it is unknown. If the template changed before the cache shows the
    /// write, the next sync could give the same revision to another set.
    async fn known_outcome(
        &self,
        snapshot: &SyncSnapshot,
        key: &ObjectKey,
        written: Result<ApiResponse, RequestError>,
    ) -> Result<ApiResponse, Refusal> {
        if written.as_ref().is_err_and(RequestError::is_outcome_unknown)
            && let Ok(stored) = self.context.api.get::<ApiResponse>(&set_target(key)).await
            && let Ok(stored) = parsed_set(&stored, None)
        {
            self.note_written_set(snapshot, &stored);
        }
        Ok(written?)
    }

    /// Records the version of a set: no sync decides before the cache shows it.
    fn note_written_set(&self, snapshot: &SyncSnapshot, set: &CachedReplicaSet) {
        let uid = &snapshot.deployment.parsed.meta.uid;
        self.written_sets().wrote(&snapshot.key(), uid, CachedResource::ReplicaSets, set.version());
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
        let changed = known.with_edit(edit).map_err(|error| unreadable(&error))?;
        let replaced = self.context.api.replace::<ApiResponse>(&set_target(&key), &changed).await;
        let stored = self.known_outcome(snapshot, &key, replaced).await?;
        snapshot.update_set_in_snapshot(parsed_set(&stored, Some(&known))?);
        Ok(())
    }

    /// Deletes a set in the observed version, so that one that has grown meanwhile is kept; not found counts as
    /// success.
    async fn delete_set(&self, snapshot: &mut SyncSnapshot, set: &Name) -> Result<(), Refusal> {
        let key = ObjectKey { namespace: snapshot.key().namespace, name: set.clone() };
        let seen = snapshot.sets.get(set);
        let deletion = DeleteParams {
            uid: seen.map(|seen| seen.parsed.meta.uid.clone()),
            version: seen.map(|seen| seen.version().clone()),
            ..DeleteParams::default()
        };
        self.context.api.delete(&set_target(&key), &deletion).await.none_if_absent()?;
        snapshot.sets.remove(set);
        Ok(())
    }

    async fn update_status(
        &self,
        snapshot: &mut SyncSnapshot,
        status: &DeploymentStatus,
        revision: Option<&str>,
    ) -> Result<(), Refusal> {
        let changed =
            snapshot.deployment.with_status(status, revision).map_err(|error| unreadable(&error))?;
        let target = deployment_target(&snapshot.key()).part("status");
        let stored = self.context.api.replace::<ApiResponse>(&target, &changed).await?;
        let ended = result(&snapshot.deployment.parsed.status, status);
        snapshot.update_deployment_in_snapshot(&stored)?;
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
        let changed = snapshot.deployment.with_edit(edit).map_err(|error| unreadable(&error))?;
        let target = deployment_target(&snapshot.key());
        let stored = self.context.api.replace::<ApiResponse>(&target, &changed).await?;
        snapshot.update_deployment_in_snapshot(&stored)
    }
}

impl SyncSnapshot {
    /// Replaces the object in the snapshot by what the server stored.
    fn update_set_in_snapshot(&mut self, stored: CachedReplicaSet) {
        self.sets.insert(stored.parsed.meta.name.clone(), Arc::new(stored));
    }

    fn update_deployment_in_snapshot(&mut self, stored: &ApiResponse) -> Result<(), Refusal> {
        let deployment = CachedDeployment::of_response(stored, Some(&self.deployment))
            .map_err(|error| unreadable(&error))?;
        self.deployment = Arc::new(deployment);
        Ok(())
    }
}

/// The set in a response; `known` is its state before.
pub(super) fn parsed_set(
    stored: &ApiResponse,
    known: Option<&CachedReplicaSet>,
) -> Result<CachedReplicaSet, Refusal> {
    CachedReplicaSet::of_response(stored, known).map_err(|error| unreadable(&error))
}

fn unreadable(error: &ParseError) -> Refusal {
    Refusal::other(error.to_string())
}

/// Logs one line for each rollout; its steps are recorded as events.
fn log_end(snapshot: &SyncSnapshot, ended: RolloutEnd, status: &DeploymentStatus) {
    let (key, available) = (snapshot.key(), status.available);
    let annotations = &snapshot.deployment.parsed.meta.annotations;
    let revision = annotations.get(keys::REVISION).map_or("?", String::as_str);
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
