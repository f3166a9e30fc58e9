//! Custom kinds, from the definition to the deletion of their objects (Appendix E).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../harness/mod.rs"]
mod harness;

mod applying;
mod bodies;
mod definitions;
mod deletion;
mod documents;
mod embedded;
mod metadata;
mod misuse;
mod objects;
mod parts;
mod quotas;
mod races;
mod rules;
mod selecting;
mod values;
mod versions;
mod writes;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use http::Method;

use harness::{call, read, send, server};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// A definition of widgets, which have a size, a colour and a status subresource.
fn definition() -> Value {
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "versions": [version("v1")],
        },
    })
}

fn version(name: &str) -> Value {
    json!({
        "name": name, "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": {"type": "object", "required": ["size"], "properties": {
                    "size": {"type": "integer", "minimum": 0},
                    "colour": {"type": "string", "default": "red", "enum": ["red", "blue"]},
                    "parts": {
                        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                        "items": {"type": "object", "required": ["name"], "properties": {
                            "name": {"type": "string"}, "count": {"type": "integer"},
                        }},
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }},
                "status": {"type": "object", "properties": {
                    "ready": {"type": "integer"}, "selector": {"type": "string"},
                }},
            },
        }},
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready",
                "labelSelectorPath": ".status.selector",
            },
        },
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
        "selectableFields": [{"jsonPath": ".spec.colour"}],
    })
}

/// A server that defines widgets.
async fn with_widgets() -> ApiServer {
    let server = server().await;
    define(&server, definition()).await;
    server
}

async fn define(server: &ApiServer, definition: Value) -> Value {
    let (status, response) = call(server, Method::POST, DEFINITIONS, definition).await;
    assert_eq!(status, 201, "{response}");
    response
}

#[expect(clippy::needless_pass_by_value, reason = "specs are written where they are used")]
fn widget(name: &str, spec: Value) -> Value {
    json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": spec})
}

/// Creates a widget, which must succeed.
async fn make(server: &ApiServer, name: &str, spec: Value) -> Value {
    let (status, response) = call(server, Method::POST, WIDGETS, widget(name, spec)).await;
    assert_eq!(status, 201, "{response}");
    response
}

async fn get(server: &ApiServer, path: &str) -> (u16, Value) {
    call(server, Method::GET, path, Value::Null).await
}

async fn patch(server: &ApiServer, path: &str, kind: &str, body: Value) -> (u16, Value) {
    read(send(server, Method::PATCH, path, kind, &body).await).await
}

/// `NamesAccepted=True/NoConflicts`, for every condition.
fn conditions(definition: &Value) -> Vec<String> {
    let conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    conditions
        .map(|one| format!("{}={}/{}", text(&one["type"]), text(&one["status"]), text(&one["reason"])))
        .collect()
}
