//! PodDisruptionBudgets: their status follows the pods, so that evictions are allowed and refused as on Kubernetes.

use std::time::Duration;

use gantry_json::{Value, json};

use crate::cluster::{Cluster, PODS};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

async fn budget(cluster: &Cluster, limit: Value) {
    let mut spec = limit;
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    cluster.send("POST", BUDGETS, json!({"metadata": {"name": "web"}, "spec": spec})).await;
    cluster.settle().await;
}

/// The counts as `allowed: healthy of expected, desired`, and the reason of the condition.
async fn counted(cluster: &Cluster) -> String {
    let budget = cluster.get(&format!("{BUDGETS}/web")).await;
    let status = &budget["status"];
    format!(
        "{}: {} of {}, {} desired, {}",
        status["disruptionsAllowed"],
        status["currentHealthy"],
        status["expectedPods"],
        status["desiredHealthy"],
        status["conditions"][0]["reason"].as_str().unwrap_or_default()
    )
}

async fn evict(cluster: &Cluster, pod: &str) -> u16 {
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}});
    cluster.try_send("POST", &format!("{PODS}/{pod}/eviction"), &eviction).await.0
}

/// A8.7, A8.8: one pod may be evicted; the next one when its replacement is ready.
#[tokio::test(start_paused = true)]
async fn a_pod_may_be_evicted_when_the_replacement_of_the_last_one_is_ready() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 3, |_| {}).await;
    budget(&cluster, json!({"maxUnavailable": 1})).await;
    assert_eq!(counted(&cluster).await, "0: 0 of 3, 2 desired, InsufficientPods");
    cluster.roll_out().await;
    assert_eq!(counted(&cluster).await, "1: 3 of 3, 2 desired, SufficientPods");
    let pods = cluster.pods().await;
    assert_eq!(evict(&cluster, &pods[0]).await, 201);
    assert_eq!(evict(&cluster, &pods[1]).await, 429, "the budget is used up until it is counted again");
    cluster.settle().await;
    assert_eq!(counted(&cluster).await, "0: 2 of 3, 2 desired, InsufficientPods");
    assert_eq!(evict(&cluster, &pods[1]).await, 429);
    cluster.delete_terminating_pods().await;
    cluster.roll_out().await;
    assert_eq!(counted(&cluster).await, "1: 3 of 3, 2 desired, SufficientPods");
    assert_eq!(evict(&cluster, &pods[1]).await, 201);
}

/// The percentage is of the Deployment's size, whatever pods exist, and rounded up.
#[tokio::test(start_paused = true)]
async fn a_percentage_is_counted_of_the_size_of_the_deployment() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 4, |_| {}).await;
    budget(&cluster, json!({"minAvailable": "51%"})).await;
    cluster.roll_out().await;
    assert_eq!(counted(&cluster).await, "1: 4 of 4, 3 desired, SufficientPods");
    cluster.patch_deployment("web", json!({"spec": {"replicas": 6}})).await;
    cluster.settle().await;
    assert_eq!(counted(&cluster).await, "0: 4 of 6, 4 desired, InsufficientPods");
}

/// An eviction that is never carried out is dropped after two minutes, and the pod counts again.
#[tokio::test(start_paused = true)]
async fn an_eviction_that_is_not_carried_out_is_dropped_after_two_minutes() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 2, |_| {}).await;
    budget(&cluster, json!({"minAvailable": 1})).await;
    cluster.roll_out().await;
    let pod = cluster.pods().await.remove(0);
    let now =
        cluster.get(&format!("{PODS}/{pod}")).await["status"]["conditions"][0]["lastTransitionTime"].clone();
    let noted = json!({"status": {"disruptedPods": {(&pod): now}}});
    cluster.send("PATCH", &format!("{BUDGETS}/web/status"), noted).await;
    cluster.settle().await;
    assert_eq!(counted(&cluster).await, "0: 1 of 2, 1 desired, InsufficientPods");
    tokio::time::sleep(Duration::from_secs(125)).await;
    assert_eq!(counted(&cluster).await, "1: 2 of 2, 1 desired, SufficientPods");
    let events = cluster.get("/api/v1/namespaces/default/events").await;
    let events = events["items"].as_array().unwrap();
    let event = events.iter().find(|event| event["reason"] == "NotDeleted").unwrap();
    assert_eq!(event["involvedObject"]["name"], pod);
    assert_eq!(event["message"], "Pod was expected by PDB default/default to be deleted but it wasn't");
}

/// A kind without a `scale` subresource cannot be counted: no disruption is allowed, and the status has the reason.
#[tokio::test(start_paused = true)]
async fn a_budget_that_cannot_be_counted_allows_no_disruption_and_has_the_reason() {
    let cluster = Cluster::new().await;
    let job = json!({"metadata": {"name": "job"}, "spec": {"suspend": true, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    let job = cluster.send("POST", "/apis/batch/v1/namespaces/default/jobs", job).await;
    let uid = &job["metadata"]["uid"];
    let owner =
        json!({"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": uid, "controller": true});
    let meta = json!({"name": "p", "labels": {"app": "web"}, "ownerReferences": [owner]});
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    cluster.send("POST", PODS, json!({"metadata": meta, "spec": spec})).await;
    budget(&cluster, json!({"maxUnavailable": 1})).await;
    let budget = cluster.get(&format!("{BUDGETS}/web")).await;
    let condition = &budget["status"]["conditions"][0];
    assert_eq!(condition["reason"], "SyncFailed");
    assert_eq!(condition["message"], "jobs.batch does not implement the scale subresource");
    assert_eq!(budget["status"]["disruptionsAllowed"], 0);
}
