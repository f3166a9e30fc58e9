//! PodDisruptionBudgets: keeps their status up to date, from which the API server allows evictions.

mod apply;
mod observe;
mod scale;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::disruption::WORKERS;
use gantry_decide::queue::RetryPolicy;
use gantry_model::{ObjectKey, Refusal};

use crate::context::{Assembly, Context, Reconciler};
use observe::Caches;

#[derive(Clone, Debug)]
struct Disruption {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("disruption");
    triggers::subscribe(&context, &caches, &queue);
    let controller = Disruption { context, caches };
    assembly.work(&queue, (WORKERS, RetryPolicy::DISRUPTION), controller);
}

impl Reconciler<ObjectKey> for Disruption {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let Some(snapshot) = self.caches.observe(key) else { return Ok(Wake::OnChange) };
        let scales = self.scales(&snapshot).await;
        let decision = snapshot.decide(self.context.clock.now(), &scales);
        self.apply(&snapshot, &decision).await?;
        Ok(decision.wake)
    }
}
