//! Nodes without heartbeats and their pods, where Gantry runs the nodes.

use std::time::Duration;

use gantry_json::{Value, json};

use crate::cluster::{Cluster, PODS, items};

const NODE: &str = "/api/v1/nodes/n1";

/// A cluster with a node that has just sent a heartbeat, and a Deployment of two pods on it.
async fn cluster() -> Cluster {
    let mut cluster = Cluster::without_controllers().await;
    cluster.start_with(|options| {
        options.controllers.insert(gantry_controllers::Controller::NodeLifecycle);
    });
    cluster.settle().await;
    cluster.send("POST", "/api/v1/nodes", json!({"metadata": {"name": "n1"}})).await;
    report(&cluster, "2026-01-01T12:00:00Z").await;
    cluster.deploy("web", 2, |web| web["spec"]["template"]["spec"]["nodeName"] = json!("n1")).await;
    cluster.roll_out().await;
    cluster
}

/// Sends a heartbeat of the node.
async fn report(cluster: &Cluster, heartbeat: &str) {
    let condition = |name: &str, status: &str| {
        json!({
            "type": name, "status": status, "reason": "KubeletSaysSo", "message": "all is well",
            "lastHeartbeatTime": heartbeat, "lastTransitionTime": "2026-01-01T12:00:00Z",
        })
    };
    let conditions = json!([condition("DiskPressure", "False"), condition("Ready", "True")]);
    cluster.send("PATCH", &format!("{NODE}/status"), json!({"status": {"conditions": conditions}})).await;
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// `key:effect` of every taint.
async fn taints(cluster: &Cluster) -> Vec<String> {
    let node = cluster.get(NODE).await;
    let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    let shown =
        |taint: &Value| format!("{}:{}", taint["key"].as_str().unwrap(), taint["effect"].as_str().unwrap());
    taints.iter().map(shown).collect()
}

fn condition<'a>(object: &'a Value, name: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    conditions.iter().find(|condition| condition["type"] == name).unwrap_or(&Value::Null)
}

async fn recorded_messages(cluster: &Cluster, reason: &str) -> Vec<String> {
    let events = cluster.get("/api/v1/events").await;
    let about = items(&events).filter(|event| event["reason"] == reason);
    about.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_node_with_too_little_memory_is_tainted_until_it_has_enough() {
    let cluster = cluster().await;
    let report = async |status: &str| {
        let condition =
            |name: &str, status: &str| json!({"type": name, "status": status, "reason": "KubeletSaysSo"});
        let conditions = json!([condition("MemoryPressure", status), condition("Ready", "True")]);
        cluster.send("PATCH", &format!("{NODE}/status"), json!({"status": {"conditions": conditions}})).await;
        seconds(6).await;
    };
    report("True").await;
    assert_eq!(taints(&cluster).await, ["node.kubernetes.io/memory-pressure:NoSchedule"]);
    report("False").await;
    assert_eq!(taints(&cluster).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_node_without_heartbeats_is_unknown_and_tainted_and_its_pods_are_replaced() {
    let cluster = cluster().await;
    let pods = cluster.pods().await;
    seconds(40).await;
    assert_eq!(taints(&cluster).await, [""; 0], "the grace period has not passed");
    seconds(20).await;
    let node = cluster.get(NODE).await;
    for name in ["DiskPressure", "Ready"] {
        let unknown = condition(&node, name);
        assert_eq!(
            (&unknown["status"], &unknown["reason"], &unknown["message"]),
            (&json!("Unknown"), &json!("NodeStatusUnknown"), &json!("Kubelet stopped posting node status."))
        );
    }
    assert_eq!(
        taints(&cluster).await,
        ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]
    );
    for pod in items(&cluster.get(PODS).await) {
        assert_eq!(condition(pod, "Ready")["status"], "False");
    }
    assert_eq!(recorded_messages(&cluster, "NodeNotReady").await.len(), 3, "of the node and both pods");
    seconds(280).await;
    assert_eq!(cluster.pods().await, pods, "the taint is tolerated for five minutes");
    seconds(30).await;
    let now = cluster.pods().await;
    assert!(now.len() == 2 && now.iter().all(|pod| !pods.contains(pod)), "they were replaced: {now:?}");
    let evicted = cluster.get(&format!("{PODS}/{}", pods[0])).await;
    assert_eq!(condition(&evicted, "DisruptionTarget")["reason"], "DeletionByTaintManager");
    let expected: Vec<_> = pods.iter().map(|pod| format!("Marking for deletion Pod default/{pod}")).collect();
    let mut marked = recorded_messages(&cluster, "TaintManagerEviction").await;
    marked.sort();
    assert_eq!(marked, expected);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_back_loses_its_taints_and_keeps_its_pods() {
    let cluster = cluster().await;
    let pods = cluster.pods().await;
    seconds(60).await;
    assert_eq!(taints(&cluster).await.len(), 2);
    report(&cluster, "2026-01-01T12:01:00Z").await;
    seconds(6).await;
    assert_eq!(taints(&cluster).await, [""; 0]);
    for minute in 2..9 {
        report(&cluster, &format!("2026-01-01T12:0{minute}:00Z")).await;
        seconds(45).await;
    }
    assert_eq!(cluster.pods().await, pods);
}

#[tokio::test(start_paused = true)]
async fn a_taint_that_pods_do_not_tolerate_evicts_them_at_once() {
    let cluster = cluster().await;
    let pods = cluster.pods().await;
    let taint = json!([{"key": "maintenance", "effect": "NoExecute"}]);
    cluster.send("PATCH", NODE, json!({"spec": {"taints": taint}})).await;
    seconds(1).await;
    assert!(cluster.pods().await.iter().all(|pod| !pods.contains(pod)));
}
