//! FlowSchemas and PriorityLevelConfigurations: defaults of a cluster, validation, status, tables.

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_json::{Value, json};
use gantry_store::Store as _;
use gantry_store::memory::MemoryStore;
use http::Method;

use crate::harness::{Noon, call, round_trip, server};
use crate::{FLOW_CONTROL, round_trip_as, user};

const SCHEMAS: &str = include_str!("recorded/flowschemas.json");
const LEVELS: &str = include_str!("recorded/prioritylevelconfigurations.json");
const VALIDATION: &str = include_str!("recorded/validation.jsonl");

/// Replaces values that differ between clusters, as in the recording.
fn masked(mut object: Value) -> Value {
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        object["metadata"][field] = json!("-");
    }
    for entry in object["metadata"]["managedFields"].as_array_mut().unwrap() {
        entry["time"] = json!("-");
    }
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        condition["lastTransitionTime"] = json!("-");
    }
    object
}

/// A new cluster has the objects of a new Kubernetes 1.37 cluster, managed fields and status included.
#[tokio::test]
async fn a_new_cluster_has_the_objects_that_kubernetes_has() {
    let server = server().await;
    for (resource, recorded) in [("flowschemas", SCHEMAS), ("prioritylevelconfigurations", LEVELS)] {
        let (status, list) =
            call(&server, Method::GET, &format!("{FLOW_CONTROL}/{resource}"), Value::Null).await;
        assert_eq!(status, 200);
        let recorded: Vec<Value> = gantry_json::from_str(recorded).unwrap();
        let names = |objects: &[Value]| -> Vec<Value> {
            objects.iter().map(|object| object["metadata"]["name"].clone()).collect()
        };
        let items = list["items"].as_array().unwrap();
        assert_eq!(names(items), names(&recorded));
        for (ours, theirs) in items.iter().zip(recorded) {
            assert_eq!(masked(ours.clone()), theirs);
        }
    }
}

/// Defaults and refusals are those that Kubernetes 1.37 returned for the same requests.
#[tokio::test]
async fn requests_get_the_recorded_responses() {
    let server = server().await;
    for line in VALIDATION.lines() {
        let recorded: Value = gantry_json::from_str(line).unwrap();
        let method = recorded["method"].as_str().unwrap().parse().unwrap();
        let path = format!("{FLOW_CONTROL}/{}", recorded["path"].as_str().unwrap());
        let body = &recorded["body"];
        let master = user("admin", &["system:masters"]);
        let response = round_trip_as(&server, master, method, &path, body).await;
        let object = response.json();
        let part = match &recorded["answer"] {
            Value::Object(expected) if expected.contains_key("message") => {
                json!({"message": object["message"], "causes": object["details"]["causes"]})
            }
            Value::Object(expected) if expected.contains_key("labels") => {
                json!({"labels": object["metadata"]["labels"], "status": object["status"]})
            }
            _ => json!({"spec": object["spec"]}),
        };
        assert_eq!(json!(response.status), recorded["code"], "{path} {body}: {object}");
        assert_eq!(part, recorded["answer"], "{path} {body}");
    }
}

/// FlowSchemas are listed in tables in the order in which they match.
#[tokio::test]
async fn a_table_shows_the_order_of_matching() {
    let server = server().await;
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table =
        round_trip(&server, Method::GET, &format!("{FLOW_CONTROL}/flowschemas"), &accept, "").await.json();
    let names: Vec<_> = table["rows"].as_array().unwrap().iter().map(|row| row["cells"][0].clone()).collect();
    assert_eq!(names[..3], [json!("exempt"), json!("probes"), json!("system-leader-election")]);
    assert_eq!(names.last(), Some(&json!("catch-all")));
    let mut row = table["rows"][3]["cells"].clone();
    row[4] = json!("age");
    assert_eq!(row, json!(["system-node-high", "node-high", 400, "ByUser", "age", "False"]));
}

fn custom_schema(level: &str) -> Value {
    json!({"metadata": {"name": "mine"}, "spec": {"priorityLevelConfiguration": {"name": level}}})
}

/// The status has a condition about the existence of the priority level, which follows its creation and deletion.
#[tokio::test]
async fn a_flow_schema_has_a_condition_about_its_priority_level() {
    let server = server().await;
    let schemas = format!("{FLOW_CONTROL}/flowschemas");
    let (status, created) = call(&server, Method::POST, &schemas, custom_schema("later")).await;
    assert_eq!((status, &created["status"]), (201, &json!({})));
    let condition = || async {
        let (_, found) = call(&server, Method::GET, &format!("{schemas}/mine"), Value::Null).await;
        found["status"]["conditions"][0].clone()
    };
    let dangling = condition().await;
    assert_eq!((&dangling["status"], &dangling["reason"]), (&json!("True"), &json!("NotFound")));
    assert_eq!(
        dangling["message"],
        "This FlowSchema references the PriorityLevelConfiguration object named \"later\" but there is no such object"
    );
    let level = json!({"metadata": {"name": "later"}, "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}});
    let levels = format!("{FLOW_CONTROL}/prioritylevelconfigurations");
    assert_eq!(call(&server, Method::POST, &levels, level).await.0, 201);
    assert_eq!(condition().await["status"], "False");
    call(&server, Method::DELETE, &format!("{levels}/later"), Value::Null).await;
    assert_eq!(condition().await["status"], "True");
}

/// Mandatory and suggested objects are created again; an administrator's change to a suggested one is undone, unless
/// its annotation disables that. Objects that are no longer defaults are deleted.
#[tokio::test]
async fn default_objects_are_maintained() {
    let server = server().await;
    let path = |name: &str| format!("{FLOW_CONTROL}/flowschemas/{name}");
    let get = |name: &'static str| {
        let server = server.clone();
        async move { call(&server, Method::GET, &path(name), Value::Null).await }
    };
    for name in ["exempt", "global-default"] {
        assert_eq!(call(&server, Method::DELETE, &path(name), Value::Null).await.0, 200);
    }
    let keeps = "apf.kubernetes.io/autoupdate-spec";
    for (name, annotations) in [("probes", json!({})), ("system-nodes", json!({keeps: "false"}))] {
        let (_, mut changed) = get(name).await;
        changed["spec"]["matchingPrecedence"] = json!(77);
        for (key, value) in annotations.as_object().unwrap() {
            changed["metadata"]["annotations"][key] = value.clone();
        }
        assert_eq!(call(&server, Method::PUT, &path(name), changed).await.0, 200);
    }
    let mut old = custom_schema("system");
    old["metadata"]["annotations"] = json!({keeps: "true"});
    assert_eq!(call(&server, Method::POST, &format!("{FLOW_CONTROL}/flowschemas"), old).await.0, 201);
    server.maintain_flow_control().await.unwrap();
    for name in ["exempt", "global-default"] {
        let (status, restored) = get(name).await;
        assert_eq!(
            (status, &restored["status"]["conditions"][0]["status"]),
            (200, &json!("False")),
            "{name}"
        );
    }
    let (_, probes) = get("probes").await;
    assert_eq!(
        (&probes["spec"]["matchingPrecedence"], &probes["metadata"]["generation"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(get("system-nodes").await.1["spec"]["matchingPrecedence"], 77);
    assert_eq!(get("mine").await.0, 404, "a default of an earlier version");
}

/// A second start writes nothing, and neither does maintenance.
#[tokio::test]
async fn maintenance_writes_nothing_if_nothing_changed() {
    let store: Arc<MemoryStore> = Arc::default();
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
    server.prepare().await.unwrap();
    let before = store.bounds().await.unwrap().current;
    server.prepare().await.unwrap();
    server.maintain_flow_control().await.unwrap();
    assert_eq!(store.bounds().await.unwrap().current, before);
}
