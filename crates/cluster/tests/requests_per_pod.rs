//! What a rolled pod costs the API server, in requests and in store writes, counted by the server's own metrics.
//!
//! Every bound is what the rollout needs, with the reason beside it: a change that costs more per pod fails here, and the
//! request that became more frequent is named. The clock is tokio's and is paused: it goes on only while every task is idle, so that
//! a busy machine changes nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_cluster::{Cluster, Options};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::json;
use tokio::time::sleep;

const DEPLOYMENTS: usize = 3;
const REPLICAS: usize = 4;
const PODS: u64 = 12;

/// Requests by verb and resource, and store writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counters {
    requests: BTreeMap<String, u64>,
    store_writes: u64,
}

impl Counters {
    /// Reads the counters of a cluster. What depends on the time alone is left out: heartbeats of nodes, and leases.
    async fn read(cluster: &Cluster) -> Self {
        let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
        let text = cluster.client().request_text(request).await.unwrap();
        let mut counters = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let label = |label: &str| {
                let found = name.split(&format!("{label}=\"")).nth(1);
                found.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
            };
            if name.starts_with("apiserver_request_total{") && !label("resource").is_empty() {
                let (verb, resource, part) = (label("verb"), label("resource"), label("subresource"));
                let slash = if part.is_empty() { "" } else { "/" };
                let kind = format!("{verb} {resource}{slash}{part}");
                *counters.requests.entry(kind).or_default() += value.parse::<u64>().unwrap();
            } else if name.starts_with("etcd_request_duration_seconds_count{") && label("operation") == "txn"
            {
                counters.store_writes += value.parse::<u64>().unwrap();
            }
        }
        counters.without_heartbeats()
    }

    fn without_heartbeats(mut self) -> Self {
        let is_heartbeat = |kind: &str| kind.contains(" leases") || kind.contains(" nodes");
        let heartbeats: u64 = self
            .requests
            .iter()
            .filter(|(kind, _)| is_heartbeat(kind) && !kind.starts_with("GET ") && !kind.starts_with("LIST "))
            .map(|(_, count)| count)
            .sum();
        self.requests.retain(|kind, _| !is_heartbeat(kind));
        self.store_writes = self.store_writes.saturating_sub(heartbeats);
        self
    }

    fn since(&self, earlier: &Self) -> Self {
        let before = |kind: &String| earlier.requests.get(kind).copied().unwrap_or(0);
        let requests = self.requests.iter().map(|(kind, count)| (kind.clone(), count - before(kind)));
        Self {
            requests: requests.filter(|(_, count)| *count > 0).collect(),
            store_writes: self.store_writes - earlier.store_writes,
        }
    }
}

/// Rolls all Deployments of a cluster, and returns what was counted until nothing more happened.
async fn roll(cluster: &Cluster) -> Counters {
    let deployments: Api<Deployment> = Api::default_namespaced(cluster.client());
    for number in 0..DEPLOYMENTS {
        deployments.create(&PostParams::default(), &deployment(number)).await.unwrap();
    }
    settle(cluster).await;
    let before = Counters::read(cluster).await;
    for number in 0..DEPLOYMENTS {
        let change =
            json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}});
        let name = format!("d{number}");
        deployments.patch(&name, &PatchParams::default(), &Patch::Strategic(change)).await.unwrap();
    }
    settle(cluster).await;
    let after = Counters::read(cluster).await;
    for deployment in deployments.list(&ListParams::default()).await.unwrap() {
        let status = deployment.status.unwrap();
        let replicas = i32::try_from(REPLICAS).ok();
        assert_eq!([status.updated_replicas, status.available_replicas, status.replicas], [replicas; 3]);
    }
    let pods: Api<Pod> = Api::default_namespaced(cluster.client());
    assert_eq!(pods.list(&ListParams::default()).await.unwrap().items.len(), DEPLOYMENTS * REPLICAS);
    after.since(&before)
}

/// Waits until nothing has been counted for a while. On a paused clock, time passes only when all tasks are idle.
async fn settle(cluster: &Cluster) {
    let (mut seen, mut quiet) = (Counters::read(cluster).await, 0);
    while quiet < 30 {
        sleep(Duration::from_millis(500)).await;
        let mut now = Counters::read(cluster).await;
        now.requests.retain(|kind, _| !kind.starts_with("LIST "));
        quiet = if now == seen { quiet + 1 } else { 0 };
        seen = now;
    }
}

fn deployment(number: usize) -> Deployment {
    let labels = json!({"app": format!("d{number}")});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}});
    let object = json!({"metadata": {"name": format!("d{number}")},
        "spec": {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}});
    serde_json::from_value(object).unwrap()
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
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_rolled_on_simulated_nodes_costs_few_requests() {
    let cluster = Cluster::start_with(Options { nodes: 3, ..Options::default() }).await.unwrap();
    let counted = roll(&cluster).await;
    println!("{counted:#?}");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_rolled_on_a_hollow_kubelet_costs_few_requests() {
    let cluster = Cluster::start_with(Options { nodes: 0, ..Options::default() }).await.unwrap();
    let nodes: Api<Node> = Api::all(cluster.client());
    let node = serde_json::from_value(json!({"metadata": {"name": "hollow"}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let kubelet = tokio::spawn(hollow_kubelet(cluster.client()));
    let counted = roll(&cluster).await;
    kubelet.abort();
    println!("{counted:#?}");
    cluster.stop().await;
}
