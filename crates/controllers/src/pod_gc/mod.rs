//! Pods that no node will ever end: those of nodes that are gone, and those that were deleted before they had a node.
//!
//! Only where Gantry runs the nodes. Elsewhere it is kube-controller-manager's business, which may know better why a
//! node is away.

mod apply;
mod observe;
mod triggers;

use std::time::Duration;

use crate::context::{Assembly, Context};
use observe::{Caches, Missing};

/// How often it is looked; Kubernetes' number.
const LOOK_EVERY: Duration = Duration::from_secs(20);
/// How long a node must have been away before its pods are given up; Kubernetes' number.
const QUARANTINE: Duration = Duration::from_secs(40);

/// The controller.
#[derive(Clone, Debug)]
struct PodGc {
    context: Context,
    caches: Caches,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&mut assembly.informers);
    let shutdown = context.shutdown.clone();
    let controller = PodGc { context, caches };
    assembly.run(async move {
        shutdown.unless(controller.run()).await;
    });
}

impl PodGc {
    async fn run(&self) {
        self.caches.synced().await;
        let mut missing = Missing::default();
        loop {
            triggers::next_look(LOOK_EVERY).await;
            let lost = self.caches.lost(&mut missing, self.context.clock.steady());
            self.delete(lost).await;
        }
    }
}
