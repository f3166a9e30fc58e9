//! Rules for writes of every kind: versions, uids, self links, namespaces, warnings.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use harness::{ReceivedResponse, round_trip, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

async fn post(server: &ApiServer, path: &str, object: &Value) -> ReceivedResponse {
    round_trip(server, Method::POST, path, &[], object.to_string()).await
}

async fn patch(server: &ApiServer, path: &str, content_type: &str, body: &Value) -> ReceivedResponse {
    round_trip(server, Method::PATCH, path, &[("content-type", content_type)], body.to_string()).await
}

fn message(response: &ReceivedResponse) -> (u16, String) {
    (response.status, response.json()["message"].as_str().unwrap_or_default().to_owned())
}

/// A2.9: a version in a new object is refused only if it is valid, after validation, and never in a dry run.
#[tokio::test]
async fn a_new_object_has_no_version_yet() {
    let server = server().await;
    let versioned =
        |name: &str, version: &str| json!({"metadata": {"name": name, "resourceVersion": version}});
    assert_eq!(post(&server, MAPS, &versioned("a", "3")).await.status, 500);
    assert_eq!(post(&server, MAPS, &versioned("b", "Always")).await.status, 201);
    let tried = post(&server, &format!("{MAPS}?dryRun=All"), &versioned("c", "3")).await;
    assert_eq!((tried.status, &tried.json()["metadata"]["resourceVersion"]), (201, &json!("3")));
    let statement =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d", "resourceVersion": "x"}});
    let refused = patch(&server, &format!("{MAPS}/d?fieldManager=m"), APPLY, &statement).await;
    assert_eq!(message(&refused), (500, "strconv.ParseUint: parsing \"x\": invalid syntax".to_owned()));
}

/// A3.1, A5.1: a patch with another uid is refused together with all other errors.
#[tokio::test]
async fn another_uid_in_a_patch_is_one_error_of_many() {
    let server = server().await;
    post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a?fieldManager=m");
    let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "x", "finalizers": ["b"]}});
    let why = "ConfigMap \"a\" is invalid: [metadata.uid: Invalid value: \"x\": field is immutable, metadata.finalizers[0]: \
               Invalid value: \"b\": name is neither a standard finalizer name nor is it fully qualified]";
    for content_type in [MERGE, APPLY] {
        let refused = patch(&server, &path, content_type, &wanted).await;
        assert_eq!(message(&refused), (422, why.to_owned()), "{content_type}");
    }
}

/// A5.1: an applied object has the namespace of the path, and its fields have their types.
#[tokio::test]
async fn an_applied_object_has_its_namespace_and_types() {
    let server = server().await;
    post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a?fieldManager=m");
    let stated = |more: Value| {
        let mut statement = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        for (field, value) in more.as_object().unwrap() {
            statement[field] = value.clone();
        }
        statement
    };
    let elsewhere = stated(json!({"metadata": {"name": "a", "namespace": "other"}}));
    let why = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(message(&patch(&server, &path, APPLY, &elsewhere).await), (400, why.to_owned()));
    let garbled = stated(json!({"binaryData": {"a": "%%"}}));
    let why = "failed to convert new object (/a; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to \
               /v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 0";
    assert_eq!(message(&patch(&server, &path, APPLY, &garbled).await), (500, why.to_owned()));
}

/// A2.12: ignored fields get warnings even if the write is refused.
#[tokio::test]
async fn unknown_fields_are_warned_of_with_refusals() {
    let server = server().await;
    let refused =
        post(&server, MAPS, &json!({"metadata": {"name": "a", "labels": {"*": "b"}}, "x": 1})).await;
    assert_eq!((refused.status, refused.header("warning")), (422, "299 - \"unknown field \\\"x\\\"\""));
}

/// A2.4: self links and generations of clients change nothing, and an empty `dryRun` is refused.
#[tokio::test]
async fn links_and_generations_of_clients_are_ignored() {
    let server = server().await;
    let created = post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await.json();
    let body = json!({"metadata": {"selfLink": "/x", "generation": 7}});
    let patched = patch(&server, &format!("{MAPS}/a"), MERGE, &body).await.json();
    assert_eq!(patched, created);
    let refused = post(&server, &format!("{MAPS}?dryRun="), &json!({"metadata": {"name": "b"}})).await;
    let why = "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"\"]: supported values: \"All\"";
    assert_eq!(message(&refused), (422, why.to_owned()));
}

/// A4.9, O7.3: a table of a kind without columns of its own has no list of rows when there are none.
#[tokio::test]
async fn an_empty_table_of_roles_has_no_rows() {
    let server = server().await;
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let table = round_trip(&server, Method::GET, path, &accept, String::new()).await.json();
    assert_eq!(table["rows"], Value::Null);
    let table =
        round_trip(&server, Method::GET, "/apis/apps/v1/deployments", &accept, String::new()).await.json();
    assert_eq!(table["rows"], json!([]));
}

/// O2.2: fields ignored in the body of an update get warnings also if its name or namespace is not the path's.
#[tokio::test]
async fn a_refused_update_still_gets_warnings_about_unknown_fields() {
    let server = server().await;
    post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await;
    for metadata in [json!({"name": "b"}), json!({"name": "a", "namespace": "other"})] {
        let body = json!({"metadata": metadata, "odd": 1}).to_string();
        let refused = round_trip(&server, Method::PUT, &format!("{MAPS}/a"), &[], body).await;
        assert_eq!((refused.status, refused.header("warning")), (400, r#"299 - "unknown field \"odd\"""#));
    }
}

/// A5.1: a Scale is in the namespace of the path.
#[tokio::test]
async fn a_scale_of_another_namespace_is_refused() {
    let server = server().await;
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let web = json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}});
    post(&server, deployments, &web).await;
    let scale = json!({"metadata": {"name": "web", "namespace": "other"}, "spec": {"replicas": 2}});
    let refused =
        round_trip(&server, Method::PUT, &format!("{deployments}/web/scale"), &[], scale.to_string()).await;
    let why = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(message(&refused), (400, why.to_owned()));
}
