//! Server-side apply and managed fields, over the server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use harness::{call, read, round_trip, send, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";

fn map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

async fn apply(server: &ApiServer, query: &str, statement: &Value) -> (u16, Value) {
    read(send(server, Method::PATCH, &format!("{MAPS}/a{query}"), APPLY, statement).await).await
}

fn managers(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    entries.iter().map(|entry| format!("{} {}", text(entry, "manager"), text(entry, "operation"))).collect()
}

/// A3.24, A3.22, A3.19: an absent object is created, applying it again changes nothing, and reads have managed fields.
#[tokio::test]
async fn apply_creates_then_updates() {
    let server = server().await;
    let (status, created) = apply(&server, "?fieldManager=m", &map(&json!({"k": "1", "l": "1"}))).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(managers(&created), ["m Apply"]);
    let (status, same) = apply(&server, "?fieldManager=m", &map(&json!({"k": "1", "l": "1"}))).await;
    assert_eq!((status, &same), (200, &created));
    let (_, less) = apply(&server, "?fieldManager=m", &map(&json!({"k": "2"}))).await;
    assert_eq!(less["data"], json!({"k": "2"}), "fields that are no longer applied are removed");
    let (_, list) = call(&server, Method::GET, MAPS, Value::Null).await;
    assert_eq!(managers(&list["items"][0]), ["m Apply"]);
}

/// A3.20: invalid apply configurations are refused.
#[tokio::test]
async fn an_apply_configuration_needs_manager_kind_and_name() {
    let server = server().await;
    let (status, refused) = apply(&server, "", &map(&json!({}))).await;
    let message =
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
    assert_eq!((status, &refused["message"]), (422, &json!(message)));
    let (status, refused) = apply(&server, "?fieldManager=m", &json!({"metadata": {"name": "a"}})).await;
    assert_eq!((status, &refused["message"]), (400, &json!("invalid object type: /, Kind=")));
    let mut owned = map(&json!({}));
    owned["metadata"]["managedFields"] = json!([]);
    let (status, refused) = apply(&server, "?fieldManager=m", &owned).await;
    assert_eq!((status, &refused["message"]), (400, &json!("metadata.managedFields must be nil")));
    let mut meant = map(&json!({}));
    meant["metadata"]["uid"] = json!("abc");
    let (status, refused) = apply(&server, "?fieldManager=m", &meant).await;
    assert_eq!(status, 409);
    assert!(
        refused["message"].as_str().unwrap().ends_with(
            "uid mismatch: the provided object specified uid abc, and no existing object was found"
        )
    );
    apply(&server, "?fieldManager=m", &map(&json!({"k": "1"}))).await;
    let mut stale = map(&json!({"k": "2"}));
    stale["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(apply(&server, "?fieldManager=m", &stale).await.0, 409);
}

/// A3.21: an unknown field is a server error; a duplicate key gets a warning or is refused.
#[tokio::test]
async fn an_apply_configuration_must_match_the_schema() {
    let server = server().await;
    let mut odd = map(&json!({}));
    odd["foo"] = json!(1);
    let (status, refused) = apply(&server, "?fieldManager=m", &odd).await;
    let message =
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .foo: field not declared in schema";
    assert_eq!((status, &refused["message"], refused.get("reason")), (500, &json!(message), None));
    let twice = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: a\n  k: b\n";
    let path = format!("{MAPS}/a?fieldManager=m");
    let kind = [("content-type", APPLY)];
    let strict =
        round_trip(&server, Method::PATCH, &format!("{path}&fieldValidation=Strict"), &kind, twice).await;
    assert_eq!(strict.status, 400);
    let warned = round_trip(&server, Method::PATCH, &path, &kind, twice).await;
    assert_eq!((warned.status, &warned.json()["data"]["k"]), (201, &json!("b")));
    assert!(warned.headers.contains_key("warning"));
    let ignored =
        round_trip(&server, Method::PATCH, &format!("{path}&fieldValidation=Ignore"), &kind, twice).await;
    assert!(!ignored.headers.contains_key("warning"));
}

/// A3.23, A3.15: a change to another manager's fields is a conflict unless it is forced.
#[tokio::test]
async fn conflicts_are_resolved_by_force() {
    let server = server().await;
    apply(&server, "?fieldManager=m1", &map(&json!({"k": "1"}))).await;
    let (status, refused) = apply(&server, "?fieldManager=m2", &map(&json!({"k": "2"}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"m1\": .data.k";
    assert_eq!((status, &refused["message"]), (409, &json!(message)));
    let cause =
        json!({"reason": "FieldManagerConflict", "message": "conflict with \"m1\"", "field": ".data.k"});
    assert_eq!(refused["details"], json!({"causes": [cause]}));
    let (_, allocated) = apply(&server, "?fieldManager=m2&force=true", &map(&json!({"k": "2"}))).await;
    assert_eq!(managers(&allocated), ["m2 Apply"]);
    let body = json!({"data": {"k": "3"}});
    let (_, patched) =
        read(send(&server, Method::PATCH, &format!("{MAPS}/a?fieldManager=u"), MERGE, &body).await).await;
    assert_eq!(managers(&patched), ["u Update"], "an update has no conflicts");
}

/// A3.22: a struct that another manager owns and that becomes empty keeps its owner.
#[tokio::test]
async fn an_emptied_map_stays_owned() {
    let server = server().await;
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = |container: Value| {
        let labels = json!({"app": "web"});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
               "spec": {"selector": {"matchLabels": labels}, "template": template}})
    };
    let plain = json!({"name": "c", "image": "i"});
    call(&server, Method::POST, &format!("{path}?fieldManager=u"), deployment(plain.clone())).await;
    let limited = json!({"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}});
    for container in [limited, plain] {
        let body = deployment(container);
        let path = format!("{path}/web?fieldManager=m");
        let (status, applied) = read(send(&server, Method::PATCH, &path, APPLY, &body).await).await;
        assert_eq!(status, 200, "{applied}");
        let entries = applied["metadata"]["managedFields"].as_array().unwrap();
        let of_u = entries.iter().find(|entry| entry["manager"] == "u").unwrap();
        let container = r#"/fieldsV1/f:spec/f:template/f:spec/f:containers/k:{"name":"c"}"#;
        assert_eq!(of_u.pointer(container).unwrap()["f:resources"], json!({}), "{applied}");
    }
}

/// A3.13, A3.16, A3.17, A3.18: the content of managed fields, and how clients write them.
#[tokio::test]
async fn managed_fields_can_be_read_and_written() {
    let server = server().await;
    let created = json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"k": "1"}});
    let (_, created) = call(&server, Method::POST, &format!("{MAPS}?fieldManager=u"), created).await;
    let fields = json!({"f:metadata": {"f:labels": {".": {}, "f:l": {}}}, "f:data": {".": {}, "f:k": {}}});
    let entry = json!({"manager": "u", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T12:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": fields});
    assert_eq!(created["metadata"]["managedFields"], json!([entry]));
    let path = format!("{MAPS}/a");
    let write = async |entries: Value| {
        let body = json!({"metadata": {"managedFields": entries}});
        read(send(&server, Method::PATCH, &path, MERGE, &body).await).await.1
    };
    let mut other = entry.clone();
    other["manager"] = json!("other");
    assert_eq!(managers(&write(json!([other])).await), ["other Update"]);
    assert_eq!(managers(&write(json!([])).await), Vec::<String>::new(), "an empty list removes all entries");
    apply(&server, "?fieldManager=m", &map(&json!({"k": "1"}))).await;
    let (_, found) = call(&server, Method::GET, &path, Value::Null).await;
    assert_eq!(managers(&found), ["m Apply", "before-first-apply Update"], "A3.20");
    let mut reset = found.clone();
    reset["metadata"]["managedFields"] = json!([]);
    assert_eq!(
        managers(&call(&server, Method::PUT, &path, reset).await.1),
        Vec::<String>::new(),
        "also in an update"
    );
}

/// A3.24: a status is applied through `/status`, with a separate entry.
#[tokio::test]
async fn a_status_is_applied_separately() {
    let server = server().await;
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "r"}}, "template": {
            "metadata": {"labels": {"app": "r"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    });
    assert_eq!(call(&server, Method::POST, sets, set).await.0, 201);
    let statement = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"},
        "spec": {"replicas": 9}, "status": {"observedGeneration": 1}});
    let path = format!("{sets}/r/status?fieldManager=m");
    let (status, applied) = read(send(&server, Method::PATCH, &path, APPLY, &statement).await).await;
    assert_eq!((status, &applied["status"]["observedGeneration"]), (200, &json!(1)), "{applied}");
    assert_eq!(applied["spec"]["replicas"], 2);
    let entries = applied["metadata"]["managedFields"].as_array().unwrap();
    let own = entries.iter().find(|entry| entry["manager"] == "m").unwrap();
    assert_eq!((&own["subresource"], &own["operation"]), (&json!("status"), &json!("Apply")));
    assert_eq!(own["fieldsV1"], json!({"f:status": {"f:observedGeneration": {}}}));
    let absent =
        read(send(&server, Method::PATCH, &path.replace("/r/", "/none/"), APPLY, &statement).await).await;
    assert_eq!(absent.0, 404, "a status without its object is not created");
}

/// A3.25: `kubectl apply --server-side` takes over the fields of `kubectl apply`, and updates the annotation.
#[tokio::test]
async fn kubectl_takes_over_the_fields_of_client_side_apply() {
    let server = server().await;
    let last = map(&json!({"k": "1"}));
    let mut created = last.clone();
    created["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": last.to_string()});
    call(&server, Method::POST, &format!("{MAPS}?fieldManager=kubectl-client-side-apply"), created).await;
    let (status, applied) = apply(&server, "?fieldManager=kubectl", &map(&json!({"k": "2"}))).await;
    assert_eq!((status, &applied["data"]["k"]), (200, &json!("2")), "{applied}");
    let annotation =
        applied["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_str();
    assert_eq!(gantry_json::from_str::<Value>(annotation.unwrap()).unwrap()["data"]["k"], "2");
}
