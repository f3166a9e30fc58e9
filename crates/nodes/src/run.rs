//! Simulated nodes at work: two informers, two queues, and a writer of events for each node.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, ObjectKey};
use gantry_runtime::informer::{Cached, Plain};
use gantry_runtime::{Api, EventRecorder, EventWriter, Informer, Queue, Shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::task::JoinSet;

use crate::lookups::Lookups;
use crate::machine::{self, Machine};
use crate::options::{InvalidOptions, Options};
use crate::pulse::Pulse;
use crate::station::Station;
use crate::wards::Wards;

/// What `metadata.managedFields` shows.
const MANAGER: &str = "gantry-nodes";
/// So many nodes show signs of life at once.
const BEATS_MAX: usize = 8;

/// Simulates nodes until it is time to end.
///
/// Nodes of the same names that exist are taken over, and so are the pods on them; simulated nodes of the same prefix that
/// are no longer asked for are removed. When it ends, nodes and pods stay as they were reported last.
pub async fn run(client: kube::Client, options: Options, shutdown: Shutdown) -> Result<(), InvalidOptions> {
    options.check()?;
    let api = Api::new(client, MANAGER, options.metrics.clone());
    let mut tasks = JoinSet::new();
    let (stations, writers) = stations(&options, &api);
    for writer in writers {
        tasks.spawn(writer.run(shutdown.clone()));
    }
    let informers = &options.informers;
    let (pods, nodes) = (informers.of::<Plain<core::Pod>>(), informers.of::<Plain<core::Node>>());
    let pod_queue = Queue::<ObjectKey>::new("simulated-pods", options.clock.clone(), &options.metrics);
    let node_queue = Queue::<Name>::new("simulated-nodes", options.clock.clone(), &options.metrics);
    subscribe(&pods, &nodes, &stations, &options.prefix, &pod_queue, &node_queue);
    informers.start(&mut tasks, &api, &shutdown);
    let beats = Mutex::new(BTreeMap::new());
    let clock = options.clock.clone();
    let pulse = Arc::new(Pulse {
        nodes,
        pods: pods.clone(),
        pod_queue: pod_queue.clone(),
        stations: stations.clone(),
        prefix: options.prefix.clone(),
        api: api.clone(),
        clock: clock.clone(),
        beats,
    });
    let (profile, tenants) = (options.profile, Mutex::new(BTreeMap::new()));
    let lookups = Lookups::new(api.clone(), clock.clone());
    let wards = Arc::new(Wards { pods, stations: stations.clone(), api, lookups, clock, profile, tenants });
    stations.keys().for_each(|name| node_queue.add(name.as_str().into()));
    let beating = node_queue.work(BEATS_MAX, RetryPolicy::REPLICA_SET, shutdown.clone(), move |name| {
        let pulse = pulse.clone();
        async move { pulse.beat(name).await }
    });
    let tending =
        pod_queue.work(options.reports_max.max(1), RetryPolicy::REPLICA_SET, shutdown, move |key| {
            let wards = wards.clone();
            async move { wards.tend(key).await }
        });
    tokio::join!(beating, tending);
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// The nodes by name, and the writers of their events.
fn stations(options: &Options, api: &Api) -> (Arc<BTreeMap<String, Station>>, Vec<EventWriter>) {
    let mut writers = Vec::new();
    let station = |index| {
        let machine = Machine::new(&options.prefix, index, &options.capacity);
        let (events, writer) = EventRecorder::new(api.clone(), options.clock.clone());
        writers.push(writer);
        (machine.name.clone(), Station::new(machine, events))
    };
    let stations = (0..options.nodes).map(station).collect();
    (Arc::new(stations), writers)
}

/// Wakes pods and nodes that change, as far as they are ours.
fn subscribe(
    pods: &Informer<Plain<core::Pod>>,
    nodes: &Informer<Plain<core::Node>>,
    stations: &Arc<BTreeMap<String, Station>>,
    prefix: &str,
    pod_queue: &Queue<ObjectKey>,
    node_queue: &Queue<Name>,
) {
    let (queue, ours) = (pod_queue.clone(), stations.clone());
    pods.subscribe(move |change| {
        let pod = change.object();
        let node = pod.wire.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
        if node.is_some_and(|node| ours.contains_key(node)) {
            queue.add(pod.key());
        }
    });
    let (queue, ours) = (node_queue.clone(), stations.clone());
    let prefix = prefix.to_owned();
    nodes.subscribe(move |change| {
        let node = change.object();
        let name = node.key().name;
        if ours.contains_key(name.as_str()) || machine::is_of_prefix(&node.wire, &prefix) {
            queue.add(name);
        }
    });
}
