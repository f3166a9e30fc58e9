//! Every namespace has a config map with the certificate of the API server's authority, for pods that call it.

mod apply;
mod observe;
mod triggers;

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::Name;
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use observe::Caches;

/// The config map.
const NAME: &str = "kube-root-ca.crt";
/// How many namespaces are looked at side by side; there is hardly ever more than one.
const WORKERS: usize = 1;

/// The controller.
#[derive(Clone, Debug)]
struct Publisher {
    context: Context,
    caches: Caches,
    certificate: Arc<str>,
}

/// Adds the controller to a process; without a certificate there is nothing to publish.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let Some(certificate) = assembly.options.root_ca.as_deref().map(Arc::from) else {
        tracing::info!("no root certificate is given, so none is published");
        return;
    };
    let context = assembly.context.clone();
    let caches = Caches::of(&mut assembly.informers);
    let queue = Queue::new("root_ca_cert_publisher", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let controller = Publisher { context, caches, certificate };
    let synced = {
        let caches = controller.caches.clone();
        async move { caches.synced().await }
    };
    assembly.work(queue, (WORKERS, RetryPolicy::REPLICA_SET), synced, move |namespace| {
        let controller = controller.clone();
        async move { controller.sync(&namespace).await }
    });
}

impl Publisher {
    /// One look at one namespace.
    async fn sync(&self, namespace: &Name) -> (Outcome, Wake) {
        let Some(step) = self.caches.step(namespace, &self.certificate) else {
            return (Outcome::Success, Wake::OnChange);
        };
        match self.apply(namespace, step).await {
            Ok(()) => (Outcome::Success, Wake::OnChange),
            Err(failure) => {
                tracing::debug!(%namespace, %failure, "the root certificate could not be published");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }
}
