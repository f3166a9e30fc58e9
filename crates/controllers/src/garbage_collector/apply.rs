//! Runs attempts: sends their requests and passes the responses.

use futures::future::join_all;
use gantry_decide::Wake;
use gantry_decide::gc::attempt::FINALIZER_RETRY_JITTER;
use gantry_decide::gc::orphan::{self, Orphaning};
use gantry_decide::gc::{
    AttemptAction, AttemptResult, AttemptStep, DeleteRequest, GraphChange, ItemDisposition, QueueItem,
    attempt,
};
use gantry_decide::queue;
use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, Refusal, Uid};
use gantry_runtime::informer::MetadataOnly;
use gantry_runtime::{DeleteParams, PartialMetadata, ResourcePath, Wire as _};

use super::{Garbage, queue_result};

impl Garbage {
    pub(super) async fn attempt_to_delete(&self, item: &QueueItem) -> (queue::Outcome, Wake) {
        let first = attempt::begin(item, &self.graph_state().context());
        let result = self.run_to_end(self.answer_from_cache(first)).await;
        tracing::trace!(%item, %result, "attempt to delete");
        match &result {
            AttemptResult::Absent(identity) => self.observe(GraphChange::VerifiedAbsent(identity.clone())),
            AttemptResult::Settled { did: AttemptAction::Enqueued(items), .. } => {
                for item in items {
                    self.to_delete.add(item.clone());
                }
            }
            AttemptResult::Settled { did: AttemptAction::Nothing, .. } | AttemptResult::Failed(_) => {}
            AttemptResult::Settled { .. } => tracing::debug!(%item, %result, "collected"),
        }
        queue_result(result.disposition(item, &self.graph_state().graph), &result)
    }

    pub(super) async fn attempt_to_orphan(&self, owner: &Uid) -> (queue::Outcome, Wake) {
        if self.context.shutdown.unless(self.dependents_observed()).await.is_none() {
            return (queue::Outcome::Success, Wake::OnChange);
        }
        let begun = orphan::begin(owner, &self.graph_state().context());
        let result = match begun {
            Orphaning::Done(result) => result,
            Orphaning::Release(releases, afterwards) => {
                let outcomes = join_all(releases.into_iter().map(|first| self.run_to_end(first))).await;
                self.run_to_end(afterwards.resume(outcomes)).await
            }
        };
        let disposition = if matches!(result, AttemptResult::Failed(_)) {
            ItemDisposition::Retry
        } else {
            ItemDisposition::Forget
        };
        queue_result(disposition, &result)
    }

    /// Serves the first read of an attempt from the cache, if it has the object.
    ///
    /// The deletion has the version that was read as a precondition: if it was stale, the object is read live.
    fn answer_from_cache(&self, first: AttemptStep) -> AttemptStep {
        match first {
            AttemptStep::Read(target, reading) => match self.cached(&target) {
                Some(metadata) => reading.resume(Ok(metadata).into(), &mut self.graph_state().context()),
                None => AttemptStep::Read(target, reading),
            },
            other => other,
        }
    }

    /// The object in the cache. An object that is being deleted is read live: its finalizers are not only
    /// preconditions.
    fn cached(&self, identity: &Identity) -> Option<ObjectMetadata> {
        let cache = {
            let graph_state = self.graph_state();
            let resource = graph_state.kinds.resource(&identity.api_version, &identity.kind)?;
            graph_state.caches.get(resource)?.informer.clone()
        };
        let namespace = identity.namespace.clone().unwrap_or_else(|| "".into());
        let objects = cache.read();
        let MetadataOnly(found) = objects.named(&namespace, &identity.name)?.as_ref();
        (found.identity.uid == identity.uid && !found.is_deleting()).then(|| found.clone())
    }

    async fn run_to_end(&self, first: AttemptStep) -> AttemptResult {
        let mut step = first;
        loop {
            step = match step {
                AttemptStep::Done(result) => return result,
                AttemptStep::Wait(delay, waiting) => {
                    // Jitter: two writers in conflict should not collide again.
                    let delay = self.context.clock.with_jitter(delay, FINALIZER_RETRY_JITTER);
                    tokio::time::sleep(delay).await;
                    waiting.resume()
                }
                AttemptStep::Read(target, reading) => {
                    let response = self.read(&target).await;
                    reading.resume(response.into(), &mut self.graph_state().context())
                }
                AttemptStep::Patch(target, patch, patching) => {
                    patching.resume(self.patch(&target, &patch).await.into())
                }
                AttemptStep::Delete(deletion, deleting) => {
                    deleting.resume(self.delete(&deletion).await.into())
                }
            };
        }
    }

    async fn read(&self, identity: &Identity) -> Result<ObjectMetadata, Refusal> {
        let target = self.target(identity)?;
        let found = self.context.api.get_metadata::<PartialMetadata>(&target).await?;
        parse(identity, &found)
    }

    async fn patch(&self, identity: &Identity, patch: &MetadataPatch) -> Result<ObjectMetadata, Refusal> {
        let target = self.target(identity)?;
        let stored = self.context.api.patch::<PartialMetadata>(&target, patch.form(), &patch.body()).await?;
        parse(identity, &stored)
    }

    async fn delete(&self, request: &DeleteRequest) -> Result<(), Refusal> {
        let target = self.target(&request.target)?;
        let deletion = DeleteParams {
            propagation: Some(request.propagation),
            uid: Some(request.uid.clone()),
            version: request.version.clone(),
            grace_seconds: None,
        };
        Ok(self.context.api.delete(&target, &deletion).await?)
    }

    /// The URL of an object, from the currently served kinds.
    fn target(&self, identity: &Identity) -> Result<ResourcePath, Refusal> {
        let graph_state = self.graph_state();
        let resource =
            graph_state.kinds.resource(&identity.api_version, &identity.kind).ok_or_else(|| {
                Refusal::other(format!("no kind {} is served in {}", identity.kind, identity.api_version))
            })?;
        Ok(ResourcePath::object(resource, identity.namespace.as_ref(), &identity.name))
    }
}

fn parse(identity: &Identity, found: &PartialMetadata) -> Result<ObjectMetadata, Refusal> {
    ObjectMetadata::parse(&identity.api_version, &identity.kind, found.meta())
        .map_err(|error| Refusal::other(error.to_string()))
}
