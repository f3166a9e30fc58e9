//! One namespace of a cluster without nodes; the test acts as user and as kubelet, over the API.
//!
//! Nothing becomes ready, and no terminating pod is deleted, unless the test does it. It also works on a real clock and
//! through a socket.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_runtime::{ApiTransport, Clock};
use http_body_util::{BodyExt as _, Full};
use tokio::time::{Instant, sleep};

use crate::kubelet::is_ready;
use crate::names::Names;

/// How long nothing may change until the cluster counts as settled. On tokio's paused clock, time passes only while
/// every task in the process is idle, so there it is exact.
const QUIET: Duration = Duration::from_millis(500);
/// The polling period.
const POLL: Duration = Duration::from_millis(100);
/// The timeout of settling.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(180);

/// A namespace in which the test acts as user and as kubelet.
#[derive(Debug)]
pub struct TestNamespace {
    transport: ApiTransport,
    /// The name of the namespace.
    pub namespace: String,
    pub(crate) clock: Clock,
    names: Names,
    /// How terminating pods are deleted.
    pub terminations: Terminations,
    /// How long nothing may change while the status of an object is not up to date. On a real clock and a busy machine a
    /// controller may have to wait for the CPU.
    pub starved: Duration,
    /// The number of pods that were bound.
    pub(crate) placed: usize,
}

/// How terminating pods are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminations {
    /// They are deleted at the next poll.
    AtOnce,
    /// They stay until the test deletes them.
    Manually,
}

gantry_model::text_enum! {
    /// The type of a patch.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PatchType {
        /// Strategic merge patch.
        Strategic = "application/strategic-merge-patch+json",
        /// JSON merge patch.
        Merge = "application/merge-patch+json",
        /// JSON patch.
        Json = "application/json-patch+json",
    }

    fn content_type(self) -> &'static str;
}

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorResponse {
    /// The HTTP status code.
    pub code: u16,
    /// The reason of the Status.
    pub reason: String,
    /// The message of the Status.
    pub message: String,
}

impl TestNamespace {
    /// Creates a namespace and waits until the controllers have prepared it.
    pub async fn new(transport: ApiTransport, namespace: &str, clock: Clock) -> Self {
        let namespace = namespace.to_owned();
        let (names, terminations) = (Names::default(), Terminations::AtOnce);
        let mut stage = Self { transport, namespace, clock, names, terminations, starved: QUIET, placed: 0 };
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stage.namespace}});
        stage.send("POST", "/api/v1/namespaces", "application/json", &object).await.unwrap();
        stage.settle().await;
        stage
    }

    /// Creates an object.
    pub async fn create(&self, plural: &str, object: &Value) -> Result<Value, ErrorResponse> {
        self.send("POST", &self.path(plural), "application/json", object).await
    }

    /// Patches an object (`web`) or a subresource (`web/scale`).
    pub async fn patch(
        &self,
        plural: &str,
        name: &str,
        form: PatchType,
        patch: &Value,
    ) -> Result<Value, ErrorResponse> {
        self.send("PATCH", &format!("{}/{name}", self.path(plural)), form.content_type(), patch).await
    }

    /// Deletes an object.
    pub async fn delete(&self, plural: &str, name: &str, options: &Value) -> Result<Value, ErrorResponse> {
        self.send("DELETE", &format!("{}/{name}", self.path(plural)), "application/json", options).await
    }

    /// Lists objects.
    pub async fn list(&self, plural: &str) -> Vec<Value> {
        items(self.collection(plural).await)
    }

    /// Returns the ReplicaSets in the order in which they were first seen.
    pub async fn sets(&mut self) -> Vec<Value> {
        let mut sets = self.list("replicasets").await;
        self.names.add_new(&sets);
        sets.sort_by_key(|set| self.names.index(set["metadata"]["name"].as_str().unwrap()));
        sets
    }

    /// Returns the text with `set0` for the name of a set, `set0-POD` for that of a pod of it and `NS` for the namespace.
    pub fn mask(&self, text: &str) -> String {
        self.names.mask(&text.replace(&self.namespace, "NS"))
    }

    /// Waits until nothing has changed in the cluster for a while.
    pub async fn settle(&mut self) {
        let began = Instant::now();
        let (mut seen, mut since) = (Value::Null, began);
        loop {
            let quiet = since.elapsed();
            if quiet >= QUIET && (quiet >= self.starved || !self.is_anything_due().await) {
                return;
            }
            assert!(began.elapsed() < SETTLE_TIMEOUT, "the cluster does not settle");
            // The resource version of a list changes with every write to the server.
            let pods = self.collection("pods").await;
            let version = pods["metadata"]["resourceVersion"].clone();
            if version != seen {
                (seen, since) = (version, Instant::now());
            }
            if self.terminations == Terminations::AtOnce {
                self.delete_terminated(&items(pods)).await;
            }
            sleep(POLL).await;
        }
    }

    /// Whether a controller has work to do: pods to create or delete, or a status with outdated counts.
    async fn is_anything_due(&self) -> bool {
        let stays = |it: &Value| it["metadata"]["deletionTimestamp"].is_null();
        let (mut deployments, mut sets) = (self.list("deployments").await, self.list("replicasets").await);
        deployments.retain(stays);
        sets.retain(stays);
        let is_unseen = |it: &Value| {
            it["metadata"]["generation"].as_i64()
                > Some(it["status"]["observedGeneration"].as_i64().unwrap_or(0))
        };
        if deployments.iter().chain(&sets).any(is_unseen) {
            return true;
        }
        let pods = self.list("pods").await;
        sets.iter().any(|set| {
            let is_its_own = |pod: &&Value| {
                let owners = pod["metadata"]["ownerReferences"].as_array();
                let is_owned =
                    owners.into_iter().flatten().any(|owner| owner["uid"] == set["metadata"]["uid"]);
                let is_over = pod["status"]["phase"] == "Failed" || pod["status"]["phase"] == "Succeeded";
                is_owned && !is_over && stays(pod)
            };
            let is_stuck = !set["status"]["conditions"].is_null();
            let counts = |number: &Value, counted: usize| {
                number.as_u64().unwrap_or(0) == u64::try_from(counted).unwrap()
            };
            let count = pods.iter().filter(is_its_own).count();
            let ready = pods.iter().filter(is_its_own).filter(|pod| is_ready(pod)).count();
            let is_counted =
                counts(&set["status"]["replicas"], count) && counts(&set["status"]["readyReplicas"], ready);
            !is_counted || !is_stuck && !counts(&set["spec"]["replicas"], count)
        })
    }

    async fn collection(&self, plural: &str) -> Value {
        self.send("GET", &self.path(plural), "application/json", &Value::Null).await.unwrap()
    }

    fn path(&self, plural: &str) -> String {
        let group = if matches!(plural, "deployments" | "replicasets") { "/apis/apps/v1" } else { "/api/v1" };
        format!("{group}/namespaces/{}/{plural}", self.namespace)
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, ErrorResponse> {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder().method(method).uri(path).header("content-type", content);
        let response = self.transport.send(request.body(Full::from(bytes)).unwrap()).await;
        let response = response.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let (code, is_success) = (response.status().as_u16(), response.status().is_success());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let object: Value = gantry_json::from_slice(&body).unwrap();
        if is_success {
            return Ok(object);
        }
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        Err(ErrorResponse { code, reason: text("reason"), message: text("message") })
    }
}

fn items(mut list: Value) -> Vec<Value> {
    list["items"].as_array_mut().map(std::mem::take).unwrap_or_default()
}
