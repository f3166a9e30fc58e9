//! EndpointSlices of Endpoints that are written by hand, for Services without a selector.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::endpoint_slice_mirroring::EVENT_SOURCE;
use gantry_decide::queue::RetryPolicy;
use gantry_decide::services::WORKERS;
use gantry_model::{ObjectKey, Refusal};

use crate::context::{Assembly, Context, Reconciler};
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
    let caches = Caches::of(assembly);
    let queue = assembly.queue("endpoint_slice_mirroring");
    triggers::subscribe(&caches, &queue);
    let controller = Mirror { context, caches };
    assembly.work(&queue, (WORKERS, RetryPolicy::ENDPOINTS), controller);
}

impl Reconciler<ObjectKey> for Mirror {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let snapshot = self.caches.observe(key);
        let mirroring = snapshot.decide();
        if let Some(endpoints) = &snapshot.endpoints {
            for event in &mirroring.events {
                let meta = &endpoints.parsed.meta;
                self.context.record_event(EVENT_SOURCE, "v1", "Endpoints", meta, event.clone());
            }
        }
        self.apply(key, &snapshot, &mirroring).await?;
        Ok(Wake::OnChange)
    }
}
