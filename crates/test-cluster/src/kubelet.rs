//! The actions of a kubelet: pods become ready, fail and terminate.

use gantry_json::{Value, json};

use crate::{PatchType, TestNamespace};

/// The maximum number of pods that are made ready one after the other.
const DRAIN_MAX: usize = 60;

impl TestNamespace {
    /// Returns the pods that are not terminating, oldest set first.
    async fn pods(&mut self) -> Vec<Value> {
        let order: Vec<Value> = self.sets().await.iter().map(|set| set["metadata"]["uid"].clone()).collect();
        let mut pods = self.list("pods").await;
        pods.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        pods.sort_by_key(|pod| {
            let owners = pod["metadata"]["ownerReferences"].as_array();
            let indices =
                owners.into_iter().flatten().map(|owner| order.iter().position(|uid| *uid == owner["uid"]));
            let first = indices.map(|index| index.unwrap_or(usize::MAX)).min().unwrap_or(usize::MAX);
            let text = |field: &str| pod["metadata"][field].as_str().unwrap().to_owned();
            (first, text("creationTimestamp"), text("name"))
        });
        pods
    }

    /// Returns the pods that are neither ready nor terminating.
    async fn unready_pods(&mut self) -> Vec<Value> {
        let mut pods = self.pods().await;
        pods.retain(|pod| !is_ready(pod));
        pods
    }

    /// Makes all existing pods ready.
    pub async fn ready_all(&mut self) {
        for pod in self.unready_pods().await {
            self.report_ready(&pod).await;
        }
    }

    /// Makes the first unready pod ready, and waits until the cluster has settled. Returns false if there is none.
    pub async fn ready_one(&mut self) -> bool {
        let first = self.unready_pods().await.into_iter().next();
        if let Some(pod) = &first {
            self.report_ready(pod).await;
            self.settle().await;
        }
        first.is_some()
    }

    /// Makes one pod after the other ready, until all pods are.
    pub async fn drain(&mut self) {
        for _ in 0..DRAIN_MAX {
            if !self.ready_one().await {
                return;
            }
        }
        panic!("{DRAIN_MAX} pods were made ready and some are still not ready");
    }

    /// Deletes all terminating pods.
    pub async fn delete_terminating(&self) {
        self.delete_terminated(&self.list("pods").await).await;
    }

    /// Deletes the terminating ones of these pods.
    pub(crate) async fn delete_terminated(&self, pods: &[Value]) {
        for pod in pods.iter().filter(|pod| !pod["metadata"]["deletionTimestamp"].is_null()) {
            let at_once = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
            let name = pod["metadata"]["name"].as_str().unwrap();
            let ended = self.delete("pods", name, &at_once).await;
            assert!(ended.as_ref().err().is_none_or(|no| [404, 409].contains(&no.code)), "{ended:?}");
        }
    }

    /// Reports a pod as running and ready; binds it first if it is not.
    async fn report_ready(&mut self, pod: &Value) {
        let name = pod["metadata"]["name"].as_str().unwrap();
        if pod["spec"]["nodeName"].is_null() {
            let node = json!({"kind": "Node", "name": format!("node-{}", self.placed % 3)});
            self.placed += 1;
            let binding =
                json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": node});
            self.create(&format!("pods/{name}/binding"), &binding).await.unwrap();
        }
        let status = self.ready_status(pod);
        self.patch("pods", &format!("{name}/status"), PatchType::Strategic, &status).await.unwrap();
    }

    fn ready_status(&self, pod: &Value) -> Value {
        let seconds = self.clock.now().as_nanos() / 1_000_000_000;
        let now = k8s_openapi::jiff::Timestamp::from_second(seconds).unwrap();
        let containers: Vec<Value> = pod["spec"]["containers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|container| {
                json!({"name": container["name"], "image": container["image"], "imageID": "", "ready": true,
                "started": true, "restartCount": 0, "state": {"running": {"startedAt": now}}})
            })
            .collect();
        json!({"status": {"phase": "Running", "startTime": now, "containerStatuses": containers,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": now}]}})
    }
}

/// Whether a pod is ready.
pub fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True"))
}
