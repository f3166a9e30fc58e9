//! ReplicaSets and, under another kind, ReplicationControllers: keep so many pods alike.
//!
//! The steps of a sync are listed in [`gantry_decide::replica_set`]; here they meet a server. What the controller must
//! remember between two of them, its own writes, is the rules' [`Memory`] behind a lock that is never held across a
//! request.

mod apply;
mod kind;
mod observe;
mod triggers;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::Wake;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_decide::replica_set::{
    Begun, Memory, Report, StatusWrite, consider, decide, must_be_confirmed, report,
};
use gantry_model::ObjectKey;
use gantry_runtime::Queue;
use gantry_runtime::informer::{CachedReplicaSet, CachedReplicationController};

use crate::context::{Assembly, Context};
use kind::CachedSet;
use observe::Caches;

/// The controller of one of the two kinds.
struct ReplicaSets<S> {
    context: Context,
    caches: Caches<S>,
    memory: Arc<Mutex<Memory>>,
}

/// Adds the controller of ReplicaSets to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let workers = assembly.context.workers.replica_set;
    assemble_kind::<CachedReplicaSet>(assembly, "replicaset", workers);
}

/// Adds the controller of ReplicationControllers to a process.
pub(crate) fn assemble_replication_controllers(assembly: &mut Assembly<'_>) {
    let workers = assembly.context.workers.replication_controller;
    assemble_kind::<CachedReplicationController>(assembly, "replicationmanager", workers);
}

fn assemble_kind<S: CachedSet>(assembly: &mut Assembly<'_>, name: &'static str, workers: usize) {
    let context = assembly.context.clone();
    let caches = Caches::<S>::of(&mut assembly.informers);
    let queue = Queue::new(name, context.clock.clone(), &context.metrics);
    let controller = ReplicaSets { context, caches, memory: Arc::default() };
    triggers::subscribe(&controller.caches, &controller.memory, &queue);
    let synced = {
        let caches = controller.caches.clone();
        async move { caches.synced().await }
    };
    assembly.work(queue, (workers, RetryPolicy::REPLICA_SET), synced, move |key| {
        let controller = controller.clone();
        async move { controller.sync(&key).await }
    });
}

impl<S: CachedSet> ReplicaSets<S> {
    /// One look at one set.
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

    async fn try_sync(&self, key: &ObjectKey) -> Result<Option<Report>, String> {
        // How far the caches have come is asked before they are read: what is read is at least as new.
        let read = self.caches.versions();
        let cached = self.caches.sets.read().get(key).cloned();
        // Expectations run out by a clock that is never set: an hour that was skipped is no hour of waiting in vain.
        let steady = self.context.clock.steady();
        let begun = self.memory().begin(steady, key, cached.as_ref().map(|set| set.noun()), &read);
        let standing = match begun.map_err(|stale| stale.to_string())? {
            Begun::Gone => return Ok(None),
            Begun::Present(_, standing) => standing,
        };
        let Some(cached) = &cached else { return Ok(None) };
        let set = cached.noun();
        let pods = self.caches.pods_of(set);
        let considered = match consider(set, standing, pods.iter().map(|pod| &**pod)) {
            Ok(considered) => considered,
            Err(waiting_on) => {
                tracing::warn!(set = %key, %waiting_on, "the set sits still");
                return Ok(None);
            }
        };
        let (adoptions, releases) = self.claim(set, &considered.claims).await;
        let observed = considered.claimed(adoptions, releases).map_err(|failed| failed.to_string())?;
        let relations = self.caches.relations_of(&observed);
        let observed = observed
            .among(relations.sets.iter().map(|set| set.noun()), relations.pods.iter().map(|pod| &**pod));
        let decision = decide(self.context.clock.now(), &observed);
        if must_be_confirmed(&observed, &decision) {
            self.confirm(set).await.map_err(|refusal| refusal.message)?;
        }
        let managed = self.manage(&observed, &decision).await;
        let report = report(self.context.clock.now(), &observed, &decision, &managed);
        if let StatusWrite::Put(status) = &report.status {
            self.write_status(cached, status).await.map_err(|refusal| refusal.message)?;
        }
        Ok(Some(report))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Clone for ReplicaSets<S> {
    fn clone(&self) -> Self {
        Self { context: self.context.clone(), caches: self.caches.clone(), memory: self.memory.clone() }
    }
}

impl<S: CachedSet> fmt::Debug for ReplicaSets<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaSets").field("kind", &S::KIND).finish_non_exhaustive()
    }
}
