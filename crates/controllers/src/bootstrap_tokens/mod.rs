//! Bootstrap tokens: deletes those that have expired, and signs the ConfigMap `cluster-info` with the others.
//!
//! These controllers run where Gantry runs the API server. Elsewhere kube-controller-manager does the same.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::bootstrap_tokens::{self as rules, TokenCleaning};
use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, ObjectKey, Refusal};

use crate::context::{Assembly, Context, Reconciler};
use observe::{Caches, ClusterInfo};

/// There are few tokens.
const WORKERS: usize = 1;

#[derive(Clone, Debug)]
struct TokenCleaner {
    context: Context,
    caches: Caches,
}

#[derive(Clone, Debug)]
struct ClusterInfoSigner {
    context: Context,
    caches: Caches,
    info: ClusterInfo,
}

pub(crate) fn assemble_cleaner(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue("token_cleaner");
    triggers::each_token(&caches, &queue);
    let controller = TokenCleaner { context, caches };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

pub(crate) fn assemble_signer(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let info = ClusterInfo::of(assembly);
    let queue = assembly.queue("bootstrap_signer_queue");
    triggers::cluster_info(&caches, &info, &queue);
    let controller = ClusterInfoSigner { context, caches, info };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

impl Reconciler<ObjectKey> for TokenCleaner {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let Some((secret, uid)) = self.caches.token(key) else { return Ok(Wake::OnChange) };
        match rules::cleaning(&secret, self.context.clock.now()) {
            TokenCleaning::Keep => Ok(Wake::OnChange),
            TokenCleaning::CheckAfter(time) => Ok(Wake::After(time)),
            TokenCleaning::Delete => Ok(self.delete(key, uid).await.map(|()| Wake::OnChange)?),
        }
    }
}

impl Reconciler<Name> for ClusterInfoSigner {
    async fn sync(&self, _: &Name) -> Result<Wake, Refusal> {
        let Some(info) = self.info.current() else { return Ok(Wake::OnChange) };
        let now = self.context.clock.now();
        let tokens = self.caches.tokens();
        let Some(signed) = observe::signed(&info, &rules::signing_tokens(&tokens, now)) else {
            return Ok(Wake::OnChange);
        };
        Ok(self.write(info, signed).await.map(|()| Wake::OnChange)?)
    }
}
