//! Creates the service account `default` in every namespace.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::Name;
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use observe::Caches;

const DEFAULT: &str = "default";
/// There is hardly ever more than one namespace to sync.
const WORKERS: usize = 1;

#[derive(Clone, Debug)]
struct Accounts {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("serviceaccount", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let controller = Accounts { context, caches };
    let synced = controller.caches.clone().synced();
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), synced, move |namespace| {
        let controller = controller.clone();
        async move { controller.sync(&namespace).await }
    });
}

impl Accounts {
    async fn sync(&self, namespace: &Name) -> (Outcome, Wake) {
        if !self.caches.lacks_account(namespace) {
            return (Outcome::Success, Wake::OnChange);
        }
        match self.create(namespace).await {
            Ok(()) => (Outcome::Success, Wake::OnChange),
            Err(failure) => {
                tracing::debug!(%namespace, %failure, "the default account could not be created");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }
}
