//! A cluster with a service account for pods, and helpers for tests of pods.

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use http::Method;
use http_body_util::BodyExt as _;

use super::{call, read, send, server};

pub const PODS: &str = "/api/v1/namespaces/default/pods";

/// Requests and responses in short form.
pub struct Cluster(pub ApiServer);

impl Cluster {
    pub async fn new() -> Self {
        Self::around(server().await).await
    }

    pub async fn around(server: ApiServer) -> Self {
        let cluster = Self(server);
        cluster
            .post("/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "default"}}))
            .await;
        cluster
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        call(&self.0, Method::GET, path, Value::Null).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        call(&self.0, Method::POST, path, body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        call(&self.0, Method::PUT, path, body).await
    }

    pub async fn delete(&self, path: &str) -> (u16, Value) {
        call(&self.0, Method::DELETE, path, Value::Null).await
    }

    pub async fn delete_with(&self, path: &str, options: Value) -> (u16, Value) {
        call(&self.0, Method::DELETE, path, options).await
    }

    /// A merge patch.
    pub async fn merge(&self, path: &str, body: Value) -> (u16, Value) {
        read(send(&self.0, Method::PATCH, path, "application/merge-patch+json", &body).await).await
    }

    /// A strategic merge patch.
    pub async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        read(send(&self.0, Method::PATCH, path, "application/strategic-merge-patch+json", &body).await).await
    }

    /// The warnings of a response.
    pub async fn warnings(&self, method: Method, path: &str) -> Vec<String> {
        let response = send(&self.0, method, path, "application/json", &Value::Null).await;
        response.headers().get_all("warning").iter().map(|text| text.to_str().unwrap().to_owned()).collect()
    }

    /// The next events of a watch, as `MODIFIED name`, with their objects.
    pub async fn events(&self, path: &str, count: usize) -> Vec<(String, Value)> {
        let mut stream = send(&self.0, Method::GET, path, "", &Value::Null).await.into_body();
        let (mut events, mut unread) = (Vec::new(), Vec::new());
        while events.len() < count {
            let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
            unread.extend_from_slice(&frame);
            while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                let event: Value = gantry_json::from_slice(&line).unwrap();
                events.push((event["type"].as_str().unwrap().to_owned(), event["object"].clone()));
            }
        }
        events
    }

    /// A pod that runs on the node n1, ready or not.
    pub async fn running(&self, name: &str, is_ready: bool) -> Value {
        let mut bound = pod(name);
        bound["spec"]["nodeName"] = json!("n1");
        self.post(PODS, bound).await;
        let ready = if is_ready { "True" } else { "False" };
        let status =
            json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}});
        self.merge(&format!("{PODS}/{name}/status"), status).await.1
    }
}

/// A pod of the application web.
pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {
            "serviceAccountName": "default", "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "nginx:1"}],
        },
    })
}

/// The message of an error.
pub fn message(response: &(u16, Value)) -> &str {
    response.1["message"].as_str().unwrap_or_default()
}
