//! Subresources: scales, statuses, bindings, evictions, tokens and resizes, compared with responses of Kubernetes 1.37.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, PODS, message, pod};
use harness::{read, round_trip, send};
use http::Method;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const JSON: &str = "application/json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

async fn with_deployment() -> Cluster {
    let cluster = Cluster::new().await;
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}},
    }});
    let (status, created) = cluster.post(&format!("{DEPLOYMENTS}?fieldManager=base"), deployment).await;
    assert_eq!(status, 201, "{created}");
    cluster
}

fn scale(spec: &Value) -> Value {
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": spec})
}

/// The managers of a Deployment, one entry per line: the name, whether it has a time, and whether it owns the replicas.
async fn owners(cluster: &Cluster) -> Vec<String> {
    let (_, object) = cluster.get(&format!("{DEPLOYMENTS}/web")).await;
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let line = |entry: &Value| {
        let spec = entry["fieldsV1"]["f:spec"].as_object().unwrap();
        let what = match (spec.contains_key("f:replicas"), spec.len()) {
            (true, 1) => "replicas",
            (true, _) => "all",
            (false, _) => "the rest",
        };
        let timed = if entry["time"].is_null() { "untimed" } else { "timed" };
        format!("{} {timed} {what}", entry["manager"].as_str().unwrap())
    };
    entries.iter().map(line).collect()
}

/// The replicas of a manager become a separate entry when the scale is written, and the next write drops that entry.
#[tokio::test]
async fn a_write_to_the_scale_splits_the_entry_of_the_manager_of_the_replicas() {
    let cluster = with_deployment().await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    assert_eq!(owners(&cluster).await, ["base timed all"]);
    let (status, scaled) = cluster.put(&path, scale(&json!({"replicas": 2}))).await;
    assert_eq!((status, &scaled["spec"]["replicas"]), (200, &json!(2)));
    assert_eq!(owners(&cluster).await, ["base untimed replicas", "base timed the rest"]);
    cluster.put(&path, scale(&json!({"replicas": 2}))).await;
    assert_eq!(owners(&cluster).await, ["base timed the rest"]);
    let (_, before) = cluster.get(&format!("{DEPLOYMENTS}/web")).await;
    cluster.put(&path, scale(&json!({"replicas": 2}))).await;
    let (_, after) = cluster.get(&format!("{DEPLOYMENTS}/web")).await;
    assert_eq!(before, after, "nothing remains to change");
}

/// Errors in the body of a scale are returned before its parent is read; the message names an earlier version.
#[tokio::test]
async fn a_scale_is_read_before_its_parent_is() {
    let cluster = with_deployment().await;
    let absent = cluster.put(&format!("{DEPLOYMENTS}/none/scale"), scale(&json!({}))).await;
    assert_eq!(
        (absent.0, message(&absent)),
        (400, "the name of the object (web) does not match the name on the URL (none)")
    );
    let mut former = scale(&json!({"replicas": 3}));
    former["apiVersion"] = json!("extensions/v1beta1");
    let former = cluster.put(&format!("{DEPLOYMENTS}/web/scale"), former).await;
    let mismatch = "the API version in the data (extensions/v1beta1) does not match the expected API version \
                    (autoscaling/v1)";
    assert_eq!((former.0, message(&former)), (400, mismatch));
    let mismatch = cluster.patch(&format!("{DEPLOYMENTS}/web/scale"), scale(&json!({"replicas": "2"}))).await;
    assert!(mismatch.0 == 422 && message(&mismatch).ends_with("unrecognized type: int32"), "{mismatch:?}");
}

/// A strategic merge patch is decoded as the kind of the object, whatever kind it has itself.
#[tokio::test]
async fn a_strategic_patch_cannot_change_the_kind() {
    let cluster = with_deployment().await;
    for path in [format!("{DEPLOYMENTS}/web"), format!("{DEPLOYMENTS}/web/status")] {
        let (status, patched) = cluster.patch(&path, json!({"kind": "Pod", "apiVersion": "v2"})).await;
        assert_eq!(
            (status, &patched["kind"], &patched["apiVersion"]),
            (200, &json!("Deployment"), &json!("apps/v1"))
        );
    }
}

/// An object that has no version after a patch is decoded as the internal version, which has none of its fields.
#[tokio::test]
async fn a_patch_that_removes_the_api_version_is_decoded_without_fields() {
    let cluster = with_deployment().await;
    let (path, body) = (format!("{DEPLOYMENTS}/web"), json!({"apiVersion": ""}));
    let response = send(&cluster.0, Method::PATCH, &path, "application/merge-patch+json", &body).await;
    let warnings: Vec<_> =
        response.headers().get_all("warning").iter().map(|text| text.to_str().unwrap().to_owned()).collect();
    let unknown = |field: &str| format!("299 - \"unknown field \\\"{field}\\\"\"");
    assert_eq!(warnings, ["metadata", "spec", "status"].map(unknown));
    let response = read(response).await;
    assert_eq!(
        (response.0, message(&response)),
        (400, "the name of the object (web based on URL) was undeterminable: name must be provided")
    );
    let other = cluster.merge(&path, json!({"apiVersion": null, "kind": "Other"})).await;
    assert!(
        message(&other)
            .contains("no kind \"Other\" is registered for the internal version of group \"apps\""),
        "{other:?}"
    );
}

/// Bindings, evictions and token requests are never tables; ignored fields get warnings also if the request is refused.
#[tokio::test]
async fn posts_to_subresources_return_no_table_and_get_warnings() {
    let cluster = Cluster::new().await;
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, "unknown": 1});
    let path = format!("{PODS}/p/eviction");
    let table = [("content-type", JSON), ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    assert_eq!(round_trip(&cluster.0, Method::POST, &path, &table, eviction.to_string()).await.status, 406);
    let refused =
        round_trip(&cluster.0, Method::POST, &path, &[("content-type", JSON)], eviction.to_string()).await;
    assert_eq!((refused.status, refused.header("warning")), (404, "299 - \"unknown field \\\"unknown\\\"\""));
}

/// The sender of a token request owns its fields; its metadata is kept, and its namespace and uid must match the
/// account.
#[tokio::test]
async fn the_response_to_a_token_request_has_its_own_metadata() {
    let cluster = Cluster::new().await;
    cluster.post(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    let path = format!("{ACCOUNTS}/robot/token?fieldManager=me");
    let request = |metadata: Value| json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": metadata});
    let (status, token) =
        cluster.post(&path, request(json!({"labels": {"a": "b"}, "resourceVersion": "x"}))).await;
    let metadata = &token["metadata"];
    assert_eq!(
        (status, &metadata["name"], &metadata["resourceVersion"]),
        (201, &json!("robot"), &json!("x"))
    );
    let owner = &metadata["managedFields"][0];
    assert_eq!((&owner["manager"], &owner["subresource"]), (&json!("me"), &json!("token")));
    assert_eq!(owner["fieldsV1"]["f:spec"], json!({"f:expirationSeconds": {}}));
    let elsewhere = cluster.post(&path, request(json!({"namespace": "other"}))).await;
    assert_eq!(
        (elsewhere.0, message(&elsewhere)),
        (400, "the namespace of the provided object does not match the namespace sent on the request")
    );
    let another = cluster.post(&path, request(json!({"uid": "u-1"}))).await;
    assert!(
        another.0 == 409
            && message(&another).contains("the UID in the token request (u-1) does not match the UID of"),
        "{another:?}"
    );
}

/// A resize must have the existing containers in their order, and changes only their CPU and memory.
#[tokio::test]
async fn a_resize_changes_neither_which_containers_there_are_nor_their_policies() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    let path = format!("{PODS}/p/resize");
    let (_, before) = cluster.get(&format!("{PODS}/p")).await;
    let mut renamed = before.clone();
    renamed["spec"]["containers"][0]["name"] = json!("d");
    let renamed = cluster.put(&path, renamed).await;
    assert!(
        message(&renamed).contains(
            "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"
        ),
        "{renamed:?}"
    );
    let more = json!({"spec": {"containers": [{"name": "d", "image": "i:1"}]}});
    let more = read(send(&cluster.0, Method::PATCH, &path, STRATEGIC, &more).await).await;
    assert!(
        message(&more)
            .contains("spec.containers: Forbidden: containers may not be added or removed on resize")
    );
    let policy = json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]);
    let policy = json!({"spec": {"containers": [{"name": "c", "resizePolicy": policy}]}});
    let policy = cluster.patch(&path, policy).await;
    assert!(
        message(&policy).contains("spec: Forbidden: only cpu and memory resources are mutable"),
        "{policy:?}"
    );
    let (status, unchanged) = cluster.patch(&path, json!({"spec": {"containers": [{"name": "c"}]}})).await;
    assert_eq!(
        (status, &unchanged),
        (200, &before),
        "a resize without changes does not increment the generation"
    );
}

/// A Job that is stored without labels is read with the labels of its template.
#[tokio::test]
async fn a_job_without_labels_has_those_of_its_template() {
    let cluster = Cluster::new().await;
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}},
    }});
    let (_, created) = cluster.post(jobs, job).await;
    let status =
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "status": {"active": 1}});
    let (code, put) = cluster.put(&format!("{jobs}/j/status"), status).await;
    assert_eq!((code, &put["metadata"]["labels"]), (200, &created["metadata"]["labels"]));
    assert!(put["metadata"]["labels"]["job-name"] == "j");
}

/// A watch with a negative timeout ends before it delivers an event.
#[tokio::test]
async fn a_watch_with_a_negative_timeout_delivers_nothing() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    let watch = |query: &str| format!("{PODS}?watch=true&timeoutSeconds=-1{query}");
    let silent = round_trip(&cluster.0, Method::GET, &watch(""), &[], "").await;
    assert_eq!((silent.status, silent.text()), (200, ""));
    let query = "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let failed = round_trip(&cluster.0, Method::GET, &watch(query), &[], "").await.json();
    assert_eq!(
        (&failed["type"], &failed["object"]["message"]),
        (&json!("ERROR"), &json!("context deadline exceeded"))
    );
}
