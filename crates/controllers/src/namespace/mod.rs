//! Terminating namespaces: deletes their content, pods first, and finalizes them.

mod apply;
mod observe;
mod triggers;

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::namespace::{NextStep, conditions, next};
use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, Refusal, RefusalKind};
use gantry_runtime::{NoneIf as _, RequestError};
use k8s_openapi::api::core::v1 as core;

use crate::context::{Assembly, Context, Reconciler};
use observe::Caches;

#[derive(Clone, Debug)]
struct Namespaces {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("namespace");
    triggers::subscribe(&caches, &queue);
    let workers = context.workers.namespace;
    let controller = Namespaces { context, caches };
    assembly.work(&queue, (workers, RetryPolicy::REPLICA_SET), controller);
}

/// Whether new objects can be created in a namespace.
pub(crate) fn is_active(namespace: &core::Namespace) -> bool {
    let phase = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    namespace.metadata.deletion_timestamp.is_none() && phase != Some("Terminating")
}

/// Treats "already exists" and a terminating namespace as success.
pub(crate) fn ignore_existing<T>(written: Result<T, RequestError>) -> Result<(), RequestError> {
    let ignored = [RefusalKind::AlreadyExists, RefusalKind::NamespaceTerminating, RefusalKind::NotFound];
    written.none_if(&ignored).map(drop)
}

impl Reconciler<Name> for Namespaces {
    async fn sync(&self, name: &Name) -> Result<Wake, Refusal> {
        let Some(namespace) = self.caches.terminating(name) else { return Ok(Wake::OnChange) };
        let remaining_content = self.delete_content(name).await?;
        let namespace = self.report(Arc::unwrap_or_clone(namespace), conditions(&remaining_content)).await?;
        match next(&remaining_content) {
            NextStep::Finalize => {
                self.finalize(namespace).await?;
                Ok(Wake::OnChange)
            }
            NextStep::CheckAgain(after) => Ok(Wake::After(after)),
            NextStep::Retry => Ok(Wake::Soon),
        }
    }
}
