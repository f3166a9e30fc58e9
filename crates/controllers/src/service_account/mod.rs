//! Creates the service account `default` in every namespace.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, Refusal};

use crate::context::{Assembly, Context, Reconciler};
use observe::Caches;

const DEFAULT: &str = "default";
/// Usually at most one namespace has to be synced.
const WORKERS: usize = 1;

#[derive(Clone, Debug)]
struct Accounts {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("serviceaccount");
    triggers::subscribe(&caches, &queue);
    let controller = Accounts { context, caches };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

impl Reconciler<Name> for Accounts {
    async fn sync(&self, namespace: &Name) -> Result<Wake, Refusal> {
        if self.caches.lacks_account(namespace) {
            self.create(namespace).await?;
        }
        Ok(Wake::OnChange)
    }
}
