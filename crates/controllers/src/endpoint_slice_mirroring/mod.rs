//! EndpointSlices of Endpoints that are written by hand, for Services without a selector.

mod apply;
mod observe;
mod triggers;

use gantry_decide::endpoint_slice_mirroring::EVENT_SOURCE;
use gantry_decide::queue::RetryPolicy;
use gantry_decide::services::WORKERS;
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use crate::services::outcome_of;
use observe::Caches;

/// The controller.
#[derive(Clone, Debug)]
struct Mirror {
    context: Context,
    caches: Caches,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("endpoint_slice_mirroring", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let controller = Mirror { context, caches };
    let synced = controller.caches.clone().synced();
    assembly.work(&queue, (WORKERS, RetryPolicy::ENDPOINTS), synced, move |key| {
        let controller = controller.clone();
        async move { outcome_of(&key, controller.sync(&key).await) }
    });
}

impl Mirror {
    /// Syncs one Endpoints object.
    async fn sync(&self, key: &ObjectKey) -> Result<(), Refusal> {
        let snapshot = self.caches.observe(key);
        let mirroring = snapshot.decide();
        if let Some(endpoints) = &snapshot.endpoints {
            for event in &mirroring.events {
                let meta = &endpoints.parsed.meta;
                self.context.record_event(EVENT_SOURCE, "v1", "Endpoints", meta, event.clone());
            }
        }
        Ok(self.apply(key, &snapshot, &mirroring).await?)
    }
}
