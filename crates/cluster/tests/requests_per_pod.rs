//! The cost of a rolled pod for the API server, in requests and in store writes, counted by the server's own metrics.
//!
//! Each bound is the most that the rollout needs, with the reason: a change that costs more per pod fails here, and the
//! request that became more frequent is named. The bounds allow for the worst order of events, in which every change of
//! a pod is reported by its own status. The clock is tokio's and is paused: it advances only while every task is idle, so
//! that a slow machine combines no changes, and silence means that nothing is left to write.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_cluster::{Cluster, Options, Profile};
use gantry_json::json;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use tokio::time::sleep;

const DEPLOYMENTS: usize = 3;
const REPLICAS: usize = 4;
const PODS: u64 = (DEPLOYMENTS * REPLICAS) as u64;
const POLL: Duration = Duration::from_millis(100);

/// A client in this process with all permissions.
fn client(cluster: &Cluster) -> kube::Client {
    kube::Client::new(cluster.service(), "default")
}

/// Requests and store writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counters {
    /// Requests that were accepted, by verb and resource.
    accepted: BTreeMap<String, u64>,
    /// Requests that were rejected, by verb and resource.
    refused: BTreeMap<String, u64>,
    store_writes: u64,
}

impl Counters {
    /// Reads the counters of a cluster, without requests that depend on the time only: heartbeats of nodes, and leases.
    async fn read(cluster: &Cluster) -> Self {
        let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
        let text = client(cluster).request_text(request).await.unwrap();
        let mut counters = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let label = |label: &str| {
                let found = name.split(&format!("{label}=\"")).nth(1);
                found.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
            };
            let (verb, resource, part) = (label("verb"), label("resource"), label("subresource"));
            // Lists are sent by the test itself.
            let is_counted = !resource.is_empty() && !["LIST", "WATCH"].contains(&verb.as_str());
            if name.starts_with("apiserver_request_total{") && is_counted {
                let slash = if part.is_empty() { "" } else { "/" };
                let kind = format!("{verb} {resource}{slash}{part}");
                let is_accepted = label("code").starts_with('2');
                let requests = if is_accepted { &mut counters.accepted } else { &mut counters.refused };
                *requests.entry(kind).or_default() += value.parse::<u64>().unwrap();
            } else if name.starts_with("etcd_request_duration_seconds_count{") && label("operation") == "txn"
            {
                counters.store_writes += value.parse::<u64>().unwrap();
            }
        }
        counters.without_heartbeats()
    }

    fn without_heartbeats(mut self) -> Self {
        let is_heartbeat = |kind: &str| kind.contains(" leases") || kind.contains(" nodes");
        let written =
            self.accepted.iter().filter(|(kind, _)| is_heartbeat(kind) && !kind.starts_with("GET "));
        let written: u64 = written.map(|(_, count)| count).sum();
        self.store_writes = self.store_writes.saturating_sub(written);
        self.accepted.retain(|kind, _| !is_heartbeat(kind));
        self.refused.retain(|kind, _| !is_heartbeat(kind));
        self
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            accepted: difference(&self.accepted, &earlier.accepted),
            refused: difference(&self.refused, &earlier.refused),
            store_writes: self.store_writes - earlier.store_writes,
        }
    }
}

fn difference(now: &BTreeMap<String, u64>, earlier: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let before = |kind: &String| earlier.get(kind).copied().unwrap_or(0);
    let counts = now.iter().map(|(kind, count)| (kind.clone(), count - before(kind)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The maximum number of requests of a kind.
#[derive(Clone, Copy)]
struct Bound {
    kind: &'static str,
    most: u64,
}

/// Per rolled pod.
const fn per_pod(kind: &'static str, most: u64) -> Bound {
    Bound { kind, most: most * PODS }
}

/// Per Deployment.
const fn per_deployment(kind: &'static str, most: u64) -> Bound {
    Bound { kind, most: most * DEPLOYMENTS as u64 }
}

/// The requests of every rollout, regardless of what runs the pods.
const ROLLOUT: [Bound; 8] = [
    // The change itself.
    per_deployment("PATCH deployments", 1),
    // The set of the new template.
    per_deployment("POST replicasets", 1),
    // Each pod is created once; it is deleted once by its set, and once for good by its kubelet.
    per_pod("POST pods", 1),
    per_pod("POST pods/binding", 1),
    per_pod("DELETE pods", 2),
    // One pod at a time: the new set is scaled up and the old one down for each.
    per_pod("PUT replicasets", 2),
    // The new set has one more pod, which is ready and available; the old set has one less; and both have observed their
    // new sizes.
    per_pod("PUT replicasets/status", 7),
    // The status of a Deployment has the sums of its sets.
    per_pod("PUT deployments/status", 6),
];

/// The requests that a hollow kubelet adds.
const HOLLOW: [Bound; 3] = [
    // The pod is ready.
    per_pod("PATCH pods/status", 1),
    // A pod was created, a pod was deleted, and the Deployment has scaled a set for each.
    per_pod("POST events", 4),
    // A set that has changed in the meantime is read again.
    per_pod("GET replicasets", 1),
];

/// The requests that the scheduler and the simulated nodes add.
const NODES: [Bound; 6] = [
    // The containers are being created, the pod is running, the pod is terminated.
    per_pod("PATCH pods/status", 3),
    // In addition: Scheduled, Pulling, Pulled, Created, Started, Killing. Repeated events are patched.
    per_pod("POST events", 10),
    per_pod("PATCH events", 1),
    per_pod("GET replicasets", 1),
    // The objects that a pod depends on; they are cached for a second.
    per_pod("GET serviceaccounts", 1),
    per_pod("GET configmaps", 1),
];

/// Rolls all Deployments of a cluster, and returns the counters from the change until no more requests are sent.
async fn roll(cluster: &Cluster) -> Counters {
    let deployments: Api<Deployment> = Api::default_namespaced(client(cluster));
    for number in 0..DEPLOYMENTS {
        deployments.create(&PostParams::default(), &deployment(number)).await.unwrap();
    }
    complete(cluster, "nginx:1").await;
    let before = Counters::read(cluster).await;
    for number in 0..DEPLOYMENTS {
        let containers = json!([{"name": "main", "image": "nginx:2"}]);
        let change = json!({"spec": {"template": {"spec": {"containers": containers}}}});
        let name = format!("d{number}");
        deployments.patch(&name, &PatchParams::default(), &Patch::Strategic(change)).await.unwrap();
    }
    complete(cluster, "nginx:2").await;
    Counters::read(cluster).await.since(&before)
}

/// Waits until all pods have this image and are available, and nothing more is written.
async fn complete(cluster: &Cluster, image: &str) {
    let completed = async {
        while !is_complete(cluster, image).await {
            sleep(POLL).await;
        }
        // Events and the last status may not have been written yet. On a paused clock a task that is not done is not
        // overtaken by this; only what would wait for a second is not counted.
        let (mut seen, mut quiet) = (Counters::read(cluster).await, 0);
        while quiet < 10 {
            sleep(POLL).await;
            let now = Counters::read(cluster).await;
            quiet = if now == seen { quiet + 1 } else { 0 };
            seen = now;
        }
    };
    tokio::time::timeout(Duration::from_secs(180), completed).await.expect("the rollout completes");
}

async fn is_complete(cluster: &Cluster, image: &str) -> bool {
    let pods: Api<Pod> = Api::default_namespaced(client(cluster));
    let pods = pods.list(&ListParams::default()).await.unwrap().items;
    let has_image = |pod: &Pod| pod.spec.as_ref().unwrap().containers[0].image.as_deref() == Some(image);
    let deployments: Api<Deployment> = Api::default_namespaced(client(cluster));
    let deployments = deployments.list(&ListParams::default()).await.unwrap().items;
    let is_available = |deployment: &Deployment| {
        let status = deployment.status.clone().unwrap_or_default();
        let replicas = i32::try_from(REPLICAS).ok();
        status.observed_generation == deployment.metadata.generation
            && [status.updated_replicas, status.available_replicas, status.replicas] == [replicas; 3]
    };
    pods.len() == DEPLOYMENTS * REPLICAS && pods.iter().all(has_image) && deployments.iter().all(is_available)
}

/// Fails if any request is more frequent than its bound, or has none.
fn check(counted: &Counters, bounds: &[&[Bound]], refused_most: u64, store_writes_most: u64) {
    for (kind, count) in &counted.accepted {
        let most: u64 =
            bounds.concat().iter().filter(|bound| bound.kind == kind).map(|bound| bound.most).sum();
        assert!(*count <= most, "{kind}: {count} for {PODS} pods, at most {most}; all: {counted:#?}");
    }
    let refused: u64 = counted.refused.values().sum();
    assert!(refused <= refused_most * PODS, "{refused} refused requests for {PODS} pods: {counted:#?}");
    let writes = counted.store_writes;
    assert!(writes <= store_writes_most * PODS, "{writes} store writes for {PODS} pods: {counted:#?}");
}

fn deployment(number: usize) -> Deployment {
    let labels = json!({"app": format!("d{number}")});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}});
    let object = json!({"metadata": {"name": format!("d{number}")},
        "spec": {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}});
    gantry_json::from_value(object).unwrap()
}

/// Binds pods, reports them ready and deletes terminating ones, with one request each.
async fn hollow_kubelet(client: kube::Client) {
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    loop {
        for pod in pods.list(&ListParams::default()).await.unwrap() {
            let name = pod.metadata.name.clone().unwrap();
            let is_running =
                pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
            if pod.metadata.deletion_timestamp.is_some() {
                let preconditions = Preconditions { uid: pod.metadata.uid, ..Preconditions::default() };
                let at_once = DeleteParams::default().grace_period(0).preconditions(preconditions);
                pods.delete(&name, &at_once).await.unwrap();
            } else if pod.spec.as_ref().unwrap().node_name.is_none() {
                let target = json!({"kind": "Node", "name": "hollow"});
                let body = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target});
                let path = format!("/api/v1/namespaces/default/pods/{name}/binding");
                let request = http::Request::post(path).header("content-type", "application/json");
                client.request_text(request.body(body.to_string().into_bytes()).unwrap()).await.unwrap();
            } else if !is_running {
                let ready = json!({"type": "Ready", "status": "True"});
                let running =
                    Patch::Strategic(json!({"status": {"phase": "Running", "conditions": [ready]}}));
                pods.patch_status(&name, &PatchParams::default(), &running).await.unwrap();
            }
        }
        sleep(POLL / 10).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_rolled_on_simulated_nodes_costs_few_requests() {
    let at_once = r#"{"default": {"pull-seconds": 0, "start-seconds": 0, "terminate-seconds": 0}}"#;
    let options = Options { nodes: 3, profile: Profile::read(at_once).unwrap(), ..Options::default() };
    let cluster = Cluster::start_with(options).await.unwrap();
    let counted = roll(&cluster).await;
    cluster.stop().await;
    // A status that was computed before the last write was observed is rejected, and a node deletes a terminated pod
    // again when it observes its own last report.
    check(&counted, &[&ROLLOUT, &NODES], 6, 30);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_rolled_on_a_hollow_kubelet_costs_few_requests() {
    let cluster = Cluster::start_with(Options { nodes: 0, ..Options::default() }).await.unwrap();
    let nodes: Api<Node> = Api::all(client(&cluster));
    let node = gantry_json::from_value(json!({"metadata": {"name": "hollow"}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let kubelet = tokio::spawn(hollow_kubelet(client(&cluster)));
    let counted = roll(&cluster).await;
    kubelet.abort();
    cluster.stop().await;
    check(&counted, &[&ROLLOUT, &HOLLOW], 3, 23);
}
