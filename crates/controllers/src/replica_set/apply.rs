//! Carries out the steps of a sync: adopts and releases, creates and deletes pods, writes the status.
//!
//! The version of every write is recorded, so that later syncs detect a cache that has not seen it.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use gantry_decide::ownership::{Claims, may_adopt};
use gantry_decide::replica_set::{
    Action, AfterFailedWrite, Decision, ManageResult, Observed, PendingCreations, PendingDeletions,
    after_failed_write, creation_event, deletion_event,
};
use gantry_decide::written_versions::CachedResource as Written;
use gantry_json::Value;
use gantry_model::patch::{self, PatchForm};
use gantry_model::{Event, Meta, Name, ObjectKey, Pod, PodDraft, Refusal, ReplicaSet, ReplicaSetStatus};
use gantry_runtime::informer::Typed as _;
use gantry_runtime::{
    DeleteParams, Encode as _, NoneIf as _, RequestBody, RequestError, ResourcePath, StoredRef,
};
use k8s_openapi::Metadata as _;

use super::ReplicaSets;
use super::kind::CachedSet;

/// Pods with the response to their adoption or release.
type Responses<'a> = Vec<(&'a Pod, Result<(), Refusal>)>;

impl<S: CachedSet> ReplicaSets<S> {
    /// Adopts and releases; all are tried, whatever the other responses.
    pub(super) async fn claim<'a>(
        &self,
        set: &ReplicaSet,
        claims: &Claims<'a, Pod>,
    ) -> (Responses<'a>, Responses<'a>) {
        let may_adopt = if claims.adopt.is_empty() { Ok(()) } else { self.confirm(set).await };
        let adoptions = claims.adopt.iter().map(|pod| async {
            let response = match &may_adopt {
                Ok(()) => self.patch_pod(set, pod, &patch::adopt(&pod.meta.uid, &set.reference())).await,
                Err(refusal) => Err(refusal.clone()),
            };
            (*pod, response)
        });
        let adoptions = join_all(adoptions).await;
        let releases = claims.release.iter().map(|pod| async {
            (*pod, self.patch_pod(set, pod, &patch::release(&pod.meta.uid, [&set.meta.uid])).await)
        });
        (adoptions, join_all(releases).await)
    }

    /// Creates or deletes pods, records events and lowers expectations.
    pub(super) async fn manage(&self, observed: &Observed<'_>, decision: &Decision) -> ManageResult {
        let set = observed.set;
        let key = set.meta.key();
        decision.action.set_expectations(self.context.clock.steady(), &key, &mut self.state().expectations);
        let manage_result = match &decision.action {
            Action::Nothing => ManageResult::nothing(),
            Action::CannotCreate(no_labels) => ManageResult::impossible(*no_labels),
            Action::Create { count, draft } => self.create_pods(set, *count, draft).await,
            Action::Delete { pods } => self.delete_pods(set, &observed.active, pods).await,
        };
        let mut state = self.state();
        for met in &manage_result.met {
            state.lower(met);
        }
        drop(state);
        manage_result
    }

    /// Writes the status; if that fails, retries once after a live read, unless that returns another set of the same
    /// name.
    pub(super) async fn write_status(&self, cached: &S, status: &ReplicaSetStatus) -> Result<(), Refusal> {
        let set = cached.parsed();
        let mut body = cached.with_status(status).map_err(Refusal::other)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let target = target_of::<S>(set);
            let failure = match self.context.api.replace::<StoredRef>(&target.part("status"), &body).await {
                Ok(stored) => {
                    self.state().wrote(set, Written::ReplicaSets, &stored.version());
                    return Ok(());
                }
                Err(failure) => failure,
            };
            match after_failed_write(attempts) {
                AfterFailedWrite::GiveUp => return Err(failure.into()),
                AfterFailedWrite::ReadAndPutAgain => {
                    let live = S::parse(&S::resource(), &Arc::new(self.context.api.get(&target).await?));
                    let live = live.map_err(|error| Refusal::other(error.to_string()))?;
                    if live.parsed().meta.uid != set.meta.uid {
                        return Err(failure.into());
                    }
                    body = live.with_status(status).map_err(Refusal::other)?;
                }
            }
        }
    }

    /// One live read, before the first adoption and before missing pods are recreated.
    pub(super) async fn confirm(&self, set: &ReplicaSet) -> Result<(), Refusal> {
        let live = self.context.api.get::<S::Wire>(&target_of::<S>(set)).await.none_if_absent()?;
        let live = live.and_then(|live| Meta::parse(live.metadata().clone()).ok());
        may_adopt(&set.meta.uid, live.as_ref()).map_err(|refused| Refusal::other(refused.to_string()))
    }

    async fn patch_pod(&self, set: &ReplicaSet, pod: &Pod, body: &Value) -> Result<(), Refusal> {
        let target = ResourcePath::object(&Pod::resource(), Some(&pod.meta.namespace), &pod.meta.name);
        let stored = self.context.api.patch::<StoredRef>(&target, PatchForm::StrategicMerge, body).await?;
        self.wrote_pod(set, &stored);
        Ok(())
    }

    async fn create_pods(&self, set: &ReplicaSet, count: usize, draft: &PodDraft) -> ManageResult {
        let mut creating = PendingCreations::new(set.meta.key(), count);
        // All pods are the same: the body of their requests is encoded once.
        let pod = draft.render().to_body().map_err(|error| Refusal::other(error.to_string()));
        while let Some(batch) = creating.batch() {
            let mut calls: FuturesUnordered<_> = (0..batch).map(|_| self.create_pod(set, &pod)).collect();
            let mut responses = Vec::with_capacity(batch);
            while let Some(response) = calls.next().await {
                self.record_event(set, creation_event(&response));
                responses.push(response);
            }
            creating.completed(responses);
        }
        creating.finish()
    }

    async fn create_pod(
        &self,
        set: &ReplicaSet,
        pod: &Result<RequestBody, Refusal>,
    ) -> Result<Name, Refusal> {
        let pod = pod.as_ref().map_err(Refusal::clone)?;
        let target = ResourcePath::collection(&Pod::resource(), Some(&set.meta.namespace));
        let stored = self.context.api.create::<StoredRef>(&target, pod).await?;
        self.wrote_pod(set, &stored);
        Ok(stored.name())
    }

    async fn delete_pods(&self, set: &ReplicaSet, active: &[&Pod], pods: &[ObjectKey]) -> ManageResult {
        let mut deleting = PendingDeletions::new(set.meta.key());
        let mut calls: FuturesUnordered<_> = pods
            .iter()
            .map(|key| async move { (key, self.delete_pod(active, key).await.map_err(Refusal::from)) })
            .collect();
        while let Some((pod, response)) = calls.next().await {
            self.record_event(set, deletion_event(&pod.name, &response));
            deleting.answered(pod, response);
        }
        deleting.finish()
    }

    async fn delete_pod(&self, active: &[&Pod], key: &ObjectKey) -> Result<(), RequestError> {
        let known = active.iter().find(|pod| pod.meta.name == key.name);
        let deletion = DeleteParams { uid: known.map(|pod| pod.meta.uid.clone()), ..DeleteParams::default() };
        self.context
            .api
            .delete(&ResourcePath::object(&Pod::resource(), Some(&key.namespace), &key.name), &deletion)
            .await
    }

    fn wrote_pod(&self, set: &ReplicaSet, stored: &StoredRef) {
        self.state().wrote(set, Written::Pods, &stored.version());
    }

    fn record_event(&self, set: &ReplicaSet, event: Option<Event>) {
        if let Some(event) = event {
            self.context.record_event(
                S::EVENT_SOURCE,
                S::KIND.api_version(),
                S::KIND.as_str(),
                &set.meta,
                event,
            );
        }
    }
}

fn target_of<S: CachedSet>(set: &ReplicaSet) -> ResourcePath {
    ResourcePath::object(&S::resource(), Some(&set.meta.namespace), &set.meta.name)
}
