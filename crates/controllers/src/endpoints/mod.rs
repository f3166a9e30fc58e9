//! Endpoints: the addresses of the pods that serve a Service.

mod apply;
mod observe;
mod triggers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::queue::RetryPolicy;
use gantry_decide::services::{Memory, WORKERS, is_managed};
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use crate::services::outcome_of;
use observe::Caches;

/// The controller.
#[derive(Clone, Debug)]
struct EndpointsController {
    context: Context,
    caches: Caches,
    memory: Arc<Mutex<Memory>>,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("endpoint", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let controller = EndpointsController { context, caches, memory: Arc::default() };
    let synced = {
        let (caches, queue) = (controller.caches.clone(), queue.clone());
        async move {
            caches.synced().await;
            triggers::enqueue_existing(&caches, &queue);
        }
    };
    assembly.work(&queue, (WORKERS, RetryPolicy::ENDPOINTS), synced, move |key| {
        let controller = controller.clone();
        async move { outcome_of(&key, controller.sync(&key).await) }
    });
}

impl EndpointsController {
    /// Syncs one Service.
    async fn sync(&self, key: &ObjectKey) -> Result<(), Refusal> {
        // The versions are taken before the caches are read: what is read is at least as new.
        let read = self.caches.versions();
        self.memory().check(key, &read).map_err(|stale| Refusal::other(stale.to_string()))?;
        let Some(service) = self.caches.services.service(key) else {
            self.memory().times.forget(key);
            return self.delete(key).await;
        };
        if !is_managed(&service) {
            return Ok(());
        }
        let snapshot = self.caches.observe(service);
        let decision = snapshot.decide(&mut self.memory().times);
        self.apply(&snapshot, decision).await
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
