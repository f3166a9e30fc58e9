//! A rollout of three pods from `nginx:1` to `nginx:2`, driven step by step by the test.

use std::path::Path;
use std::process::{Command, Output};

use gantry_json::{Value, from_value, json};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Pod, ServiceAccount};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};

use super::running::{Scratch, Server};

pub(crate) struct Rollout {
    server: Server,
    client: Client,
    web: Value,
    old: Value,
    new: Value,
    scratch: Scratch,
}

impl Rollout {
    /// The Deployment and its two sets: three old pods that are ready, one new pod that starts.
    pub(crate) async fn begin(test: &str) -> Self {
        let scratch = Scratch::new(test);
        let server =
            Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &["--in-memory", "--plain-http"]);
        let client = server.client().await;
        let account = from_value(json!({"metadata": {"name": "default"}})).unwrap();
        // A pod needs its service account, and no controller creates it here.
        Api::<ServiceAccount>::default_namespaced(client.clone())
            .create(&PostParams::default(), &account)
            .await
            .unwrap();
        let deployment = json!({"metadata": {"name": "web", "annotations": revision(2)}, "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template(2, None),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}});
        let web = create::<Deployment>(&client, deployment).await;
        let old = create::<ReplicaSet>(&client, set(&web, 1, 3)).await;
        let new = create::<ReplicaSet>(&client, set(&web, 2, 1)).await;
        let rollout = Self { server, client, web, old, new, scratch };
        for n in 1..=3 {
            rollout.add_pod(1, &format!("web-1-{n}")).await;
            rollout.pod_serves(&format!("web-1-{n}")).await;
        }
        rollout.set_reports(1, 3, 3).await;
        rollout.add_pod(2, "web-2-1").await;
        rollout.pod_waits("web-2-1", "ContainerCreating", "").await;
        rollout.set_reports(2, 1, 0).await;
        rollout.deployment_reports(4, 1, 3).await;
        rollout
    }

    /// All pods are replaced, and the controllers have reported it.
    pub(crate) async fn finish(&self) {
        self.pod_serves("web-2-1").await;
        for n in 2..=3 {
            self.add_pod(2, &format!("web-2-{n}")).await;
            self.pod_serves(&format!("web-2-{n}")).await;
        }
        self.resize(2, 3).await;
        self.resize(1, 0).await;
        for n in 1..=3 {
            let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
            let now = kube::api::DeleteParams::default().grace_period(0);
            pods.delete(&format!("web-1-{n}"), &now).await.unwrap();
        }
        self.set_reports(2, 3, 3).await;
        self.set_reports(1, 0, 0).await;
        self.deployment_reports(3, 3, 3).await;
    }

    pub(crate) async fn add_pod(&self, revision: i64, name: &str) {
        let set = if revision == 1 { &self.old } else { &self.new };
        let mut pod = template(revision, Some(revision));
        pod["metadata"]["name"] = json!(name);
        pod["metadata"]["ownerReferences"] = json!([owner("ReplicaSet", set)]);
        pod["spec"]["nodeName"] = json!("node-1");
        create::<Pod>(&self.client, pod).await;
    }

    /// The node reports that the pod's container waits, for this reason.
    pub(crate) async fn pod_waits(&self, name: &str, reason: &str, message: &str) {
        let waiting = json!({"waiting": {"reason": reason, "message": message}});
        let container = json!({"name": "main", "image": "nginx:2", "imageID": "", "ready": false,
            "restartCount": 0, "state": waiting});
        self.status::<Pod>(name, json!({"phase": "Pending", "containerStatuses": [container]})).await;
    }

    pub(crate) async fn pod_serves(&self, name: &str) {
        let since = "2026-01-01T12:00:00Z";
        let container = json!({"name": "main", "image": "nginx:2", "imageID": "", "ready": true,
            "restartCount": 0, "state": {"running": {"startedAt": since}}});
        let ready = json!([{"type": "Ready", "status": "True", "lastTransitionTime": since}]);
        let status = json!({"phase": "Running", "conditions": ready, "containerStatuses": [container]});
        self.status::<Pod>(name, status).await;
    }

    pub(crate) async fn set_reports(&self, revision: i64, replicas: i64, available: i64) {
        let sets: Api<ReplicaSet> = Api::default_namespaced(self.client.clone());
        let name = format!("web-{revision}");
        let generation = sets.get(&name).await.unwrap().metadata.generation;
        let status = json!({"replicas": replicas, "readyReplicas": available, "availableReplicas": available,
            "observedGeneration": generation});
        self.status::<ReplicaSet>(&name, status).await;
    }

    pub(crate) async fn resize(&self, revision: i64, size: i64) {
        let sets: Api<ReplicaSet> = Api::default_namespaced(self.client.clone());
        let size = Patch::Merge(json!({"spec": {"replicas": size}}));
        sets.patch(&format!("web-{revision}"), &PatchParams::default(), &size).await.unwrap();
    }

    pub(crate) async fn deployment_reports(&self, replicas: i64, updated: i64, available: i64) {
        let status = json!({"observedGeneration": self.web["metadata"]["generation"], "replicas": replicas,
            "updatedReplicas": updated, "readyReplicas": available, "availableReplicas": available});
        self.status::<Deployment>("web", status).await;
    }

    /// Sets the only condition of the Deployment to this value.
    pub(crate) async fn deployment_is(&self, condition: &str, value: &str) {
        let since = "2026-01-01T12:00:00Z";
        let conditions = json!([{"type": condition, "status": value, "lastTransitionTime": since}]);
        self.status::<Deployment>("web", json!({"conditions": conditions})).await;
    }

    /// Records a warning event of a pod.
    pub(crate) async fn warn(&self, pod: &str, reason: &str, message: &str) {
        self.record("Warning", "12:00:00", pod, [reason, message]).await;
    }

    /// Creates an event of type Normal about a pod, a second after all warnings.
    pub(crate) async fn notes(&self, pod: &str, reason: &str, message: &str) {
        self.record("Normal", "12:00:01", pod, [reason, message]).await;
    }

    async fn record(&self, kind: &str, time: &str, pod: &str, [reason, message]: [&str; 2]) {
        let seen = Api::<Pod>::default_namespaced(self.client.clone()).get(pod).await.unwrap();
        let event = json!({"metadata": {"generateName": "e-"}, "type": kind, "reason": reason,
            "message": message, "count": 1, "lastTimestamp": format!("2026-01-01T{time}Z"),
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": pod, "uid": seen.metadata.uid}});
        create::<Event>(&self.client, event).await;
    }

    /// Runs `gantry` against the server.
    pub(crate) fn gantry(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command.args(arguments).env("KUBECONFIG", &self.server.kubeconfig);
        command
    }

    /// The kubectl on the `PATH`, against the same server.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        // Its discovery cache must not outlive the server.
        command
            .args(arguments)
            .env("KUBECONFIG", &self.server.kubeconfig)
            .env("HOME", self.scratch.join("home"));
        command
    }

    /// Writes a file; returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.scratch.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub(crate) fn address(&self) -> &str {
        self.server.address()
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.server.kubeconfig
    }

    /// The command line for a shell.
    pub(crate) fn typed(&self, arguments: &str) -> String {
        let kubeconfig = self.server.kubeconfig.display();
        format!("KUBECONFIG={kubeconfig} {} {arguments}", env!("CARGO_BIN_EXE_gantry"))
    }

    pub(crate) fn kill_server(&mut self) {
        self.server.kill();
    }

    async fn status<K>(&self, name: &str, status: Value)
    where
        K: Kind,
    {
        let api: Api<K> = Api::default_namespaced(self.client.clone());
        let patch = Patch::Merge(json!({"status": status}));
        api.patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }
}

/// A namespaced kind.
pub(crate) trait Kind:
    kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
    + Clone
    + std::fmt::Debug
    + serde::Serialize
    + serde::de::DeserializeOwned
{
}

impl Kind for Deployment {}
impl Kind for ReplicaSet {}
impl Kind for Pod {}
impl Kind for Event {}

async fn create<K: Kind>(client: &Client, object: Value) -> Value {
    let api: Api<K> = Api::default_namespaced(client.clone());
    let created = api.create(&PostParams::default(), &from_value(object).unwrap()).await.unwrap();
    gantry_json::to_value(&created)
}

fn template(revision: i64, hash: Option<i64>) -> Value {
    let mut labels = json!({"app": "web"});
    if let Some(hash) = hash {
        labels["pod-template-hash"] = json!(hash.to_string());
    }
    let containers = json!([{"name": "main", "image": format!("nginx:{revision}")}]);
    json!({"metadata": {"labels": labels}, "spec": {"containers": containers}})
}

fn set(web: &Value, revision: i64, size: i64) -> Value {
    let mut annotations = self::revision(revision);
    annotations["deployment.kubernetes.io/desired-replicas"] = json!("3");
    annotations["deployment.kubernetes.io/max-replicas"] = json!("4");
    let template = template(revision, Some(revision));
    let labels = template["metadata"]["labels"].clone();
    json!({"metadata": {"name": format!("web-{revision}"), "labels": labels, "annotations": annotations,
            "ownerReferences": [owner("Deployment", web)]},
        "spec": {"replicas": size, "selector": {"matchLabels": labels}, "template": template}})
}

fn revision(n: i64) -> Value {
    json!({"deployment.kubernetes.io/revision": n.to_string()})
}

fn owner(kind: &str, owner: &Value) -> Value {
    let meta = &owner["metadata"];
    json!({"apiVersion": "apps/v1", "kind": kind, "name": meta["name"], "uid": meta["uid"], "controller": true})
}
