//! Publishes the certificate of the API server's CA in a ConfigMap of every namespace.

mod apply;
mod observe;
mod triggers;

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, Refusal};

use crate::context::{Assembly, Context, Reconciler};
use observe::Caches;

/// The ConfigMap.
const NAME: &str = "kube-root-ca.crt";
/// Usually at most one namespace has to be synced.
const WORKERS: usize = 1;

#[derive(Clone, Debug)]
struct RootCaPublisher {
    context: Context,
    caches: Caches,
    certificate: Arc<str>,
}

/// Adds the controller, if there is a certificate to publish.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let Some(certificate) = assembly.options.root_ca.as_deref().map(Arc::from) else {
        tracing::info!("no root certificate is given, so none is published");
        return;
    };
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("root_ca_cert_publisher");
    triggers::subscribe(&caches, &queue);
    let controller = RootCaPublisher { context, caches, certificate };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

impl Reconciler<Name> for RootCaPublisher {
    async fn sync(&self, namespace: &Name) -> Result<Wake, Refusal> {
        if let Some(needed_write) = self.caches.needed_write(namespace, &self.certificate) {
            self.apply(namespace, needed_write).await?;
        }
        Ok(Wake::OnChange)
    }
}
