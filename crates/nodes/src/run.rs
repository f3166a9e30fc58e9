//! Runs simulated nodes: two informers, two work queues, and one event writer per node.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, ObjectKey};
use gantry_runtime::informer::{Cached, Plain};
use gantry_runtime::{Api, ApiTransport, EventRecorder, EventWriter, Informer, Queue, Shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::task::JoinSet;

use crate::heartbeat::Heartbeats;
use crate::node_spec::{self, NodeSpec};
use crate::node_state::NodeState;
use crate::options::{InvalidOptions, Options};
use crate::pod_workers::PodWorkers;
use crate::simulation::Simulation;

/// The field manager.
const MANAGER: &str = "gantry-nodes";
/// The maximum number of nodes that are synced concurrently.
const NODE_SYNCS_MAX: usize = 8;

/// Simulates nodes until shutdown.
///
/// Existing nodes of the same names are taken over with their pods; simulated nodes of the same prefix beyond the
/// configured number are deleted. On shutdown, nodes and pods keep their last reported status.
///
/// The future is boxed so that it is compiled here, not in each crate that awaits it.
pub fn run(
    transport: ApiTransport,
    options: Options,
    shutdown: Shutdown,
) -> Pin<Box<dyn Future<Output = Result<(), InvalidOptions>> + Send>> {
    Box::pin(simulate(transport, options, shutdown))
}

async fn simulate(
    transport: ApiTransport,
    options: Options,
    shutdown: Shutdown,
) -> Result<(), InvalidOptions> {
    options.check()?;
    let api = Api::new(transport, MANAGER, options.metrics.clone());
    let mut tasks = JoinSet::new();
    let (node_states, writers) = create_nodes(&options, &api);
    for writer in writers {
        tasks.spawn(writer.run(shutdown.clone()));
    }
    let informers = &options.informers;
    let (pods, nodes) = (informers.of::<Plain<core::Pod>>(), informers.of::<Plain<core::Node>>());
    let pod_queue = Queue::<ObjectKey>::new("simulated-pods", options.clock.clone(), &options.metrics);
    let node_queue = Queue::<Name>::new("simulated-nodes", options.clock.clone(), &options.metrics);
    subscribe(&pods, &nodes, &node_states, &options.prefix, &pod_queue, &node_queue);
    informers.start(&mut tasks, &api, &options.clock, &shutdown);
    let clock = options.clock.clone();
    let heartbeats = Arc::new(Heartbeats {
        nodes,
        pods: pods.clone(),
        pod_queue: pod_queue.clone(),
        node_states: node_states.clone(),
        prefix: options.prefix.clone(),
        renew_every: options.renew_every,
        api: api.clone(),
        clock: clock.clone(),
        states: Mutex::default(),
    });
    let simulation = Simulation { node_states: node_states.clone(), profile: options.profile };
    let pod_workers = PodWorkers::new(pods, Arc::new(simulation), api, clock, options.resolution);
    let pod_workers = Arc::new(pod_workers.reporting(options.reports));
    node_states.keys().for_each(|name| node_queue.add(name.as_str().into()));
    let syncing_nodes =
        node_queue.work(NODE_SYNCS_MAX, RetryPolicy::REPLICA_SET, shutdown.clone(), move |name| {
            let heartbeats = heartbeats.clone();
            async move { heartbeats.sync_node(name).await }
        });
    let syncing_pods =
        pod_queue.work(options.reports_max.max(1), RetryPolicy::REPLICA_SET, shutdown, move |key| {
            let pod_workers = pod_workers.clone();
            async move { pod_workers.sync_pod(key).await }
        });
    tokio::join!(syncing_nodes, syncing_pods);
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// Creates the nodes by name, and the writers of their events.
fn create_nodes(options: &Options, api: &Api) -> (Arc<BTreeMap<String, NodeState>>, Vec<EventWriter>) {
    let mut writers = Vec::new();
    let node = |index| {
        let spec = NodeSpec::of(options, index);
        let (events, writer) = EventRecorder::new(api.clone(), options.clock.clone());
        let events = events.with_normal_events(options.normal_events);
        writers.push(writer.one_at_a_time());
        (spec.name.clone(), NodeState::new(spec, events))
    };
    let node_states = (0..options.nodes).map(node).collect();
    (Arc::new(node_states), writers)
}

/// Enqueues changed nodes of this simulation and changed pods on them.
fn subscribe(
    pods: &Informer<Plain<core::Pod>>,
    nodes: &Informer<Plain<core::Node>>,
    node_states: &Arc<BTreeMap<String, NodeState>>,
    prefix: &str,
    pod_queue: &Queue<ObjectKey>,
    node_queue: &Queue<Name>,
) {
    let (queue, ours) = (pod_queue.clone(), node_states.clone());
    pods.subscribe(move |change| {
        let pod = change.object();
        let node = pod.wire.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
        if node.is_some_and(|node| ours.contains_key(node)) {
            queue.add(pod.key());
        }
    });
    let (queue, ours) = (node_queue.clone(), node_states.clone());
    let prefix = prefix.to_owned();
    nodes.subscribe(move |change| {
        let node = change.object();
        let name = node.key().name;
        if ours.contains_key(name.as_str()) || node_spec::is_simulated(&node.wire, &prefix) {
            queue.add(name);
        }
    });
}
