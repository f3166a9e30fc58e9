//! The defaults of every namespace, metrics, and the lease.

use std::time::Duration;

use gantry_json::json;
use gantry_runtime::render;

use crate::cluster::{Cluster, holder, start_candidate};

const SHOP: &str = "/api/v1/namespaces/shop";

/// A6.2: a new namespace gets an account and a certificate at once, and again if they are deleted.
#[tokio::test(start_paused = true)]
async fn every_namespace_has_an_account_and_a_certificate() {
    let cluster = Cluster::new().await;
    cluster.send("POST", "/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
    cluster.settle().await;
    let (account, map) =
        (format!("{SHOP}/serviceaccounts/default"), format!("{SHOP}/configmaps/kube-root-ca.crt"));
    assert_eq!(cluster.get(&map).await["data"]["ca.crt"], "PEM");
    cluster.send("DELETE", &account, json!(null)).await;
    cluster.send("PATCH", &map, json!({"data": {"ca.crt": "another"}})).await;
    cluster.settle().await;
    assert!(cluster.exists(&account).await);
    assert_eq!(cluster.get(&map).await["data"]["ca.crt"], "PEM");
}

#[tokio::test(start_paused = true)]
async fn metrics_have_the_names_of_kube_controller_manager() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 1, |_| {}).await;
    cluster.roll_out().await;
    let text = render(&cluster.metrics.snapshot());
    for series in [
        "workqueue_depth{name=\"deployment\"} 0",
        "workqueue_unfinished_work_seconds{name=\"replicaset\"} 0",
        "rest_client_requests_total{code=\"201\",method=\"POST\"}",
        "workqueue_work_duration_seconds_count{name=\"deployment\"}",
    ] {
        assert!(text.contains(series), "{series} is missing in\n{text}");
    }
}

/// Two processes take turns: one that ends releases its lease, one that vanishes is replaced after its lease has
/// expired.
#[tokio::test(start_paused = true)]
async fn two_processes_take_over_from_each_other() {
    let cluster = Cluster::without_controllers().await;
    let seconds = |n| tokio::time::sleep(Duration::from_secs(n));
    let start = |identity| start_candidate(&cluster, identity);
    let (first, first_runs) = start("first");
    seconds(1).await;
    let (second, second_runs) = start("second");
    seconds(60).await;
    assert_eq!(holder(&cluster).await, "first", "a renewed lease is kept");
    cluster.deploy("web", 2, |_| {}).await;
    cluster.settle().await;
    assert_eq!(cluster.pods().await.len(), 2, "one of them is active");
    first.turn();
    first_runs.await.unwrap().unwrap();
    seconds(5).await;
    assert_eq!(holder(&cluster).await, "second", "the lease was released");
    let (third, third_runs) = start("third");
    seconds(2).await;
    second_runs.abort();
    drop(second);
    seconds(10).await;
    assert_eq!(holder(&cluster).await, "second", "the lease has not expired");
    seconds(10).await;
    assert_eq!(holder(&cluster).await, "third");
    cluster.patch_deployment("web", json!({"spec": {"replicas": 5}})).await;
    seconds(5).await;
    assert_eq!(cluster.pods().await.len(), 5);
    third.turn();
    third_runs.await.unwrap().unwrap();
}
