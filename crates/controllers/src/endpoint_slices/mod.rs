//! EndpointSlices: the endpoints of a Service, a hundred to a slice.

mod apply;
mod observe;
mod triggers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::Wake;
use gantry_decide::endpoint_slices::{EVENT_SOURCE, aggregated, failed};
use gantry_decide::queue::RetryPolicy;
use gantry_decide::services::{Memory, WORKERS, is_managed};
use gantry_model::{ObjectKey, Refusal, RefusalKind};

use crate::context::{Assembly, Context, Reconciler};
use observe::Caches;

/// The controller.
#[derive(Clone, Debug)]
struct EndpointSlices {
    context: Context,
    caches: Caches,
    memory: Arc<Mutex<Memory>>,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("endpoint_slice");
    triggers::subscribe(&caches, &queue);
    let controller = EndpointSlices { context, caches, memory: Arc::default() };
    assembly.work(&queue, (WORKERS, RetryPolicy::ENDPOINTS), controller);
}

impl Reconciler<ObjectKey> for EndpointSlices {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        // The versions are taken before the caches are read: what is read is at least as new.
        let read = self.caches.versions();
        self.memory().check(key, &read).map_err(|stale| Refusal::other(stale.to_string()))?;
        let Some(service) = self.caches.services.service(key) else {
            // The garbage collector deletes the slices.
            self.memory().times.forget(key);
            return Ok(Wake::OnChange);
        };
        if !is_managed(&service) {
            return Ok(Wake::OnChange);
        }
        let snapshot = self.caches.observe(service);
        let decision = snapshot.decide(&mut self.memory().times);
        let mut errors = decision.skipped.clone();
        match self.apply(&snapshot, &decision).await {
            Err(refusal) if refusal.kind == RefusalKind::NamespaceTerminating => return Err(refusal),
            Err(refusal) => errors.push(refusal.message),
            Ok(()) => {}
        }
        if errors.is_empty() {
            return Ok(Wake::OnChange);
        }
        let why = aggregated(&errors);
        let meta = &snapshot.service.meta;
        self.context.record_event(EVENT_SOURCE, "v1", "Service", meta, failed(&snapshot.service, &why));
        Err(Refusal::other(why))
    }
}

impl EndpointSlices {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
