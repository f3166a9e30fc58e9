//! Admission of objects (A§2.6).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../harness/mod.rs"]
mod harness;

mod limits;
mod pods;
mod quotas;
mod services;
mod workloads;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use http::Method;

use harness::{call, read, send};

const PODS: &str = "/api/v1/namespaces/default/pods";
const MERGE: &str = "application/merge-patch+json";

/// A server whose namespace `default` has its service account.
async fn server() -> ApiServer {
    let server = harness::server().await;
    let account = json!({"metadata": {"name": "default"}});
    post(&server, "/api/v1/namespaces/default/serviceaccounts", account).await;
    server
}

async fn post(server: &ApiServer, path: &str, object: Value) -> (u16, Value) {
    call(server, Method::POST, path, object).await
}

async fn created(server: &ApiServer, path: &str, object: Value) -> Value {
    let (status, object) = post(server, path, object).await;
    assert_eq!(status, 201, "{object}");
    object
}

async fn refused(server: &ApiServer, path: &str, object: Value, code: u16) -> String {
    let (status, refusal) = post(server, path, object).await;
    assert_eq!(status, code, "{refusal}");
    refusal["message"].as_str().unwrap().to_owned()
}

async fn patched(server: &ApiServer, path: &str, change: Value) -> (u16, Value) {
    read(send(server, Method::PATCH, path, MERGE, &change).await).await
}

async fn get(server: &ApiServer, path: &str) -> Value {
    call(server, Method::GET, path, Value::Null).await.1
}

fn pod(name: &str, spec: Value) -> Value {
    let mut pod =
        json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}});
    let Value::Object(spec) = spec else { panic!("a spec has fields") };
    for (field, value) in spec {
        pod["spec"][field] = value;
    }
    pod
}
