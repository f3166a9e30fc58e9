//! Nodes without heartbeats: their status becomes unknown, they are tainted, and their pods are evicted in time.
//!
//! kube-controller-manager has two controllers for this, the node-lifecycle and the taint-eviction controller. Here
//! it is one, and runs only where Gantry runs the nodes.

mod apply;
mod observe;
mod triggers;

use std::collections::BTreeMap;

use gantry_decide::node_lifecycle::{Heartbeats, MONITOR_PERIOD, NoExecuteTaint, ReadyStatus};
use gantry_model::{RefusalKind, Timestamp, Uid};
use gantry_runtime::RequestError;

use crate::context::{Assembly, Context};
use observe::{Caches, ObservedNode};
use triggers::TaintNotifier;

#[derive(Clone, Debug)]
struct NodeLifecycle {
    context: Context,
    caches: Caches,
}

/// The state between two checks.
#[derive(Debug, Default)]
struct LifecycleState {
    heartbeats: Heartbeats,
    /// When each pod on a tainted node is evicted.
    evictions: BTreeMap<Uid, PlannedEviction>,
}

#[derive(Clone, Debug)]
struct PlannedEviction {
    /// The taints that cause it.
    taints: Vec<NoExecuteTaint>,
    /// `None` is never.
    at: Option<Timestamp>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let notifier = triggers::subscribe(&caches);
    let shutdown = context.shutdown.clone();
    let controller = NodeLifecycle { context, caches };
    assembly.run_once_synced(Box::pin(async move {
        shutdown.unless(controller.run(notifier)).await;
    }));
}

impl NodeLifecycle {
    async fn run(&self, notifier: TaintNotifier) {
        let mut state = LifecycleState::default();
        loop {
            let next = self.check_nodes(&mut state).await;
            let pause =
                next.map_or(MONITOR_PERIOD, |next| next.since(self.context.clock.now()).min(MONITOR_PERIOD));
            notifier.wait(pause).await;
        }
    }

    /// Checks all nodes, and returns when a pod has to be evicted next.
    async fn check_nodes(&self, state: &mut LifecycleState) -> Option<Timestamp> {
        let nodes = self.caches.nodes();
        state.heartbeats.retain(|name| nodes.iter().any(|node| node.name == *name));
        let mut evictions = BTreeMap::new();
        for node in nodes {
            let silent =
                state.heartbeats.record(&node.name, node.heartbeat.clone(), self.context.clock.steady());
            let done = async {
                self.reconcile(&node, silent).await?;
                self.evict(&node, &state.evictions, &mut evictions).await
            };
            match done.await {
                Ok(()) => {}
                Err(failure) if matches!(failure.kind(), RefusalKind::Conflict | RefusalKind::NotFound) => {
                    tracing::debug!(node = %node.name, %failure, "the node has changed meanwhile; retrying");
                }
                Err(failure) => {
                    tracing::warn!(node = %node.name, %failure, "a node could not be reconciled; retrying");
                }
            }
        }
        state.evictions = evictions;
        state.evictions.values().filter_map(|plan| plan.at).min()
    }

    /// Reconciles status, taints and pods of a node with its heartbeats.
    async fn reconcile(&self, node: &ObservedNode, silent: bool) -> Result<(), RequestError> {
        let ready = if silent { ReadyStatus::Unknown } else { node.ready };
        if silent && node.ready != ReadyStatus::Unknown {
            self.mark_unknown(node).await?;
        }
        self.taint(node, ready).await?;
        if ready != ReadyStatus::True {
            for pod in self.caches.ready_pods_on(&node.name) {
                self.mark_not_ready(&pod).await?;
            }
        }
        Ok(())
    }
}
