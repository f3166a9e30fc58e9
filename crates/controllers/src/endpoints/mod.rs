//! Endpoints: the addresses of the pods that serve a Service.

mod apply;
mod observe;
mod triggers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::Wake;
use gantry_decide::queue::RetryPolicy;
use gantry_decide::services::{Memory, WORKERS, is_managed};
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::Queue;

use crate::context::{Assembly, Context, Reconciler};
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
    let caches = Caches::of(assembly);
    let queue = assembly.queue("endpoint");
    triggers::subscribe(&caches, &queue);
    let controller = EndpointsController { context, caches, memory: Arc::default() };
    assembly.work(&queue, (WORKERS, RetryPolicy::ENDPOINTS), controller);
}

impl Reconciler<ObjectKey> for EndpointsController {
    fn begin(&self, queue: &Queue<ObjectKey>) {
        triggers::enqueue_existing(&self.caches, queue);
    }

    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        // The versions are taken before the caches are read: what is read is at least as new.
        let read = self.caches.versions();
        self.memory().check(key, &read).map_err(|stale| Refusal::other(stale.to_string()))?;
        let Some(service) = self.caches.services.service(key) else {
            self.memory().times.forget(key);
            self.delete(key).await?;
            return Ok(Wake::OnChange);
        };
        if is_managed(&service) {
            let snapshot = self.caches.observe(service);
            let decision = snapshot.decide(&mut self.memory().times);
            self.apply(&snapshot, decision).await?;
        }
        Ok(Wake::OnChange)
    }
}

impl EndpointsController {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
