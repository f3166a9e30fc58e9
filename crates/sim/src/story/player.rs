//! Plays commands on a simulated cluster, as its user and as the kubelet of its pods.

use std::time::Duration;

use gantry_json::{Value, json};

use super::command::{Command, StoryKind};
use super::names::Names;
use super::object::{controller, creation, is_deleting, is_ready, name, revision};
use super::rendering;
use super::steps::Steps;
use crate::{SimCluster, SimOptions};
use gantry_cluster::ServiceAccounts;

/// The maximum number of pods that `ready each` makes ready.
const READY_MAX: usize = 1000;

/// How long nothing may be written until the cluster counts as settled.
const QUIET: Duration = Duration::from_millis(500);

/// The time between the reports of two pods.
const BETWEEN_REPORTS: Duration = Duration::from_millis(1);

/// The name of the quota that limits pods.
const QUOTA: &str = "pods";

/// Reads the objects of a manifest by its name.
pub type Files<'f> = dyn Fn(&str) -> Result<Vec<Value>, String> + 'f;

/// A cluster without nodes, with short names for its objects.
pub struct Player<'c> {
    pub(super) cluster: &'c SimCluster,
    pub(super) names: Names,
    /// The Deployment that commands apply to: the last one created.
    pub(super) deployment_name: Option<String>,
    /// Whether terminating pods are removed without a command.
    ends_pods: bool,
    steps: Steps,
    files: &'c Files<'c>,
}

impl<'c> Player<'c> {
    /// The options of a simulation for stories: the player is the kubelet of all pods.
    pub fn options() -> SimOptions {
        SimOptions { nodes: 0, service_accounts: ServiceAccounts::Ignored, ..SimOptions::default() }
    }

    /// Plays on this cluster. `files` reads the objects of a manifest by its name.
    pub fn new(cluster: &'c SimCluster, files: &'c Files<'c>) -> Self {
        let steps = Steps::default();
        cluster.observe(Box::new(steps.recorder()));
        Self { cluster, names: Names::default(), deployment_name: None, ends_pods: true, steps, files }
    }

    /// Plays one command and waits until the cluster has settled.
    pub async fn play(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::ReadyEach => {
                for _ in 0..READY_MAX {
                    if !self.ready_one(None).await? {
                        return Ok(());
                    }
                }
                Err(format!("ready each: {READY_MAX} pods were made ready and some are still not ready"))
            }
            Command::Ready(Some(n), set) => {
                for _ in 0..*n {
                    self.ready_one(*set).await?;
                }
                Ok(())
            }
            command => {
                self.act(command).await?;
                self.settle().await
            }
        }
    }

    /// The steps of the controllers since the last call, and the current state.
    pub async fn record(&mut self) -> Result<String, String> {
        let steps = self.steps.take();
        rendering::render(self, &steps).await
    }

    /// Makes the first unready pod ready, and waits until the cluster has settled. Returns false if there is none.
    pub async fn ready_one(&mut self, set: Option<usize>) -> Result<bool, String> {
        let Some(pod) = self.pods(set).await?.into_iter().find(|pod| !is_ready(pod)) else {
            return Ok(false);
        };
        self.report(&pod, "Running", true).await?;
        self.settle().await?;
        Ok(true)
    }

    /// Lists objects by the plural of their kind.
    pub async fn list(&self, plural: &str) -> Result<Vec<Value>, String> {
        let mut list = self.send("GET", &path(plural), &Value::Null).await?;
        Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    /// The sets that exist, in the order in which they first appeared.
    pub async fn sets(&mut self) -> Result<Vec<Value>, String> {
        let mut sets = self.list("replicasets").await?;
        self.names.add_new(&sets);
        sets.sort_by_key(|set| self.names.index(name(set)));
        Ok(sets)
    }

    /// Replaces the names of sets in a text by the result of `rename` for their index, counted from zero.
    pub fn shorten(&self, text: &str, rename: impl Fn(usize) -> String) -> String {
        self.names.shorten(text, rename)
    }

    /// Waits until the cluster has settled, and removes terminating pods meanwhile, if nodes do that.
    async fn settle(&mut self) -> Result<(), String> {
        loop {
            self.cluster.settle_for(QUIET).await;
            if !self.ends_pods || !self.end_terminating_pods().await? {
                break;
            }
        }
        self.sets().await.map(|_| ())
    }

    /// Carries out a command of a user or a kubelet.
    async fn act(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::CreateDeployment(object) => {
                self.deployment_name = Some(name(object).to_owned());
                self.send("POST", &path("deployments"), object).await?;
            }
            Command::CreateReplicaSet(object) => {
                self.send("POST", &path("replicasets"), object).await?;
            }
            Command::Change(patch) => self.change(patch).await?,
            Command::Undo(set) => self.undo(*set).await?,
            Command::ChangeSet(set, patch) => {
                let set = self.set(*set).await?;
                self.send("PATCH", &format!("{}/{set}", path("replicasets")), patch).await?;
            }
            Command::ChangePod(pod, patch) => {
                let pod = self.pod(*pod).await?;
                self.send("PATCH", &format!("{}/{pod}", path("pods")), patch).await?;
            }
            Command::Delete(kind, name, propagation) => {
                self.delete(*kind, name.as_deref(), propagation).await?;
            }
            Command::Ready(_, set) => {
                for pod in self.pods(*set).await?.iter().filter(|pod| !is_ready(pod)) {
                    self.report(pod, "Running", true).await?;
                    // Kubelets do not report at the same time: the controllers see each report.
                    self.cluster.advance(BETWEEN_REPORTS).await;
                }
            }
            Command::Unready(n, set) => {
                for pod in self.pods(*set).await?.iter().filter(|pod| is_ready(pod)).take(*n) {
                    self.report(pod, "Running", false).await?;
                }
            }
            Command::Fail(n) => {
                for pod in self.pods(None).await?.iter().take(*n) {
                    self.report(pod, "Failed", false).await?;
                }
            }
            Command::Termination(is_automatic) => self.ends_pods = *is_automatic,
            Command::Terminate => {
                self.end_terminating_pods().await?;
            }
            Command::Quota(quota) => self.limit_pods(*quota).await?,
            Command::Wait(seconds) => self.cluster.advance(Duration::from_secs(*seconds)).await,
            Command::Apply(file) => self.apply(file).await?,
            // `play` replaces it by others.
            Command::ReadyEach => {}
        }
        Ok(())
    }

    /// Creates the objects of a file, or patches those that exist, in the namespace of stories.
    async fn apply(&mut self, file: &str) -> Result<(), String> {
        for mut object in (self.files)(file)? {
            object["metadata"]["namespace"] = "default".into();
            let plural = match object["kind"].as_str() {
                Some("Deployment") => "deployments",
                Some("ReplicaSet") => "replicasets",
                _ => continue,
            };
            let one = format!("{}/{}", path(plural), name(&object));
            if self.cluster.try_send("GET", &one, &Value::Null).await.0 == 200 {
                self.send("PATCH", &one, &object).await?;
            } else {
                self.send("POST", &path(plural), &object).await?;
            }
            if plural == "deployments" {
                self.deployment_name = Some(name(&object).to_owned());
            }
        }
        Ok(())
    }

    /// Patches the Deployment; its size alone by the `scale` subresource, as kubectl does.
    async fn change(&self, patch: &Value) -> Result<(), String> {
        let name = self.deployment_name.as_deref().ok_or("there is no deployment yet")?;
        let spec = patch["spec"].as_object();
        let is_size = patch.get("metadata").is_none()
            && spec.is_some_and(|spec| spec.len() == 1 && spec.contains_key("replicas"));
        let part = if is_size { "/scale" } else { "" };
        self.send("PATCH", &format!("{}/{name}{part}", path("deployments")), patch).await.map(|_| ())
    }

    /// Like `kubectl rollout undo`: writes back the template of another set.
    async fn undo(&mut self, set: Option<usize>) -> Result<(), String> {
        let name = self.deployment_name.clone().ok_or("there is no deployment yet")?;
        let mut sets = self.sets().await?;
        if set.is_none() {
            sets.sort_by_key(|set| std::cmp::Reverse(revision(set)));
        }
        let index = set.map_or(1, |number| number.wrapping_sub(1));
        let template = &mut sets.get_mut(index).ok_or("there is no such revision")?["spec"]["template"];
        if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
            labels.remove(gantry_model::keys::HASH_LABEL);
        }
        // A merge patch cannot remove labels.
        let mut deployment =
            self.send("GET", &format!("{}/{name}", path("deployments")), &Value::Null).await?;
        deployment["spec"]["template"] = template.take();
        self.send("PUT", &format!("{}/{name}", path("deployments")), &deployment).await.map(|_| ())
    }

    async fn delete(&mut self, kind: StoryKind, name: Option<&str>, policy: &str) -> Result<(), String> {
        let number = name.and_then(|name| name.parse().ok());
        let (plural, name) = match (kind, number) {
            (StoryKind::Deployment, _) => {
                let name = name.or(self.deployment_name.as_deref()).ok_or("there is no deployment")?;
                ("deployments", name.to_owned())
            }
            (StoryKind::ReplicaSet, Some(number)) => ("replicasets", self.set(number).await?),
            (StoryKind::Pod, Some(number)) => ("pods", self.pod(number).await?),
            (StoryKind::ReplicaSet, None) => ("replicasets", name.ok_or("delete which one?")?.to_owned()),
            (StoryKind::Pod, None) => ("pods", name.ok_or("delete which one?")?.to_owned()),
        };
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
        self.send("DELETE", &format!("{}/{name}", path(plural)), &options).await.map(|_| ())
    }

    async fn limit_pods(&self, quota: Option<u32>) -> Result<(), String> {
        let quotas = path("resourcequotas");
        let one = format!("{quotas}/{QUOTA}");
        if self.cluster.try_send("GET", &one, &Value::Null).await.0 == 200 {
            self.send("DELETE", &one, &Value::Null).await?;
        }
        let Some(quota) = quota else { return Ok(()) };
        let object = json!({"metadata": {"name": QUOTA}, "spec": {"hard": {"pods": quota.to_string()}}});
        self.send("POST", &quotas, &object).await.map(|_| ())
    }

    // === the actions of the kubelet ===

    /// Reports the status of a pod, which is bound to a node first if it is not.
    async fn report(&self, pod: &Value, phase: &str, is_ready: bool) -> Result<(), String> {
        let one = format!("{}/{}", path("pods"), name(pod));
        if pod["spec"]["nodeName"].is_null() {
            let target = json!({"kind": "Node", "name": "node-1"});
            let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name(pod)}, "target": target});
            self.send("POST", &format!("{one}/binding"), &binding).await?;
        }
        let now = self.cluster.now().to_string();
        let state = match phase {
            "Running" => json!({"running": {"startedAt": now}}),
            _ => json!({"terminated": {"exitCode": 1, "reason": "Error"}}),
        };
        let container = |container: &Value| {
            json!({"name": container["name"], "image": container["image"], "imageID": "", "ready": is_ready,
                "started": is_ready, "restartCount": 0, "state": state})
        };
        let containers = pod["spec"]["containers"].as_array();
        let containers: Vec<Value> = containers.into_iter().flatten().map(container).collect();
        let word = if is_ready { "True" } else { "False" };
        let status = json!({"status": {"phase": phase, "startTime": now, "containerStatuses": containers,
            "conditions": [{"type": "Ready", "status": word, "lastTransitionTime": now}]}});
        self.send("PATCH", &format!("{one}/status"), &status).await.map(|_| ())
    }

    /// Removes all terminating pods. Returns whether there were any.
    async fn end_terminating_pods(&self) -> Result<bool, String> {
        let mut ended = false;
        for pod in self.list("pods").await?.iter().filter(|pod| is_deleting(pod)) {
            let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
            let one = format!("{}/{}", path("pods"), name(pod));
            // One that a finalizer keeps stays, and is not tried again.
            let (_, after) = self.cluster.try_send("DELETE", &one, &options).await;
            ended |= after["metadata"]["finalizers"].is_null();
        }
        Ok(ended)
    }

    /// The pods that are not terminating, oldest set first; of one set or of all.
    async fn pods(&mut self, set: Option<usize>) -> Result<Vec<Value>, String> {
        let sets = self.sets().await?;
        let uids: Vec<&str> = sets.iter().filter_map(|set| set["metadata"]["uid"].as_str()).collect();
        let owner = |pod: &Value| uids.iter().position(|uid| controller(pod) == Some(uid));
        let mut pods = self.list("pods").await?;
        pods.retain(|pod| !is_deleting(pod) && set.is_none_or(|set| owner(pod) == Some(set.wrapping_sub(1))));
        pods.sort_by(|a, b| {
            let key = |pod| (owner(pod).unwrap_or(usize::MAX), creation(pod), name(pod));
            key(a).cmp(&key(b))
        });
        Ok(pods)
    }

    async fn set(&mut self, number: usize) -> Result<String, String> {
        let sets = self.sets().await?;
        let set = sets.get(number.wrapping_sub(1)).ok_or_else(|| format!("there is no set {number}"))?;
        Ok(name(set).to_owned())
    }

    async fn pod(&mut self, number: usize) -> Result<String, String> {
        let pods = self.pods(None).await?;
        let pod = pods.get(number.wrapping_sub(1)).ok_or_else(|| format!("there is no pod {number}"))?;
        Ok(name(pod).to_owned())
    }

    /// Sends a request; the error is the message of the server.
    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let (status, response) = self.cluster.try_send(method, path, body).await;
        if status < 300 {
            return Ok(response);
        }
        Err(response["message"].as_str().map_or_else(|| format!("{method} {path}: {status}"), str::to_owned))
    }
}

/// The path of a collection in the namespace of stories.
fn path(plural: &str) -> String {
    let group = if matches!(plural, "deployments" | "replicasets") { "/apis/apps/v1" } else { "/api/v1" };
    format!("{group}/namespaces/default/{plural}")
}

impl std::fmt::Debug for Player<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").field("deployment_name", &self.deployment_name).finish_non_exhaustive()
    }
}
