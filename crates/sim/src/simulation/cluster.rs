//! A running simulation, for its caller.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use gantry_cluster::{Cluster, Connector, Options, ProcessEnvironment, Storage};
use gantry_controllers::{Controller, ControllerPanicked, LeaseOptions};
use gantry_json::Value;
use gantry_model::Timestamp;
use gantry_rng::Rng;
use gantry_runtime::{ApiTransport, Clock, Switch, Timing, shutdown};
use gantry_store::memory::MemoryStore;
use http::Request;
use http_body_util::BodyExt as _;
use tokio::task::JoinHandle;

use super::environment::SimEnvironment;
use super::faults::Faults;
use super::network::{Component, Network, SimObserver};
use super::options::{ControllerProcesses, SimOptions, SimScope};
use super::store::{self, StoreContent};
use super::transport::Transport;

/// How long nothing may be written until the cluster counts as settled.
const QUIET: Duration = Duration::from_secs(1);
/// The maximum time until a cluster settles; more is an endless loop.
const SETTLE_MAX: Duration = Duration::from_hours(2);

/// The durations of an election: longer than the defaults, because renewals would be most of the work.
const TIMING: Timing =
    Timing { lease: Duration::from_secs(60), renew: Duration::from_secs(40), retry: Duration::from_secs(19) };

/// The controllers of [`SimScope::Workloads`].
const WORKLOAD_CONTROLLERS: [Controller; 5] = [
    Controller::ReplicaSet,
    Controller::Deployment,
    Controller::GarbageCollector,
    Controller::PodGc,
    Controller::NodeLifecycle,
];

/// A simulated cluster. The clock does not advance while the caller computes, only while it awaits.
#[expect(missing_debug_implementations, reason = "a cluster has none")]
pub struct SimCluster {
    cluster: Cluster,
    network: Arc<Network>,
    store: Arc<MemoryStore>,
    replicas: Vec<Replica>,
    scope: SimScope,
}

/// A process of controllers.
#[derive(Debug, Default)]
struct Replica {
    running: Option<(Switch, JoinHandle<Result<(), ControllerPanicked>>)>,
}

impl SimCluster {
    /// Starts a cluster with this content of its store, and returns when it is ready and has settled.
    pub(super) async fn start(options: SimOptions, content: Option<&StoreContent>) -> Self {
        let mut rng = Rng::new(options.seed);
        let clock = clock(options.start, rng.split());
        let network = Arc::new(Network::new(clock.clone(), &options, rng.split()));
        let store = {
            let network = network.clone();
            Arc::new(store::open(content, clock.clone(), move |commit| network.committed(commit)))
        };
        let environment =
            ProcessEnvironment { server: Arc::new(SimEnvironment::new(clock.clone(), rng.split())), clock };
        let connector = {
            let network = network.clone();
            Connector::new(move |service, user| {
                ApiTransport::in_process(Transport::new(service, Component::of(user), network.clone()))
            })
        };
        let (is_shared, replicas) = match options.controllers {
            ControllerProcesses::None => (false, 0),
            ControllerProcesses::Shared => (true, 0),
            ControllerProcesses::Separate(replicas) => (false, replicas),
        };
        let cluster = Cluster::start_with(Options {
            nodes: options.nodes,
            capacity: options.capacity,
            templates: options.templates,
            profile: options.profile,
            resolution: options.resolution,
            renew_every: options.renew_every,
            repairs: options.repairs,
            controllers: is_shared,
            storage: Storage::Own(store.clone()),
            service_accounts: options.service_accounts,
            omissions: options.omissions,
            decoded_objects: options.decoded_objects,
            authority: false,
            environment,
            connector,
            ..Options::default()
        })
        .await
        .expect("a cluster in memory starts");
        let replicas = (0..replicas).map(|_| Replica::default()).collect();
        let mut simulated = Self { cluster, network, store, replicas, scope: options.scope };
        for replica in 0..simulated.replicas.len() {
            simulated.start_controllers(replica);
        }
        simulated.settle().await;
        simulated
    }

    pub(super) async fn content(&self) -> StoreContent {
        StoreContent::of(&self.store).await
    }

    /// The API, with all rights and without faults.
    pub fn transport(&self) -> ApiTransport {
        ApiTransport::in_process(self.cluster.service())
    }

    /// The clock of all components.
    pub fn clock(&self) -> &Clock {
        &self.network.clock
    }

    /// The virtual time.
    pub fn now(&self) -> Timestamp {
        self.network.clock.now()
    }

    /// The virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        self.network.elapsed()
    }

    /// Sends a request as a user and returns the status and the body of any response. Patches are merge patches.
    ///
    /// # Panics
    /// If the method or the path is malformed.
    pub async fn try_send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let content = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        parsed(self.pass(request.body(bytes).expect("a valid request")).await)
    }

    /// Reads a document of aggregated discovery.
    pub(super) async fn discovery(&self, path: &str) -> Value {
        let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let request = Request::builder().uri(path).header("accept", aggregated);
        parsed(self.pass(request.body(Bytes::new()).expect("a valid request")).await).1
    }

    async fn pass(&self, request: Request<Bytes>) -> (u16, Bytes) {
        let service = self.cluster.service_as(Component::User.user());
        let transport = Transport::new(service, Component::User, self.network.clone());
        let response = transport.pass(request).await.expect("a user's connection has no faults");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap_or_else(|never| match never {}).to_bytes();
        (status, body)
    }

    /// Sends a request that has to succeed, and returns the body.
    ///
    /// # Panics
    /// If it does not succeed.
    pub async fn send(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, response) = self.try_send(method, path, &body).await;
        assert!(status < 300, "{method} {path}: {response}");
        response
    }

    /// Reads an object or a collection.
    pub async fn get(&self, path: &str) -> Value {
        self.send("GET", path, Value::Null).await
    }

    /// Reads an object or a collection, as it is sent.
    ///
    /// # Panics
    /// If it cannot be read.
    pub async fn get_text(&self, path: &str) -> Bytes {
        let request = Request::builder().uri(path).body(Bytes::new()).expect("a valid request");
        let (status, body) = self.pass(request).await;
        assert!(status < 300, "GET {path}: {}", String::from_utf8_lossy(&body));
        body
    }

    /// Advances the virtual time.
    pub async fn advance(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Waits until nothing but heartbeats was written for a second.
    ///
    /// # Panics
    /// If that takes more than two hours.
    pub async fn settle(&self) {
        self.settle_for(QUIET).await;
    }

    /// Waits until nothing but heartbeats was written for this long.
    ///
    /// # Panics
    /// If that takes more than two hours.
    pub async fn settle_for(&self, quiet: Duration) {
        let began = self.network.elapsed();
        loop {
            let before = self.writes();
            tokio::time::sleep(quiet).await;
            if self.writes() == before {
                return;
            }
            assert!(self.network.elapsed().saturating_sub(began) < SETTLE_MAX, "the cluster does not settle");
        }
    }

    /// The number of commits of the store so far, except for leases and the status of nodes.
    pub fn writes(&self) -> u64 {
        self.network.writes()
    }

    /// Passes every commit from now on to an observer.
    pub fn observe(&self, observer: Box<dyn SimObserver>) {
        self.network.observe(observer);
    }

    /// Sets the faults of all connections, except the caller's, from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.network.set_faults(faults);
    }

    /// All requests and responses so far, one line each; empty unless the options enable it.
    pub fn trace(&self) -> String {
        self.network.trace()
    }
}

// === the controllers, if they run in separate processes ===

impl SimCluster {
    /// Starts a replica of the controllers that is not running.
    pub fn start_controllers(&mut self, replica: usize) {
        if self.replicas.len() <= replica {
            return;
        }
        let mut options = self.cluster.controller_options(None);
        if self.scope == SimScope::Workloads {
            options.controllers.retain(|controller| WORKLOAD_CONTROLLERS.contains(controller));
        }
        options.election = (self.replicas.len() > 1).then(|| LeaseOptions {
            namespace: "kube-system".to_owned(),
            name: "gantry-controllers".to_owned(),
            identity: format!("replica-{replica}"),
            timing: TIMING,
        });
        let component = Component::Controllers(replica);
        let service = self.cluster.service_as(component.user());
        let transport = ApiTransport::in_process(Transport::new(service, component, self.network.clone()));
        let (switch, signal) = shutdown();
        let running = tokio::spawn(gantry_controllers::run(transport, options, signal));
        self.replicas[replica].running = Some((switch, running));
    }

    /// Stops a replica gracefully.
    pub async fn stop_controllers(&mut self, replica: usize) {
        let running = self.replicas.get_mut(replica).and_then(|replica| replica.running.take());
        if let Some((switch, running)) = running {
            switch.turn();
            let _ = running.await;
        }
    }

    /// Kills a replica: its pending work is not done.
    pub async fn kill_controllers(&mut self, replica: usize) {
        let running = self.replicas.get_mut(replica).and_then(|replica| replica.running.take());
        if let Some((switch, running)) = running {
            running.abort();
            let _ = running.await;
            drop(switch);
            // Its tasks are aborted when the set that holds them is dropped, which takes one pass of the runtime.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Whether a replica is running.
    pub fn are_controllers_running(&self, replica: usize) -> bool {
        self.replicas.get(replica).is_some_and(|replica| replica.running.is_some())
    }
}

fn parsed((status, body): (u16, Bytes)) -> (u16, Value) {
    (status, gantry_json::from_slice(&body).unwrap_or(Value::Null))
}

/// A clock that follows tokio's, with jitter from this generator.
fn clock(start: Timestamp, rng: Rng) -> Clock {
    let rng = Mutex::new(rng);
    Clock::of_tokio(start).with_random(move |below| {
        let number = rng.lock().unwrap_or_else(PoisonError::into_inner).below(u64::from(below));
        u32::try_from(number).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{prepared, runtime};
    use super::*;

    /// A cycle of references between informers and their subscribers would keep the caches and the server in memory.
    #[test]
    fn a_simulation_that_has_ended_leaves_nothing_in_memory() {
        let content = prepared();
        for controllers in [ControllerProcesses::Shared, ControllerProcesses::Separate(1)] {
            let options = SimOptions { controllers, ..SimOptions::default() };
            let (store, network) = runtime().block_on(async {
                let cluster = SimCluster::start(options, Some(content)).await;
                (Arc::downgrade(&cluster.store), Arc::downgrade(&cluster.network))
            });
            assert_eq!((store.strong_count(), network.strong_count()), (0, 0), "{controllers:?}");
        }
    }
}
