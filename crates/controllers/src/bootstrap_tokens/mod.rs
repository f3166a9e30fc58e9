//! Bootstrap tokens: deletes those that have expired, and signs the ConfigMap `cluster-info` with the others.
//!
//! They run where Gantry runs the API server. Elsewhere kube-controller-manager does the same.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::bootstrap_tokens::{self as rules, TokenCleaning};
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::ObjectKey;
use gantry_runtime::{Queue, RequestError};

use crate::context::{Assembly, Context};
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
    let caches = Caches::of(&assembly.informers);
    let queue = Queue::new("token_cleaner", context.clock.clone(), &context.metrics);
    triggers::each_token(&caches, &queue);
    let controller = TokenCleaner { context, caches };
    let synced = {
        let caches = controller.caches.clone();
        async move { caches.synced().await }
    };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), synced, move |key| {
        let controller = controller.clone();
        async move { result(controller.sync(&key).await) }
    });
}

pub(crate) fn assemble_signer(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&assembly.informers);
    let info = ClusterInfo::of(&assembly.informers);
    let queue = Queue::new("bootstrap_signer_queue", context.clock.clone(), &context.metrics);
    triggers::cluster_info(&caches, &info, &queue);
    let controller = ClusterInfoSigner { context, caches, info };
    let synced = {
        let (caches, info) = (controller.caches.clone(), controller.info.clone());
        async move {
            caches.synced().await;
            info.synced().await;
        }
    };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), synced, move |_| {
        let controller = controller.clone();
        async move { result(controller.sync().await) }
    });
}

fn result(done: Result<Wake, RequestError>) -> (Outcome, Wake) {
    match done {
        Ok(wake) => (Outcome::Success, wake),
        Err(failure) => {
            tracing::debug!(%failure, "a bootstrap token could not be handled");
            (Outcome::Failure, Wake::OnChange)
        }
    }
}

impl TokenCleaner {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, RequestError> {
        let Some((secret, uid)) = self.caches.token(key) else { return Ok(Wake::OnChange) };
        match rules::cleaning(&secret, self.context.clock.now()) {
            TokenCleaning::Keep => Ok(Wake::OnChange),
            TokenCleaning::CheckAfter(time) => Ok(Wake::After(time)),
            TokenCleaning::Delete => self.delete(key, uid).await.map(|()| Wake::OnChange),
        }
    }
}

impl ClusterInfoSigner {
    async fn sync(&self) -> Result<Wake, RequestError> {
        let Some(info) = self.info.current() else { return Ok(Wake::OnChange) };
        let now = self.context.clock.now();
        let tokens = self.caches.tokens();
        let Some(signed) = observe::signed(&info, &rules::signing_tokens(&tokens, now)) else {
            return Ok(Wake::OnChange);
        };
        self.write(info, signed).await.map(|()| Wake::OnChange)
    }
}
