//! Pods that no kubelet will terminate: those of absent nodes, and those that were deleted before they were bound.
//!
//! Only where Gantry runs the nodes. Elsewhere kube-controller-manager does it, which may have better information about
//! why a node is absent.

mod apply;
mod observe;
mod triggers;

use std::time::Duration;

use crate::context::{Assembly, Context};
use observe::{AbsentNodes, Caches};

/// As in Kubernetes.
const MONITOR_PERIOD: Duration = Duration::from_secs(20);
/// How long a node must be absent before its pods are deleted; as in Kubernetes.
const QUARANTINE: Duration = Duration::from_secs(40);

#[derive(Clone, Debug)]
struct PodGc {
    context: Context,
    caches: Caches,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let shutdown = context.shutdown.clone();
    let controller = PodGc { context, caches };
    assembly.run_once_synced(Box::pin(async move {
        shutdown.unless(controller.run()).await;
    }));
}

impl PodGc {
    async fn run(&self) {
        let mut missing = AbsentNodes::default();
        loop {
            triggers::next_check(MONITOR_PERIOD).await;
            let orphaned = self.caches.orphaned(&mut missing, self.context.clock.steady());
            self.delete(orphaned).await;
        }
    }
}
