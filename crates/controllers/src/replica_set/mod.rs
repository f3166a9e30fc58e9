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
use gantry_decide::queue::RetryPolicy;
use gantry_decide::replica_set::{
    ControllerState, StatusWrite, SyncReport, SyncStart, classify_pods, decide, must_be_confirmed, report,
};
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::informer::{CachedReplicaSet, CachedReplicationController};

use crate::context::{Assembly, Context, Reconciler};
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
    let caches = Caches::<S>::of(assembly);
    let queue = assembly.queue(name);
    let controller = ReplicaSets { context, caches, state: Arc::default() };
    triggers::subscribe(&controller.caches, &controller.state, &queue);
    assembly.work(&queue, (workers, RetryPolicy::REPLICA_SET), controller);
}

impl<S: CachedSet> Reconciler<ObjectKey> for ReplicaSets<S> {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let Some(report) = self.try_sync(key).await? else { return Ok(Wake::OnChange) };
        match report.wake(self.context.clock.now()) {
            Wake::Soon => Err(Refusal::other(report.waiting_on.to_string())),
            wake => Ok(wake),
        }
    }
}

impl<S: CachedSet> ReplicaSets<S> {
    async fn try_sync(&self, key: &ObjectKey) -> Result<Option<SyncReport>, Refusal> {
        // The versions of the caches are read before the caches: what is read is at least as new.
        let read = self.caches.versions();
        let cached = self.caches.sets.read().get(key).cloned();
        // Expectations time out by the monotonic clock, which cannot be set.
        let steady = self.context.clock.steady();
        let begun = self.state().begin_sync(steady, key, cached.as_ref().map(|set| set.parsed()), &read);
        let expectation_state = match begun.map_err(|stale| Refusal::other(stale.to_string()))? {
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
        let observed = classified.claimed(adoptions, releases);
        let observed = observed.map_err(|failed| Refusal::other(failed.to_string()))?;
        let relations = self.caches.related_to(&observed);
        let observed = observed
            .among(relations.sets.iter().map(|set| set.parsed()), relations.pods.iter().map(|pod| &**pod));
        let decision = decide(self.context.clock.now(), &observed);
        if must_be_confirmed(&observed, &decision) {
            self.confirm(set).await?;
        }
        let manage_result = self.manage(&observed, &decision).await;
        let report = report(self.context.clock.now(), &observed, &decision, &manage_result);
        if let StatusWrite::Put(status) = &report.status {
            self.write_status(cached, status).await?;
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
