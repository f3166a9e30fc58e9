//! The components that a cluster without its own nodes runs only when a node has joined: the scheduler, and the
//! controllers that act on nodes and on the status of pods.
//!
//! Before that none of them runs, so that tests and other programs may bind pods and set their status themselves. A
//! node that such a program creates has no agent, and starts no component. While a kube-scheduler or a
//! kube-controller-manager holds its lease, our counterpart stops: two controllers of ReplicaSets would each create the
//! missing pods.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use gantry_controllers::ControllerPanicked;
use gantry_runtime::informer::{Plain, resource_of};
use gantry_runtime::{Api, Clock, Informer, Lease, ResourcePath, Shutdown, shutdown};
use k8s_openapi::api::coordination::v1 as coordination;
use k8s_openapi::api::core::v1::Node;
use tokio::sync::Notify;

/// How often the leases are read: as often as by candidates for a lease.
const LEASE_PERIOD: Duration = Duration::from_secs(2);

/// Waits for nodes to join, and for leases of other components.
pub(crate) struct JoinedNodes {
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) shutdown: Shutdown,
}

/// Which process runs a component of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComponentOwner {
    ThisProcess,
    OtherProcess,
}

impl JoinedNodes {
    /// Runs a component until shutdown: once a node has joined, and while no process holds the lease of its counterpart in Kubernetes.
    pub(crate) async fn run_when_joined<F>(
        self,
        counterpart: &'static str,
        start: impl Fn(Shutdown) -> F,
    ) -> Result<(), ControllerPanicked>
    where
        F: Future<Output = Result<(), ControllerPanicked>>,
    {
        if self.shutdown.unless(self.first_agent()).await.is_some() {
            tracing::info!("a node has joined: starting the counterpart of {counterpart}");
        }
        self.run(counterpart, start).await
    }

    /// Runs a component until shutdown, while no process holds the lease of its counterpart in Kubernetes.
    pub(crate) async fn run<F>(
        self,
        counterpart: &'static str,
        start: impl Fn(Shutdown) -> F,
    ) -> Result<(), ControllerPanicked>
    where
        F: Future<Output = Result<(), ControllerPanicked>>,
    {
        while self.shutdown.unless(self.until(ComponentOwner::ThisProcess, counterpart)).await.is_some() {
            let (switch, ended) = shutdown();
            let mut running = pin!(start(ended));
            tokio::select! {
                done = &mut running => return done,
                theirs = self.shutdown.unless(self.until(ComponentOwner::OtherProcess, counterpart)) => {
                    if theirs.is_some() {
                        tracing::info!("{counterpart} holds its lease: stopping its counterpart");
                    }
                    switch.turn();
                }
            }
            running.await?;
        }
        Ok(())
    }

    /// Returns when there is a node with an agent.
    async fn first_agent(&self) {
        let nodes = Informer::<Plain<Node>>::new(resource_of::<Node>());
        let joined = Arc::new(Notify::new());
        let notified = Arc::clone(&joined);
        nodes.subscribe(move |change| {
            if has_agent(&change.object().wire) {
                notified.notify_one();
            }
        });
        tokio::select! {
            () = joined.notified() => {}
            () = nodes.run(self.api.clone(), self.clock.clone(), self.shutdown.clone()) => {}
        }
    }

    /// Returns when this process, or another one, is to run the component.
    async fn until(&self, owner: ComponentOwner, counterpart: &str) {
        while self.owner(counterpart).await != owner {
            tokio::time::sleep(LEASE_PERIOD).await;
        }
    }

    async fn owner(&self, counterpart: &str) -> ComponentOwner {
        let leases = resource_of::<coordination::Lease>();
        let lease = ResourcePath::object(&leases, Some(&"kube-system".into()), &counterpart.into());
        match self.api.get::<coordination::Lease>(&lease).await {
            Ok(lease) if is_held(&Lease::parse(&lease), &self.clock) => ComponentOwner::OtherProcess,
            // Most clusters have no such lease.
            Ok(_) | Err(_) => ComponentOwner::ThisProcess,
        }
    }
}

/// Whether a node has an agent that serves: a kubelet, or Gantry's.
fn has_agent(node: &Node) -> bool {
    let endpoints = node.status.as_ref().and_then(|status| status.daemon_endpoints.as_ref());
    let kubelet = endpoints.and_then(|endpoints| endpoints.kubelet_endpoint.as_ref());
    kubelet.is_some_and(|endpoint| endpoint.port > 0)
}

fn is_held(lease: &Lease, clock: &Clock) -> bool {
    !lease.holder.is_empty() && clock.now().since(lease.renewed) < lease.duration
}
