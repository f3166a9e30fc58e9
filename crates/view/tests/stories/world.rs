//! A Deployment `web` in the middle of a rollout, as an API server returns it; each story changes it.
//!
//! Three pods are wanted, one more may exist and none may be unavailable. The old set `web-1` (nginx:1) has three
//! available pods; the new set `web-2` (nginx:2) was created at noon and has one. The time is one minute past noon.

use gantry_json::{Value, from_value, json};
use gantry_model::Timestamp;
use gantry_view::live::{Canvas, Charset, frame};
use gantry_view::why::{CommandFlags, Report, explain, render_json, render_text};
use gantry_view::{ApiObjects, RolloutState, Snapshot};

const NOON: i64 = 1_767_268_800;

pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) deployment: Value,
    pub(crate) sets: Vec<Value>,
    pub(crate) pods: Vec<Value>,
    pub(crate) events: Vec<Value>,
    pub(crate) others: Vec<Value>,
    pub(crate) nodes: Vec<Value>,
    /// The flags of `gantry why`.
    pub(crate) flags: CommandFlags,
}

/// The time so many seconds after noon.
pub(crate) fn noon_plus(seconds: i64) -> Timestamp {
    Timestamp::from_secs(NOON + seconds)
}

/// The same, in the wire format.
pub(crate) fn at(seconds: i64) -> String {
    noon_plus(seconds).to_string()
}

/// A rollout with three available old pods and this new one.
pub(crate) fn rolling(new_pod: Value) -> World {
    let mut world = World {
        now: noon_plus(60),
        deployment: deployment("web", "nginx:2"),
        sets: vec![set("web-1", 1, 3, 3), set("web-2", 2, 1, 0)],
        pods: (1..=3).map(|n| serving(pod("web-1", &format!("web-1-{n}"), -600), -590)).collect(),
        events: Vec::new(),
        others: Vec::new(),
        nodes: Vec::new(),
        flags: CommandFlags::default(),
    };
    world.pods.push(new_pod);
    world
}

/// A new pod created at noon, assigned, whose one container is in this state.
pub(crate) fn new_pod(state: &Value) -> Value {
    let mut pod = pod("web-2", "web-2-a", 0);
    pod["status"]["containerStatuses"] = json!([container(state, 0)]);
    pod
}

pub(crate) fn container(state: &Value, restarts: i32) -> Value {
    json!({"name": "main", "image": "nginx:2", "imageID": "", "ready": false, "restartCount": restarts,
        "started": false, "state": state})
}

pub(crate) fn pod(set: &str, name: &str, created: i64) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-of-{name}"),
            "creationTimestamp": at(created), "labels": {"app": "web", "pod-template-hash": set},
            "ownerReferences": [owner("ReplicaSet", set)]},
        "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "nginx:2"}]},
        "status": {"phase": "Pending", "conditions": []},
    })
}

/// The pod, ready since that time.
pub(crate) fn serving(mut pod: Value, since: i64) -> Value {
    pod["status"] = json!({"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": at(since)}]});
    pod
}

pub(crate) fn owner(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("uid-of-{name}"), "controller": true})
}

pub(crate) fn deployment(name: &str, image: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-of-{name}"), "generation": 2,
            "creationTimestamp": at(-3600), "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {"replicas": 3, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "selector": {"matchLabels": {"app": "web"}}, "template": template(image)},
        "status": {"observedGeneration": 2, "replicas": 4, "updatedReplicas": 1, "readyReplicas": 3,
            "availableReplicas": 3, "unavailableReplicas": 1, "conditions": [
                {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
                    "message": "Deployment has minimum availability.", "lastUpdateTime": at(-3500),
                    "lastTransitionTime": at(-3500)},
                {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated",
                    "message": "ReplicaSet \"web-2\" is progressing.", "lastUpdateTime": at(0),
                    "lastTransitionTime": at(-3600)}]},
    })
}

pub(crate) fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": image}]}})
}

/// A node that runs real containers.
pub(crate) fn node(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {}, "status": {"nodeInfo": {"architecture": "amd64", "bootID": "",
        "containerRuntimeVersion": "containerd://2.1.4", "kernelVersion": "", "kubeProxyVersion": "",
        "kubeletVersion": "v1.37.0", "machineID": "", "operatingSystem": "linux", "osImage": "", "systemUUID": ""}}})
}

/// The set of `nginx:<revision>`.
pub(crate) fn set(name: &str, revision: i64, size: i64, available: i64) -> Value {
    let revision = revision.to_string();
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-of-{name}"), "generation": 1,
            "creationTimestamp": at(if revision == "2" { 0 } else { -3600 }),
            "labels": {"app": "web", "pod-template-hash": name},
            "annotations": {"deployment.kubernetes.io/revision": revision,
                "deployment.kubernetes.io/desired-replicas": "3", "deployment.kubernetes.io/max-replicas": "4"},
            "ownerReferences": [owner("Deployment", "web")]},
        "spec": {"replicas": size, "selector": {"matchLabels": {"app": "web", "pod-template-hash": name}},
            "template": template(&format!("nginx:{revision}"))},
        "status": {"observedGeneration": 1, "replicas": size, "readyReplicas": available,
            "availableReplicas": available},
    })
}

impl World {
    /// Adds a warning about this object.
    pub(crate) fn warning(mut self, about: &str, reason: &str, message: &str) -> Self {
        let name = format!("event-{}", self.events.len());
        self.events.push(json!({
            "metadata": {"name": name, "namespace": "default"}, "type": "Warning", "reason": reason,
            "message": message, "count": 3, "lastTimestamp": at(50),
            "involvedObject": {"kind": "Pod", "name": about, "uid": format!("uid-of-{about}")}}));
        self
    }

    /// Changes the world.
    pub(crate) fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let all = |values: &[Value]| Value::Array(values.to_vec());
        Snapshot::parse(ApiObjects {
            deployment: from_value(self.deployment.clone()).unwrap(),
            sets: from_value(all(&self.sets)).unwrap(),
            pods: from_value(all(&self.pods)).unwrap(),
            events: from_value(all(&self.events)).unwrap(),
            deployments: from_value(all(&self.others)).unwrap(),
            nodes: from_value(all(&self.nodes)).unwrap(),
        })
        .unwrap()
    }

    pub(crate) fn report(&self) -> Report {
        explain(self.now, &self.snapshot(), &self.flags)
    }

    /// The output of `gantry why`.
    pub(crate) fn why(&self) -> String {
        render_text(&self.report())
    }

    /// The parsed output of `gantry why -o json`.
    pub(crate) fn json(&self) -> Value {
        gantry_json::from_str(&render_json(&self.report())).unwrap()
    }

    /// The codes of all causes with their severity, in order.
    pub(crate) fn codes(&self) -> Vec<String> {
        let causes = self.report().causes;
        causes.iter().map(|cause| format!("{} {}", cause.severity.as_str(), cause.reason.code())).collect()
    }

    /// A screen of this size, without colours.
    pub(crate) fn screen(&self, columns: usize, rows: usize) -> String {
        let snapshot = self.snapshot();
        let canvas = Canvas { columns, rows, charset: Charset::Unicode };
        let lines = frame(&RolloutState::of(self.now, &snapshot), canvas);
        let rows: Vec<_> = lines.iter().map(|line| line.text().trim_end().to_owned() + "\n").collect();
        rows.concat()
    }
}
