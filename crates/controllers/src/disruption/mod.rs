//! PodDisruptionBudgets: keeps the status up to date from which the API server allows evictions.

mod apply;
mod observe;
mod scale;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::disruption::{Decision, WORKERS};
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use observe::Caches;

#[derive(Clone, Debug)]
struct Disruption {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("disruption", context.clock.clone(), &context.metrics);
    triggers::subscribe(&context, &caches, &queue);
    let controller = Disruption { context, caches };
    let synced = controller.caches.clone().synced();
    assembly.work(&queue, (WORKERS, RetryPolicy::DISRUPTION), synced, move |key| {
        let controller = controller.clone();
        async move { controller.sync(&key).await }
    });
}

impl Disruption {
    async fn sync(&self, key: &ObjectKey) -> (Outcome, Wake) {
        match self.try_sync(key).await {
            Ok(None) => (Outcome::Success, Wake::OnChange),
            Ok(Some(decision)) => (Outcome::Success, decision.wake),
            Err(refusal) => {
                tracing::debug!(budget = %key, %refusal, "the sync failed and is tried again");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }

    async fn try_sync(&self, key: &ObjectKey) -> Result<Option<Decision>, Refusal> {
        let Some(snapshot) = self.caches.observe(key) else { return Ok(None) };
        let scales = self.scales(&snapshot).await;
        let decision = snapshot.decide(self.context.clock.now(), &scales);
        self.apply(&snapshot, &decision).await?;
        Ok(Some(decision))
    }
}
