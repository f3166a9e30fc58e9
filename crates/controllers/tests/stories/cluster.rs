//! A cluster in one process: the API server in memory, all controllers as clients of it, and a clock that the test
//! controls.
//!
//! A transport between the controllers and the server injects faults and records every write.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use gantry_apiserver::{ApiServer, ApiService, Environment, ServiceAccounts, Settings};
use gantry_controllers::{ControllerPanicked, LeaseOptions, Options, run};
use gantry_json::{Value, json};
use gantry_model::Timestamp;
use gantry_runtime::{Clock, Metrics, Switch, Timing, shutdown};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::wire::Wire;

/// The start of all stories: 2026-01-01T12:00:00Z.
pub(crate) const NOON: i64 = 1_767_268_800;

/// A cluster and a client with all rights.
pub(crate) struct Cluster {
    service: ApiService,
    pub(crate) wire: Wire,
    pub(crate) metrics: Metrics,
    clock: Clock,
    system_clock: Arc<SystemClock>,
    controllers: Option<(Switch, JoinHandle<Result<(), ControllerPanicked>>)>,
}

/// The system clock of server and controllers: tokio's, plus an offset.
#[derive(Debug)]
struct SystemClock {
    began: Instant,
    set_by_seconds: AtomicI64,
}

/// An environment whose uids count up.
#[derive(Debug)]
struct TestEnvironment {
    system_clock: Arc<SystemClock>,
    counter: AtomicU64,
}

impl SystemClock {
    fn new() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), set_by_seconds: AtomicI64::new(0) })
    }

    fn now(&self) -> Timestamp {
        let begin = Timestamp::from_secs(NOON + self.set_by_seconds.load(Ordering::Relaxed));
        begin.plus(self.began.elapsed())
    }
}

impl Environment for TestEnvironment {
    fn now(&self) -> gantry_primitives::Timestamp {
        gantry_primitives::Timestamp::from_secs(self.system_clock.now().as_nanos() / 1_000_000_000)
    }
    fn uid(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.counter.fetch_add(1, Ordering::Relaxed))
    }
    fn name_suffix(&self) -> String {
        let mut number = self.counter.fetch_add(1, Ordering::Relaxed);
        let letters = b"bcdfghjklmnpqrstvwxz2456789";
        let mut suffix = String::new();
        for _ in 0..5 {
            suffix.push(char::from(letters[usize::try_from(number % 27).unwrap()]));
            number /= 27;
        }
        suffix
    }
}

// === the cluster and its controllers ===

impl Cluster {
    /// A cluster whose controllers run and have settled.
    pub(crate) async fn new() -> Self {
        let mut cluster = Self::without_controllers().await;
        cluster.start();
        cluster.settle().await;
        cluster
    }

    /// A cluster without running controllers.
    pub(crate) async fn without_controllers() -> Self {
        let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
        let system_clock = SystemClock::new();
        let world = TestEnvironment { system_clock: system_clock.clone(), counter: AtomicU64::new(1) };
        let settings = Settings { service_accounts: ServiceAccounts::Ignored, ..Settings::default() };
        let server = ApiServer::new(store, Arc::new(world), settings);
        server.prepare().await.unwrap();
        let service = ApiService::for_master(server, "test");
        Self {
            wire: Wire::to(service.clone()),
            service,
            metrics: Metrics::new(),
            clock: Clock::new({
                let system_clock = system_clock.clone();
                move || system_clock.now()
            }),
            system_clock,
            controllers: None,
        }
    }

    /// The options of the controllers, for stories that start them differently.
    pub(crate) fn options(&self) -> Options {
        Options {
            root_ca: Some("PEM".to_owned()),
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
            ..Options::default()
        }
    }

    pub(crate) fn start(&mut self) {
        self.start_with(|_| {});
    }

    /// Starts the controllers with other options than usual.
    pub(crate) fn start_with(&mut self, change: impl FnOnce(&mut Options)) {
        let (switch, signal) = shutdown();
        let mut options = self.options();
        change(&mut options);
        let running = tokio::spawn(run(self.wire.transport(), options, signal));
        self.controllers = Some((switch, running));
    }

    /// Stops the controllers gracefully.
    pub(crate) async fn stop(&mut self) {
        if let Some((switch, running)) = self.controllers.take() {
            switch.turn();
            running.await.unwrap().unwrap();
        }
    }

    /// Aborts the controllers.
    pub(crate) async fn kill(&mut self) {
        if let Some((_, running)) = self.controllers.take() {
            running.abort();
            let _ = running.await;
            // Their tasks are aborted when the set that holds them is dropped, which takes one pass of the runtime.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Sets the system clock of server and controllers.
    pub(crate) fn set_clock_by(&self, seconds: i64) {
        self.system_clock.set_by_seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Waits until nothing was written for a second.
    pub(crate) async fn settle(&self) {
        loop {
            let before = self.wire.writes();
            tokio::time::sleep(Duration::from_secs(1)).await;
            if self.wire.writes() == before {
                return;
            }
        }
    }
}

// === the actions of users and nodes ===

impl Cluster {
    /// Sends a request and returns status and body, whatever they are.
    pub(crate) async fn try_send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        use http_body_util::BodyExt as _;
        use tower::Service as _;
        let content = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder().method(method).uri(path).header("content-type", content);
        let request = request.body(http_body_util::Full::new(bytes::Bytes::from(bytes))).unwrap();
        let response = self.service.clone().call(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, gantry_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// Sends a request that has to succeed.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, response) = self.try_send(method, path, &body).await;
        assert!(status < 300, "{method} {path}: {response}");
        response
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.send("GET", path, Value::Null).await
    }

    pub(crate) async fn exists(&self, path: &str) -> bool {
        self.try_send("GET", path, &Value::Null).await.0 == 200
    }

    pub(crate) async fn deploy(&self, name: &str, replicas: u32, change: impl FnOnce(&mut Value)) {
        let mut deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
        });
        change(&mut deployment);
        self.send("POST", DEPLOYMENTS, deployment).await;
    }

    pub(crate) async fn patch_deployment(&self, name: &str, patch: Value) {
        self.send("PATCH", &format!("{DEPLOYMENTS}/{name}"), patch).await;
    }

    pub(crate) async fn deployment(&self, name: &str) -> Value {
        self.get(&format!("{DEPLOYMENTS}/{name}")).await
    }

    /// Changes the image of the template.
    pub(crate) async fn set_image(&self, name: &str, image: &str) {
        let containers = json!([{"name": "c", "image": image}]);
        self.patch_deployment(name, json!({"spec": {"template": {"spec": {"containers": containers}}}}))
            .await;
    }

    /// The ReplicaSets with their sizes, oldest image first.
    pub(crate) async fn sets(&self) -> Vec<(String, u64)> {
        let list = self.get(SETS).await;
        let mut sets: Vec<_> = items(&list)
            .map(|set| {
                let image = set["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap();
                (image.to_owned(), set["spec"]["replicas"].as_u64().unwrap())
            })
            .collect();
        sets.sort();
        sets
    }

    /// Updates every set with an irrelevant change.
    pub(crate) async fn touch_sets(&self) {
        let sets = self.get(SETS).await;
        for set in items(&sets) {
            let path = format!("{SETS}/{}", set["metadata"]["name"].as_str().unwrap());
            let touched =
                json!({"metadata": {"annotations": {"touched": set["metadata"]["resourceVersion"]}}});
            self.send("PATCH", &path, touched).await;
        }
    }

    /// The names of the pods that are not terminating.
    pub(crate) async fn pods(&self) -> Vec<String> {
        let list = self.get(PODS).await;
        let active = items(&list).filter(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        active.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Reports every pod ready, as its kubelet does. Returns how many were not before.
    pub(crate) async fn make_pods_ready(&self) -> usize {
        let list = self.get(PODS).await;
        let mut changed = 0;
        for pod in items(&list) {
            let name = pod["metadata"]["name"].as_str().unwrap();
            let conditions = pod["status"]["conditions"].as_array();
            let is_ready = conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Ready"));
            if !is_ready && pod["metadata"]["deletionTimestamp"].is_null() {
                let since =
                    k8s_openapi::jiff::Timestamp::from_second(self.clock.now().as_nanos() / 1_000_000_000);
                let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": since.unwrap()});
                let status = json!({"status": {"phase": "Running", "conditions": [ready]}});
                self.send("PATCH", &format!("{PODS}/{name}/status"), status).await;
                changed += 1;
            }
        }
        changed
    }

    /// Deletes every terminating pod, as its kubelet does.
    pub(crate) async fn delete_terminating_pods(&self) {
        let list = self.get(PODS).await;
        for pod in items(&list).filter(|pod| !pod["metadata"]["deletionTimestamp"].is_null()) {
            let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
            self.try_send("DELETE", &path, &json!({"gracePeriodSeconds": 0})).await;
        }
    }

    /// Makes pods ready and deletes terminating ones until nothing remains to be done.
    pub(crate) async fn roll_out(&self) {
        self.settle().await;
        while self.make_pods_ready().await > 0 {
            self.settle().await;
        }
    }

    /// The condition of this type as `status reason`.
    pub(crate) async fn condition(&self, name: &str, condition_type: &str) -> String {
        let deployment = self.deployment(name).await;
        let conditions = deployment["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|condition| condition["type"] == condition_type);
        let word = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
        found.map_or_else(String::new, |found| format!("{} {}", word(found, "status"), word(found, "reason")))
    }
}

pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
pub(crate) const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";

pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().unwrap().iter()
}

/// Starts controllers with leader election.
pub(crate) fn start_candidate(
    cluster: &Cluster,
    identity: &str,
) -> (Switch, JoinHandle<Result<(), ControllerPanicked>>) {
    let (switch, signal) = shutdown();
    let lease = LeaseOptions {
        namespace: "kube-system".to_owned(),
        name: "gantry-controllers".to_owned(),
        identity: identity.to_owned(),
        timing: Timing::default(),
    };
    let options = Options { election: Some(lease), fence: cluster.wire.fence(), ..cluster.options() };
    (switch, tokio::spawn(run(cluster.wire.transport(), options, signal)))
}

/// The holder of the lease.
pub(crate) async fn holder(cluster: &Cluster) -> String {
    let lease =
        cluster.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/gantry-controllers").await;
    lease["spec"]["holderIdentity"].as_str().unwrap().to_owned()
}
