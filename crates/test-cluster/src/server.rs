//! An API server in process on tokio's clock, which tests pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gantry_apiserver::{ApiServer, ApiService, Environment, Settings};
use gantry_decide::gc::{Resource, ResourceScope};
use gantry_json::{Value, json};
use gantry_model::Timestamp;
use gantry_model::patch::PatchForm;
use gantry_runtime::{Api, ApiTransport, Clock, DeleteParams, Form, Metrics, ResourcePath};
use gantry_store::memory::{HistoryLimits, MemoryStore};

/// An API server with an administrator's connection.
#[derive(Debug)]
pub struct TestServer {
    /// The connection of the component under test to the server.
    pub transport: ApiTransport,
    /// The clock of the server.
    pub clock: Clock,
    /// The metrics of the component under test.
    pub metrics: Metrics,
    api: Api,
}

#[derive(Debug)]
struct TestEnvironment {
    clock: Clock,
    count: AtomicU64,
}

impl Environment for TestEnvironment {
    fn now(&self) -> gantry_primitives::Timestamp {
        gantry_primitives::Timestamp::from_secs(self.clock.now().as_nanos() / 1_000_000_000)
    }
    fn uid(&self) -> String {
        format!("{:08x}-0000-4000-8000-000000000000", self.count.fetch_add(1, Ordering::Relaxed))
    }
    fn name_suffix(&self) -> String {
        format!("x{:04}", self.count.fetch_add(1, Ordering::Relaxed))
    }
}

impl TestServer {
    /// Starts a server.
    pub async fn start() -> Self {
        Self::start_with(ApiTransport::in_process).await
    }

    /// Starts a server; `connect` makes the transport of the component under test, and the test uses the server directly.
    pub async fn start_with(connect: impl FnOnce(ApiService) -> ApiTransport) -> Self {
        let clock = Clock::of_tokio(Timestamp::from_secs(1_767_268_800));
        let environment = TestEnvironment { clock: clock.clone(), count: AtomicU64::new(1) };
        let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
        let server = ApiServer::new(store, Arc::new(environment), Settings::default());
        server.prepare().await.unwrap();
        let transport = connect(ApiService::for_master(server.clone(), "test"));
        let metrics = Metrics::new();
        let own = ApiTransport::in_process(ApiService::for_master(server, "test"));
        let api = Api::new(own, "test", metrics.clone());
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        let server = Self { transport, clock, metrics, api };
        server.create("serviceaccounts", &account).await;
        // Every pod mounts it, as in a cluster whose controllers publish it.
        let authority = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"},
            "data": {"ca.crt": ""},
        });
        server.create("configmaps", &authority).await;
        server
    }

    /// Creates an object.
    pub async fn create(&self, plural: &str, object: &Value) -> Value {
        self.api
            .create(&ResourcePath::collection(&resource(plural), Some(&"default".into())), object)
            .await
            .unwrap()
    }

    /// Gets an object; `None` if it does not exist.
    pub async fn get(&self, plural: &str, name: &str) -> Option<Value> {
        self.api.get(&target(plural, name)).await.ok()
    }

    /// Patches an object, or a subresource of it.
    pub async fn patch(&self, plural: &str, name: &str, part: Option<&str>, body: &Value) {
        let target = target(plural, name);
        let target = part.map_or(target.clone(), |part| target.part(part));
        self.api.patch::<Value>(&target, PatchForm::StrategicMerge, body).await.unwrap();
    }

    /// Deletes an object.
    pub async fn delete(&self, plural: &str, name: &str) {
        self.api.delete(&target(plural, name), &DeleteParams::default()).await.unwrap();
    }

    /// Lists the objects of the namespace `default`.
    pub async fn list(&self, plural: &str) -> Vec<Value> {
        let target = ResourcePath::collection(&resource(plural), Some(&"default".into()));
        let list: Value = self.api.list(&target, Form::Whole, &[]).await.unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// Returns the events about an object, `Reason message`, in the order of their first occurrence.
    pub async fn events(&self, name: &str) -> Vec<String> {
        let mut events = self.list("events").await;
        events.retain(|event| event["involvedObject"]["name"] == name);
        events.sort_by_key(|event| event["metadata"]["name"].as_str().unwrap().to_owned());
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        events.iter().map(|event| format!("{} {}", text(event, "reason"), text(event, "message"))).collect()
    }
}

fn target(plural: &str, name: &str) -> ResourcePath {
    let namespace = if plural == "leases" { "kube-node-lease" } else { "default" };
    ResourcePath::object(&resource(plural), Some(&namespace.into()), &name.into())
}

fn resource(plural: &str) -> Resource {
    let scope = if matches!(plural, "nodes" | "persistentvolumes") {
        ResourceScope::Cluster
    } else {
        ResourceScope::Namespaced
    };
    let api_version = if plural == "leases" { "coordination.k8s.io/v1" } else { "v1" };
    Resource { api_version: api_version.to_owned(), kind: "Any".to_owned(), plural: plural.to_owned(), scope }
}
