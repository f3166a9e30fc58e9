//! ReplicaSets and, as another kind, ReplicationControllers.
//!
//! The steps of a sync are listed in [`gantry_decide::replica_set`]; this is their shell. The state between syncs,
//! the controller's own writes, is a [`ControllerState`] behind a lock that is never held across a request.

mod apply;
mod kind;
mod observe;
mod triggers;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::Wake;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_decide::replica_set::{
    ControllerState, StatusWrite, SyncReport, SyncStart, classify_pods, decide, must_be_confirmed, report,
};
use gantry_model::ObjectKey;
use gantry_runtime::Queue;
use gantry_runtime::informer::{CachedReplicaSet, CachedReplicationController};

use crate::context::{Assembly, Context};
use kind::CachedSet;
use observe::Caches;

struct ReplicaSets<S> {
    context: Context,
    caches: Caches<S>,
    state: Arc<Mutex<ControllerState>>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let workers = assembly.context.workers.replica_set;
    assemble_kind::<CachedReplicaSet>(assembly, "replicaset", workers);
}

pub(crate) fn assemble_replication_controllers(assembly: &mut Assembly<'_>) {
    let workers = assembly.context.workers.replication_controller;
    assemble_kind::<CachedReplicationController>(assembly, "replicationmanager", workers);
}

fn assemble_kind<S: CachedSet>(assembly: &mut Assembly<'_>, name: &'static str, workers: usize) {
    let context = assembly.context.clone();
    let caches = Caches::<S>::of(&assembly.informers);
    let queue = Queue::new(name, context.clock.clone(), &context.metrics);
    let controller = ReplicaSets { context, caches, state: Arc::default() };
    triggers::subscribe(&controller.caches, &controller.state, &queue);
    let synced = controller.caches.clone().synced();
    assembly.work(&queue, (workers, RetryPolicy::REPLICA_SET), synced, move |key| {
        let controller = controller.clone();
        async move { controller.sync(&key).await }
    });
}

impl<S: CachedSet> ReplicaSets<S> {
    async fn sync(&self, key: &ObjectKey) -> (Outcome, Wake) {
        match self.try_sync(key).await {
            Ok(None) => (Outcome::Success, Wake::OnChange),
            Ok(Some(report)) => match report.wake(self.context.clock.now()) {
                Wake::Soon => {
                    tracing::debug!(set = %key, waiting_on = %report.waiting_on, "the sync failed and is tried again");
                    (Outcome::Failure, Wake::OnChange)
                }
                wake => (Outcome::Success, wake),
            },
            Err(error) => {
                tracing::debug!(set = %key, error, "the sync failed and is tried again");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }

    async fn try_sync(&self, key: &ObjectKey) -> Result<Option<SyncReport>, String> {
        // The versions of the caches are read before the caches: what is read is at least as new.
        let read = self.caches.versions();
        let cached = self.caches.sets.read().get(key).cloned();
        // Expectations time out by the monotonic clock, which cannot be set.
        let steady = self.context.clock.steady();
        let begun = self.state().begin_sync(steady, key, cached.as_ref().map(|set| set.parsed()), &read);
        let expectation_state = match begun.map_err(|stale| stale.to_string())? {
            SyncStart::Gone => return Ok(None),
            SyncStart::Present(_, expectation_state) => expectation_state,
        };
        let Some(cached) = &cached else { return Ok(None) };
        let set = cached.parsed();
        let pods = self.caches.pods_of(set);
        let classified = match classify_pods(set, expectation_state, pods.iter().map(|pod| &**pod)) {
            Ok(classified) => classified,
            Err(waiting_on) => {
                tracing::warn!(set = %key, %waiting_on, "the ReplicaSet makes no progress");
                return Ok(None);
            }
        };
        let (adoptions, releases) = self.claim(set, &classified.claims).await;
        let observed = classified.claimed(adoptions, releases).map_err(|failed| failed.to_string())?;
        let relations = self.caches.related_to(&observed);
        let observed = observed
            .among(relations.sets.iter().map(|set| set.parsed()), relations.pods.iter().map(|pod| &**pod));
        let decision = decide(self.context.clock.now(), &observed);
        if must_be_confirmed(&observed, &decision) {
            self.confirm(set).await.map_err(|refusal| refusal.message)?;
        }
        let manage_result = self.manage(&observed, &decision).await;
        let report = report(self.context.clock.now(), &observed, &decision, &manage_result);
        if let StatusWrite::Put(status) = &report.status {
            self.write_status(cached, status).await.map_err(|refusal| refusal.message)?;
        }
        Ok(Some(report))
    }

    fn state(&self) -> MutexGuard<'_, ControllerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Clone for ReplicaSets<S> {
    fn clone(&self) -> Self {
        Self { context: self.context.clone(), caches: self.caches.clone(), state: self.state.clone() }
    }
}

impl<S: CachedSet> fmt::Debug for ReplicaSets<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaSets").field("kind", &S::KIND).finish_non_exhaustive()
    }
}
