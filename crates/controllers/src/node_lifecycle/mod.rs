//! Nodes that fall silent: their status becomes unknown, they are tainted, and the pods on them are evicted in time.
//!
//! kube-controller-manager does this in two controllers, the node-lifecycle and the taint-eviction controller. Here it
//! is one, only where Gantry runs the nodes.

mod apply;
mod observe;
mod triggers;

use std::collections::BTreeMap;

use gantry_decide::node_lifecycle::{Eviction, Heartbeats, LOOK_EVERY, Ready};
use gantry_model::{RefusalKind, Timestamp, Uid};
use gantry_runtime::Failure;

use crate::context::{Assembly, Context};
use observe::{Caches, SeenNode};
use triggers::Bell;

/// The controller.
#[derive(Clone, Debug)]
struct NodeLifecycle {
    context: Context,
    caches: Caches,
}

/// What is remembered from one look to the next.
#[derive(Debug, Default)]
struct Memory {
    heartbeats: Heartbeats,
    /// When each pod on a tainted node is to be evicted.
    evictions: BTreeMap<Uid, Plan>,
}

/// When a pod is to be evicted.
#[derive(Clone, Debug)]
struct Plan {
    /// The taints that this follows from.
    taints: Vec<Eviction>,
    /// Never if there is none.
    at: Option<Timestamp>,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&mut assembly.informers);
    let bell = triggers::subscribe(&caches);
    let shutdown = context.shutdown.clone();
    let controller = NodeLifecycle { context, caches };
    assembly.run(async move {
        shutdown.unless(controller.run(bell)).await;
    });
}

impl NodeLifecycle {
    async fn run(&self, bell: Bell) {
        self.caches.synced().await;
        let mut memory = Memory::default();
        loop {
            let next = self.look(&mut memory).await;
            let pause = next.map_or(LOOK_EVERY, |next| next.since(self.context.clock.now()).min(LOOK_EVERY));
            bell.wait(pause).await;
        }
    }

    /// Looks at all nodes, and says when a pod is to be evicted next.
    async fn look(&self, memory: &mut Memory) -> Option<Timestamp> {
        let nodes = self.caches.nodes();
        memory.heartbeats.retain(|name| nodes.iter().any(|node| node.name == *name));
        let mut evictions = BTreeMap::new();
        for node in nodes {
            let silent = memory.heartbeats.hear(&node.name, node.sign.clone(), self.context.clock.steady());
            let done = async {
                self.follow(&node, silent).await?;
                self.evict(&node, &memory.evictions, &mut evictions).await
            };
            match done.await {
                Ok(()) => {}
                Err(failure) if matches!(failure.kind(), RefusalKind::Conflict | RefusalKind::NotFound) => {
                    tracing::debug!(node = %node.name, %failure, "the node is not as it was; looking again");
                }
                Err(failure) => {
                    tracing::warn!(node = %node.name, %failure, "a node could not be looked after; trying again");
                }
            }
        }
        memory.evictions = evictions;
        memory.evictions.values().filter_map(|plan| plan.at).min()
    }

    /// Brings status, taints and pods of a node in line with whether it is heard of.
    async fn follow(&self, node: &SeenNode, silent: bool) -> Result<(), Failure> {
        let ready = if silent { Ready::Unknown } else { node.ready };
        if silent && node.ready != Ready::Unknown {
            self.mark_unknown(node).await?;
        }
        self.taint(node, ready).await?;
        if ready != Ready::True {
            for pod in self.caches.ready_pods_on(&node.name) {
                self.mark_not_ready(&pod).await?;
            }
        }
        Ok(())
    }
}
