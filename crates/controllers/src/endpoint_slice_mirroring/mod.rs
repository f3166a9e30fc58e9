//! EndpointSlices of Endpoints that are written by hand, for Services without a selector.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::endpoint_slice_mirroring::EVENT_SOURCE;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_decide::services::WORKERS;
use gantry_model::{ObjectKey, RefusalKind};
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use observe::Caches;

#[derive(Clone, Debug)]
struct Mirror {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("endpoint_slice_mirroring", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let controller = Mirror { context, caches };
    let synced = {
        let caches = controller.caches.clone();
        async move { caches.synced().await }
    };
    assembly.work(&queue, (WORKERS, RetryPolicy::ENDPOINTS), synced, move |key| {
        let controller = controller.clone();
        async move { controller.sync(&key).await }
    });
}

impl Mirror {
    async fn sync(&self, key: &ObjectKey) -> (Outcome, Wake) {
        let snapshot = self.caches.observe(key);
        let mirroring = snapshot.decide();
        if let Some(endpoints) = &snapshot.endpoints {
            for event in &mirroring.events {
                let meta = &endpoints.noun.meta;
                self.context.record_event(EVENT_SOURCE, "v1", "Endpoints", meta, event.clone());
            }
        }
        let outcome = match self.apply(key, &snapshot, &mirroring).await {
            Ok(()) => Outcome::Success,
            Err(failure) if failure.kind() == RefusalKind::NamespaceTerminating => {
                Outcome::NamespaceTerminating
            }
            Err(failure) => {
                tracing::debug!(endpoints = %key, %failure, "mirroring failed and is tried again");
                Outcome::Failure
            }
        };
        (outcome, Wake::OnChange)
    }
}
