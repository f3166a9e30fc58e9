//! Publishes the certificate of the API server's CA in a ConfigMap of every namespace.

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

/// The ConfigMap.
const NAME: &str = "kube-root-ca.crt";
/// There is hardly ever more than one namespace to sync.
const WORKERS: usize = 1;

#[derive(Clone, Debug)]
struct RootCaPublisher {
    context: Context,
    caches: Caches,
    certificate: Arc<str>,
}

/// Without a certificate there is nothing to publish.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let Some(certificate) = assembly.options.root_ca.as_deref().map(Arc::from) else {
        tracing::info!("no root certificate is given, so none is published");
        return;
    };
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("root_ca_cert_publisher", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let controller = RootCaPublisher { context, caches, certificate };
    let synced = controller.caches.clone().synced();
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), synced, move |namespace| {
        let controller = controller.clone();
        async move { controller.sync(&namespace).await }
    });
}

impl RootCaPublisher {
    async fn sync(&self, namespace: &Name) -> (Outcome, Wake) {
        let Some(needed_write) = self.caches.needed_write(namespace, &self.certificate) else {
            return (Outcome::Success, Wake::OnChange);
        };
        match self.apply(namespace, needed_write).await {
            Ok(()) => (Outcome::Success, Wake::OnChange),
            Err(failure) => {
                tracing::debug!(%namespace, %failure, "the root certificate could not be published");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }
}
