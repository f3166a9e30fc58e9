//! The cost of scheduling a pod. `cargo xtask bench place` prints time and instructions per pod.
//!
//! Sizes are in pairs, so that growth can be read off: twice the nodes must cost about twice as much, and pods that
//! are already assigned nothing.

use std::hint::black_box;
use std::process::ExitCode;

use gantry_bench_protocol::Case;
use gantry_json::{Value, json};
use gantry_scheduler::place::{ClusterState, Node, Placement, PodInfo, place};

const CASES: &[Case] = &[
    Case { name: "place-100-nodes", set_up: || placing(100, 10) },
    Case { name: "place-200-nodes", set_up: || placing(200, 10) },
    Case { name: "place-200-nodes-full", set_up: || placing(200, 100) },
    Case { name: "place-nowhere-200-nodes", set_up: || nowhere(200) },
    Case { name: "pod-parse", set_up: parsing },
];

fn main() -> ExitCode {
    gantry_bench_protocol::main(CASES)
}

fn node(n: usize) -> Node {
    let name = format!("node-{n}");
    let node = json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        "status": {
            "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    });
    Node::parse(&read(node))
}

fn pod(n: usize, cpu: &str) -> Value {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": true}]);
    let tolerations = ["not-ready", "unreachable"].map(|taint| {
        json!({"key": format!("node.kubernetes.io/{taint}"), "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    });
    let requests = json!({"cpu": cpu, "memory": "128Mi"});
    json!({
        "metadata": {"name": format!("web-{n}"), "uid": format!("uid-{n}"), "ownerReferences": owner},
        "spec": {
            "containers": [{"name": "web", "image": "nginx:1", "resources": {"requests": requests}}],
            "tolerations": tolerations,
        },
    })
}

#[expect(clippy::panic, reason = "a benchmark of objects that cannot be read measures nothing")]
fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    gantry_json::from_value(value)
        .unwrap_or_else(|error| panic!("an object of this benchmark is malformed: {error}"))
}

fn cluster(nodes: usize, pods_each: usize) -> ClusterState {
    let mut cluster = ClusterState::default();
    for n in 0..nodes {
        cluster.set_node(node(n));
        for m in 0..pods_each {
            cluster.add_pod(&PodInfo::parse(&read(pod(n * 1000 + m, "250m"))), &format!("node-{n}"));
        }
    }
    cluster
}

/// Schedules one pod and removes it again.
fn placing(nodes: usize, pods_each: usize) -> Box<dyn FnMut()> {
    let mut cluster = cluster(nodes, pods_each);
    let new = PodInfo::parse(&read(pod(999_999, "250m")));
    Box::new(move || {
        if let Placement::Node(node) = place(black_box(&cluster), black_box(&new)) {
            cluster.add_pod(&new, &node);
        }
        cluster.remove_pod(new.uid());
    })
}

fn nowhere(nodes: usize) -> Box<dyn FnMut()> {
    let cluster = cluster(nodes, 10);
    let new = PodInfo::parse(&read(pod(999_999, "65")));
    Box::new(move || {
        if let Placement::Unschedulable(reasons) = place(black_box(&cluster), black_box(&new)) {
            black_box(reasons.to_string());
        }
    })
}

fn parsing() -> Box<dyn FnMut()> {
    let wire = read(pod(1, "250m"));
    Box::new(move || {
        black_box(PodInfo::parse(black_box(&wire)));
    })
}
