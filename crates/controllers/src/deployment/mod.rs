//! Deployments: observe, decide, apply; after some refusals, decide again.

mod apply;
mod claim;
mod last_writes;
mod observe;
mod rollout_end;
mod triggers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::Wake;
use gantry_decide::deployment::{Decision, Repairs, SyncError, SyncResult};
use gantry_decide::queue::RetryPolicy;
use gantry_decide::written_versions::WrittenVersions;
use gantry_model::{ObjectKey, Refusal, RefusalKind};

use crate::context::{Assembly, Context, Reconciler};
use apply::ApplyError;
use observe::{Caches, SyncSnapshot};

/// How often one sync may decide again after a refusal.
const DECISIONS_MAX: usize = 10;

#[derive(Clone, Debug)]
struct Deployments {
    context: Context,
    caches: Caches,
    repairs: Repairs,
    /// The versions of ReplicaSets that the cache has to reach: of those that were created, or written with an unknown
    /// outcome.
    written_sets: Arc<Mutex<WrittenVersions>>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("deployment");
    triggers::subscribe(&caches, &queue);
    let workers = context.workers.deployment;
    let repairs = assembly.options.repairs;
    let controller = Deployments { context, caches, repairs, written_sets: Arc::default() };
    assembly.work(&queue, (workers, RetryPolicy::DEPLOYMENT), controller);
}

impl Reconciler<ObjectKey> for Deployments {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let Some(decision) = self.try_sync(key).await? else { return Ok(Wake::OnChange) };
        match decision.result {
            SyncResult::Done => Ok(decision.wake),
            // A decision that failed has no time for the next sync: it ended before the status, which sets one.
            SyncResult::Failed(error @ SyncError::NamespaceTerminating) => {
                Err(Refusal::new(RefusalKind::NamespaceTerminating, error.to_string()))
            }
            SyncResult::Failed(error) => Err(Refusal::other(error.to_string())),
        }
    }
}

impl Deployments {
    async fn try_sync(&self, key: &ObjectKey) -> Result<Option<Decision>, Refusal> {
        // The version of the cache is read before the cache: what is read is at least as new.
        let read = self.caches.versions();
        self.written_sets().check(key, &read).map_err(|stale| Refusal::other(stale.to_string()))?;
        let Some(mut snapshot) = self.caches.observe(key) else { return Ok(None) };
        self.claim(&mut snapshot).await?;
        let mut refused = None;
        for _ in 0..DECISIONS_MAX {
            let (decision, must_be_confirmed) =
                snapshot.decide(self.context.clock.now(), refused.take(), self.repairs);
            if must_be_confirmed {
                self.confirm(&snapshot).await?;
            }
            let applied = self.apply(&mut snapshot, &decision).await;
            self.caches.note_writes(&snapshot);
            match applied {
                Ok(()) => return Ok(Some(decision)),
                Err(ApplyError::Failed(refusal)) => return Err(refusal),
                Err(ApplyError::DecideAgain(step)) => refused = Some(step),
            }
        }
        Err(Refusal::other("refused repeatedly within one sync"))
    }

    fn written_sets(&self) -> MutexGuard<'_, WrittenVersions> {
        self.written_sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SyncSnapshot {
    fn key(&self) -> ObjectKey {
        self.deployment.parsed.meta.key()
    }
}
