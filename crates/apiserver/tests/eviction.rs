//! Evictions and disruption budgets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, PODS, message, pod};
use harness::send;
use http::Method;

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

fn eviction(name: &str, options: &Value) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options})
}

/// A budget with a computed status: allowed, healthy, needed.
async fn budget(cluster: &Cluster, name: &str, status: Option<(i64, i64, i64)>) {
    let spec = json!({"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}});
    cluster.post(BUDGETS, json!({"metadata": {"name": name}, "spec": spec})).await;
    if let Some((allowed, healthy, needed)) = status {
        let status = json!({
            "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy,
            "desiredHealthy": needed, "expectedPods": 3,
        });
        cluster.merge(&format!("{BUDGETS}/{name}/status"), json!({"status": status})).await;
    }
}

async fn evict(cluster: &Cluster, name: &str) -> (u16, Value) {
    cluster.post(&format!("{PODS}/{name}/eviction"), eviction(name, &Value::Null)).await
}

fn cause(refused: &(u16, Value)) -> &str {
    assert_eq!((refused.0, message(refused)), (429, REFUSED), "{refused:?}");
    assert_eq!(refused.1["details"]["causes"][0]["reason"], "DisruptionBudget");
    refused.1["details"]["causes"][0]["message"].as_str().unwrap()
}

/// A8.7: without a budget an eviction sets the condition and deletes.
#[tokio::test]
async fn a_pod_without_a_budget_is_marked_as_disrupted_and_deleted() {
    let cluster = Cluster::new().await;
    cluster.running("p", true).await;
    let (status, response) = evict(&cluster, "p").await;
    assert_eq!((status, &response["status"], &response["code"]), (201, &json!("Success"), &json!(201)));
    let (_, leaving) = cluster.get(&format!("{PODS}/p")).await;
    assert_eq!(leaving["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(leaving["metadata"]["generation"], 2);
    let mark = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T12:00:00Z",
    });
    assert_eq!(leaving["status"]["conditions"][1], mark);
    let absent = evict(&cluster, "none").await;
    assert_eq!((absent.0, message(&absent)), (404, "pods \"none\" not found"));
    let renamed = cluster.post(&format!("{PODS}/p/eviction"), eviction("q", &Value::Null)).await;
    assert_eq!((renamed.0, message(&renamed)), (400, "name in URL does not match name in Eviction object"));
}

/// A8.7: pods that do not run or are terminating are evicted regardless of the budget.
#[tokio::test]
async fn a_pod_that_does_not_run_is_evicted_regardless_of_its_budget() {
    let cluster = Cluster::new().await;
    budget(&cluster, "pdb", Some((0, 1, 2))).await;
    cluster.post(PODS, pod("pending")).await;
    let mut former = eviction("pending", &Value::Null);
    former["apiVersion"] = json!("policy/v1beta1");
    assert_eq!(
        cluster.post(&format!("{PODS}/pending/eviction"), former).await.0,
        201,
        "also in the earlier version"
    );
    assert_eq!(cluster.get(&format!("{PODS}/pending")).await.0, 404);
    cluster.running("leaving", true).await;
    cluster.delete(&format!("{PODS}/leaving")).await;
    let now = eviction("leaving", &json!({"gracePeriodSeconds": 0}));
    assert_eq!(cluster.post(&format!("{PODS}/leaving/eviction"), now).await.0, 201);
    assert_eq!(cluster.get(&format!("{PODS}/leaving")).await.0, 404);
}

/// A8.7, A8.8: each eviction decrements the allowed disruptions, down to zero.
#[tokio::test]
async fn each_eviction_decrements_the_allowed_disruptions() {
    let cluster = Cluster::new().await;
    for name in ["a", "b"] {
        cluster.running(name, true).await;
    }
    budget(&cluster, "pdb", Some((1, 3, 2))).await;
    assert_eq!(evict(&cluster, "a").await.0, 201);
    let (_, spent) = cluster.get(&format!("{BUDGETS}/pdb")).await;
    let condition = json!([{
        "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
        "observedGeneration": 1, "lastTransitionTime": "2026-01-01T12:00:00Z",
    }]);
    assert_eq!(spent["status"]["disruptionsAllowed"], 0);
    assert_eq!(spent["status"]["disruptedPods"], json!({"a": "2026-01-01T12:00:00Z"}));
    assert_eq!(spent["status"]["conditions"], condition);
    let refused = evict(&cluster, "b").await;
    assert_eq!(cause(&refused), "The disruption budget pdb does not allow evicting pods currently");
    let (_, left) = cluster.get(&format!("{PODS}/b")).await;
    assert_eq!(left["metadata"].get("deletionTimestamp"), None);
    assert_eq!(
        left["status"]["conditions"].as_array().unwrap().len(),
        1,
        "the pod has no eviction condition"
    );
}

/// A8.8: a refusal has the number of needed pods; one about an outdated status has a retry time.
#[tokio::test]
async fn a_refused_eviction_has_the_reason() {
    let cluster = Cluster::new().await;
    cluster.running("a", true).await;
    budget(&cluster, "new", None).await;
    let path = format!("{PODS}/a/eviction");
    let response =
        send(&cluster.0, Method::POST, &path, "application/json", &eviction("a", &Value::Null)).await;
    assert_eq!(response.headers()["retry-after"], "10");
    let early = harness::read(response).await;
    assert_eq!(cause(&early), "The disruption budget new is still being processed by the server.");
    assert_eq!(early.1["details"]["retryAfterSeconds"], 10);
    cluster.delete(&format!("{BUDGETS}/new")).await;
    budget(&cluster, "tight", Some((0, 1, 2))).await;
    let response =
        send(&cluster.0, Method::POST, &path, "application/json", &eviction("a", &Value::Null)).await;
    assert_eq!(response.headers().get("retry-after"), None);
    assert_eq!(
        cause(&harness::read(response).await),
        "The disruption budget tight needs 2 healthy pods and has 1 currently"
    );
    budget(&cluster, "second", None).await;
    let ambiguous = evict(&cluster, "a").await;
    let why =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    assert_eq!((ambiguous.0, message(&ambiguous)), (500, why));
}

/// A8.7: an unready pod can be evicted if enough others are healthy, or if the policy allows it.
#[tokio::test]
async fn an_unready_pod_can_be_evicted_regardless_of_the_budget() {
    let cluster = Cluster::new().await;
    cluster.running("a", false).await;
    budget(&cluster, "pdb", Some((0, 1, 2))).await;
    assert_eq!(
        cause(&evict(&cluster, "a").await),
        "The disruption budget pdb needs 2 healthy pods and has 1 currently"
    );
    let healthy = json!({"status": {"currentHealthy": 2}});
    cluster.merge(&format!("{BUDGETS}/pdb/status"), healthy).await;
    assert_eq!(evict(&cluster, "a").await.0, 201, "enough others are healthy");
    assert_eq!(cluster.get(&format!("{BUDGETS}/pdb")).await.1["status"].get("disruptedPods"), None);
    cluster.running("b", false).await;
    cluster.merge(&format!("{BUDGETS}/pdb/status"), json!({"status": {"currentHealthy": 1}})).await;
    assert_eq!(evict(&cluster, "b").await.0, 429);
    let always = json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}});
    cluster.merge(&format!("{BUDGETS}/pdb"), always).await;
    assert_eq!(evict(&cluster, "b").await.0, 201);
}

/// A8.7: the eviction's delete options apply, and a dry run changes nothing.
#[tokio::test]
async fn an_eviction_applies_its_delete_options() {
    let cluster = Cluster::new().await;
    cluster.running("a", true).await;
    budget(&cluster, "pdb", Some((3, 5, 2))).await;
    let path = format!("{PODS}/a/eviction");
    let (_, before) = cluster.get(&format!("{PODS}/a")).await;
    for (query, options) in [("?dryRun=All", Value::Null), ("", json!({"dryRun": ["All"]}))] {
        assert_eq!(cluster.post(&format!("{path}{query}"), eviction("a", &options)).await.0, 201);
    }
    assert_eq!(cluster.get(&format!("{PODS}/a")).await.1, before);
    assert_eq!(cluster.get(&format!("{BUDGETS}/pdb")).await.1["status"]["disruptionsAllowed"], 3);
    let other = cluster.post(&path, eviction("a", &json!({"preconditions": {"uid": "u"}}))).await;
    assert_eq!((other.0, &other.1["details"]), (409, &json!({"name": "a", "kind": "Pod"})));
    let outdated =
        cluster.post(&path, eviction("a", &json!({"preconditions": {"resourceVersion": "1"}}))).await;
    assert_eq!(outdated.0, 409);
    let (_, spent) = cluster.get(&format!("{BUDGETS}/pdb")).await;
    assert_eq!(
        spent["status"]["disruptionsAllowed"], 1,
        "spent before the pod is read; the controller of the budget restores it"
    );
    let exact = json!({"gracePeriodSeconds": 100, "preconditions": {"resourceVersion": before["metadata"]["resourceVersion"]}});
    let response = cluster.post(&path, eviction("a", &exact)).await;
    assert_eq!(response.0, 201, "this request set the condition: {response:?}");
    assert_eq!(cluster.get(&format!("{PODS}/a")).await.1["metadata"]["deletionGracePeriodSeconds"], 100);
}

/// A8.7, A§2.6: evictions in a terminating namespace are refused.
#[tokio::test]
async fn evictions_in_a_terminating_namespace_are_refused() {
    let cluster = Cluster::new().await;
    cluster.post("/api/v1/namespaces", json!({"metadata": {"name": "t"}})).await;
    cluster.post("/api/v1/namespaces/t/serviceaccounts", json!({"metadata": {"name": "default"}})).await;
    cluster.post("/api/v1/namespaces/t/pods", pod("p")).await;
    cluster.delete("/api/v1/namespaces/t").await;
    let refused = cluster.post("/api/v1/namespaces/t/pods/p/eviction", eviction("p", &Value::Null)).await;
    let why =
        "pods \"p\" is forbidden: unable to create new content in namespace t because it is being terminated";
    assert_eq!((refused.0, message(&refused)), (403, why));
}

/// A8.7: concurrent evictions do not exceed a budget.
#[tokio::test]
async fn concurrent_evictions_do_not_exceed_the_budget() {
    let cluster = Cluster::new().await;
    for name in ["a", "b", "c"] {
        cluster.running(name, true).await;
    }
    budget(&cluster, "pdb", Some((1, 3, 2))).await;
    let (a, b, c) = tokio::join!(evict(&cluster, "a"), evict(&cluster, "b"), evict(&cluster, "c"));
    let mut codes = [a.0, b.0, c.0];
    codes.sort_unstable();
    assert_eq!(codes, [201, 429, 429]);
}
