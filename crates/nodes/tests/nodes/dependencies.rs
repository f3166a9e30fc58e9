//! Objects that pods depend on, and nodes that fail.

use gantry_json::{Value, json};

use crate::cluster::{Cluster, seconds};

/// A pod whose container reads its environment from a ConfigMap waits for it and then continues.
#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_the_config_map_it_needs() {
    let mut cluster = Cluster::start(1).await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
        "spec": {"containers": [
            {"name": "app", "image": "nginx:1", "envFrom": [{"configMapRef": {"name": "settings"}}]},
        ]},
    });
    cluster.server.create("pods", &pod).await;
    seconds(60).await;
    let web = cluster.server.get("pods", "web").await.unwrap();
    let waiting = &web["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(
        waiting,
        &json!({"reason": "CreateContainerConfigError", "message": "configmap \"settings\" not found"})
    );
    let event = "Failed Error: configmap \"settings\" not found".to_owned();
    let events = cluster.server.events("web").await;
    assert_eq!(events.iter().filter(|it| **it == event).count(), 1, "aggregated: {events:?}");
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "b"}});
    cluster.server.create("configmaps", &settings).await;
    seconds(20).await;
    assert_eq!(cluster.condition("pods", "web", "Ready").await["status"], "True");
    cluster.stop().await;
}

/// The token of a deleted service account cannot be mounted.
#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_its_service_account() {
    let mut cluster = Cluster::start(1).await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}});
    cluster.server.create("serviceaccounts", &account).await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
        "spec": {"serviceAccountName": "robot", "containers": [{"name": "app", "image": "nginx:1"}]},
    });
    cluster.server.create("pods", &pod).await;
    cluster.server.delete("serviceaccounts", "robot").await;
    seconds(30).await;
    let web = cluster.server.get("pods", "web").await.unwrap();
    let waiting = &web["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(waiting, &json!({"reason": "ContainerCreating"}));
    let events = cluster.server.events("web").await;
    let problem = "failed to fetch token: serviceaccounts \"robot\" not found";
    assert!(
        events.iter().any(|event| event
            .starts_with("FailedMount MountVolume.SetUp failed for volume \"kube-api-access-")
            && event.ends_with(problem)),
        "{events:?}"
    );
    cluster.server.create("serviceaccounts", &account).await;
    seconds(60).await;
    assert_eq!(cluster.condition("pods", "web", "Ready").await["status"], "True");
    cluster.stop().await;
}

/// A failed node sends no heartbeats, and its pods do not change until it recovers.
#[tokio::test(start_paused = true)]
async fn a_node_can_fail_and_recover() {
    let mut cluster = Cluster::start(1).await;
    cluster.pod("web", "nginx:1", &json!({})).await;
    seconds(10).await;
    let fail = |value: Value| json!({"metadata": {"annotations": {"sim.gantry.dev/fail": value}}});
    cluster.server.patch("nodes", "node-1", None, &fail(json!("true"))).await;
    seconds(1).await;
    let lease = cluster.version("leases", "node-1").await;
    cluster.server.delete("pods", "web").await;
    cluster.pod("late", "nginx:1", &json!({})).await;
    seconds(600).await;
    assert_eq!(cluster.version("leases", "node-1").await, lease, "its lease is not renewed");
    assert!(cluster.server.get("pods", "web").await.is_some(), "it is not removed without a kubelet");
    let late = cluster.server.get("pods", "late").await.unwrap();
    assert_eq!(late["status"].get("containerStatuses"), None, "it is not reported without a kubelet");
    cluster.stop().await;
    cluster.resume();
    seconds(60).await;
    assert_eq!(cluster.version("leases", "node-1").await, lease, "a new process changes nothing");
    let unknown = json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
    cluster.server.patch("nodes", "node-1", Some("status"), &unknown).await;
    cluster.server.patch("nodes", "node-1", None, &fail(Value::Null)).await;
    seconds(15).await;
    assert_ne!(cluster.version("leases", "node-1").await, lease);
    assert_eq!(cluster.condition("nodes", "node-1", "Ready").await["status"], "True");
    assert!(cluster.server.get("pods", "web").await.is_none());
    assert_eq!(cluster.condition("pods", "late", "Ready").await["status"], "True");
    cluster.stop().await;
}

/// A status that another client wrote is corrected.
#[tokio::test(start_paused = true)]
async fn a_pod_that_was_set_to_not_ready_is_reported_again() {
    let mut cluster = Cluster::start(1).await;
    cluster.pod("web", "nginx:1", &json!({})).await;
    seconds(10).await;
    let not_ready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    cluster.server.patch("pods", "web", Some("status"), &not_ready).await;
    seconds(1).await;
    assert_eq!(cluster.condition("pods", "web", "Ready").await["status"], "True");
    cluster.stop().await;
}
