//! Carrying out a decision, step by step. Each write goes out under the version in hand, and what the server answers is
//! in hand from then on.

use std::sync::Arc;

use gantry_decide::deployment::{Action, Decision, EVENT_SOURCE, IfRefused, Setback, Step};
use gantry_model::{
    DeploymentEdit, DeploymentStatus, Name, ObjectKey, Refusal, RefusalKind, ReplicaSetDraft, ReplicaSetEdit,
    keys,
};
use gantry_runtime::informer::{Cached as _, CachedDeployment, CachedReplicaSet, Typed as _};
use gantry_runtime::{Deletion, Target};
use k8s_openapi::api::apps::v1 as wire;

use super::Deployments;
use super::observe::Hand;
use super::outcome::{RolloutOutcome, outcome};

/// Why a decision was not carried out to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The sync fails.
    Failed(Refusal),
    /// The rules are to be asked again.
    DecideAgain(Setback),
}

impl Deployments {
    /// Carries out the steps in order, up to one whose refusal means something.
    pub(super) async fn apply(&self, hand: &mut Hand, decision: &Decision) -> Result<(), Stopped> {
        for step in &decision.steps {
            if !matches!(step.action, Action::Emit(_)) {
                tracing::debug!(deployment = %hand.key(), action = %step.action, "step");
            }
            if let Err(refusal) = self.take(hand, step).await {
                tracing::debug!(deployment = %hand.key(), action = %step.action, %refusal, "refused");
                self.refused(hand, step, refusal)?;
            }
        }
        Ok(())
    }

    async fn take(&self, hand: &mut Hand, step: &Step) -> Result<(), Refusal> {
        match &step.action {
            Action::CreateReplicaSet(draft) => self.create_set(hand, draft).await,
            Action::UpdateReplicaSet { set, edit, .. } => self.update_set(hand, set, edit).await,
            Action::DeleteReplicaSet { set } => self.delete_set(hand, set).await,
            Action::UpdateStatus { status, revision } => {
                self.update_status(hand, status, revision.as_deref()).await
            }
            Action::UpdateDeployment(edit) => self.update_deployment(hand, edit).await,
            Action::Emit(event) => {
                let meta = &hand.deployment.noun.meta;
                self.context.tell(EVENT_SOURCE, keys::APPS_V1, keys::DEPLOYMENT, meta, event.clone());
                Ok(())
            }
        }
    }

    fn refused(&self, hand: &Hand, step: &Step, refusal: Refusal) -> Result<(), Stopped> {
        match step.if_refused {
            IfRefused::Ignore => Ok(()),
            IfRefused::Fail => Err(Stopped::Failed(refusal)),
            IfRefused::DecideOnShrink => Err(Stopped::DecideAgain(Setback::ShrinkFailed)),
            IfRefused::DecideOnCreate => {
                let existing = match &step.action {
                    Action::CreateReplicaSet(draft) if refusal.kind == RefusalKind::AlreadyExists => {
                        let key = ObjectKey { namespace: hand.key().namespace, name: draft.name.clone() };
                        self.caches.set(&key).map(|set| Box::new(set.noun.clone()))
                    }
                    _ => None,
                };
                Err(Stopped::DecideAgain(Setback::CreateRefused { refusal, existing }))
            }
        }
    }

    async fn create_set(&self, hand: &mut Hand, draft: &ReplicaSetDraft) -> Result<(), Refusal> {
        let target = Target::collection(&CachedReplicaSet::resource(), Some(&draft.namespace));
        let stored = self.context.api.create::<wire::ReplicaSet>(&target, &draft.render()).await?;
        hand.keep_set(stored)
    }

    async fn update_set(&self, hand: &mut Hand, set: &Name, edit: &ReplicaSetEdit) -> Result<(), Refusal> {
        let key = ObjectKey { namespace: hand.key().namespace, name: set.clone() };
        // A set that turned out to be ours by its name is not in hand yet, but in the cache.
        let known = hand.sets.get(set).cloned().or_else(|| self.caches.set(&key));
        let Some(known) = known else {
            return Err(Refusal::new(RefusalKind::NotFound, format!("replicaset.apps {set:?} not found")));
        };
        let mut changed = known.wire.clone();
        edit.apply_to(&mut changed);
        let stored = self.context.api.replace::<wire::ReplicaSet>(&set_target(&key), &changed).await?;
        hand.keep_set(stored)
    }

    /// Deletes a set that nobody will go back to; that it is gone already is fine.
    async fn delete_set(&self, hand: &mut Hand, set: &Name) -> Result<(), Refusal> {
        let key = ObjectKey { namespace: hand.key().namespace, name: set.clone() };
        let uid = hand.sets.get(set).map(|set| set.noun.meta.uid.clone());
        let deletion = Deletion { uid, ..Deletion::default() };
        match self.context.api.delete(&set_target(&key), &deletion).await {
            Err(failure) if failure.kind() != RefusalKind::NotFound => Err(failure.into()),
            Ok(()) | Err(_) => {
                hand.sets.remove(set);
                Ok(())
            }
        }
    }

    async fn update_status(
        &self,
        hand: &mut Hand,
        status: &DeploymentStatus,
        revision: Option<&str>,
    ) -> Result<(), Refusal> {
        let mut changed = hand.deployment.wire.clone();
        changed.status = Some(status.render());
        if let Some(revision) = revision {
            let annotations = changed.metadata.annotations.get_or_insert_default();
            annotations.insert(keys::REVISION.to_owned(), revision.to_owned());
        }
        let target = deployment_target(&hand.key()).part("status");
        let stored = self.context.api.replace::<wire::Deployment>(&target, &changed).await?;
        let ended = outcome(&hand.deployment.noun.status, status);
        hand.keep_deployment(stored)?;
        if let Some(ended) = ended {
            log_outcome(hand, ended, status);
        }
        Ok(())
    }

    async fn update_deployment(&self, hand: &mut Hand, edit: &DeploymentEdit) -> Result<(), Refusal> {
        let mut changed = hand.deployment.wire.clone();
        edit.apply_to(&mut changed);
        let stored =
            self.context.api.replace::<wire::Deployment>(&deployment_target(&hand.key()), &changed).await?;
        hand.keep_deployment(stored)
    }
}

impl Hand {
    /// Takes what the server stored for what is in hand.
    fn keep_set(&mut self, stored: wire::ReplicaSet) -> Result<(), Refusal> {
        let set = CachedReplicaSet::parse(&CachedReplicaSet::resource(), stored)
            .map_err(|error| Refusal::other(error.to_string()))?;
        self.sets.insert(set.noun.meta.name.clone(), Arc::new(set));
        Ok(())
    }

    fn keep_deployment(&mut self, stored: wire::Deployment) -> Result<(), Refusal> {
        self.deployment = CachedDeployment::parse(&CachedDeployment::resource(), stored)
            .map_err(|error| Refusal::other(error.to_string()))?;
        Ok(())
    }
}

/// One line for each rollout; its steps are in the events.
fn log_outcome(hand: &Hand, ended: RolloutOutcome, status: &DeploymentStatus) {
    let (key, available) = (hand.key(), status.available);
    let annotations = hand.deployment.wire.metadata.annotations.as_ref();
    let revision = annotations.and_then(|all| all.get(keys::REVISION)).map_or("?", String::as_str);
    match ended {
        RolloutOutcome::Complete => {
            tracing::info!(
                "Deployment {key}: revision {revision} is rolled out, pods available: {available}"
            );
        }
        RolloutOutcome::DeadlineExceeded => {
            let updated = status.updated;
            tracing::warn!(
                "Deployment {key}: revision {revision} made no progress within its deadline; pods updated: {updated}, \
                 available: {available}"
            );
        }
    }
}

fn set_target(key: &ObjectKey) -> Target {
    Target::object(&CachedReplicaSet::resource(), Some(&key.namespace), &key.name)
}

fn deployment_target(key: &ObjectKey) -> Target {
    Target::object(&CachedDeployment::resource(), Some(&key.namespace), &key.name)
}
