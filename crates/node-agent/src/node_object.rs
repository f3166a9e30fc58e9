//! The Node object of a real node.

use gantry_cri::wire;
use gantry_json::{Value, json};
use gantry_model::Timestamp;
use gantry_nodes::NodeHealth;
use k8s_openapi::api::core::v1 as core;

use crate::machine_info::{MachineInfo, architecture};

/// The maximum number of images that a node reports.
const IMAGES_MAX: usize = 50;

/// The facts that a node reports about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeFacts {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) machine: MachineInfo,
    pub(crate) pods_max: u32,
    /// The name and version of the runtime: `containerd://1.7.0`.
    pub(crate) runtime: String,
    /// The port of the agent's server, if there is one.
    pub(crate) port: Option<u16>,
    /// Labels that the user set.
    pub(crate) labels: Vec<(String, String)>,
}

impl NodeFacts {
    /// Returns the object to create.
    pub(crate) fn object(&self, health: &NodeHealth, images: &[wire::Image], now: Timestamp) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": self.labels()},
            "status": self.status(None, health, images, now),
        })
    }

    /// Returns its labels.
    pub(crate) fn labels(&self) -> Value {
        let mut labels = json!({
            "beta.kubernetes.io/arch": architecture(),
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": architecture(),
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
        });
        for (name, value) in &self.labels {
            labels[name.as_str()] = json!(value);
        }
        labels
    }

    /// Returns its resources.
    pub(crate) fn resources(&self) -> Value {
        json!({
            "cpu": self.machine.cpus.to_string(),
            "memory": format!("{}Ki", self.machine.memory / 1024),
            "pods": self.pods_max.to_string(),
            "ephemeral-storage": format!("{}Ki", self.machine.disk / 1024),
        })
    }

    /// Returns its status, with the transition times of the previous one.
    pub(crate) fn status(
        &self,
        before: Option<&core::NodeStatus>,
        health: &NodeHealth,
        images: &[wire::Image],
        now: Timestamp,
    ) -> Value {
        let endpoints = self.port.map(|port| json!({"kubeletEndpoint": {"Port": port}}));
        json!({
            "capacity": self.resources(),
            "allocatable": self.resources(),
            "conditions": gantry_nodes::conditions(before, health, now),
            "addresses": [
                {"type": "InternalIP", "address": self.address},
                {"type": "Hostname", "address": self.name},
            ],
            "daemonEndpoints": endpoints.unwrap_or_else(|| json!({"kubeletEndpoint": {"Port": 0}})),
            "nodeInfo": {
                "architecture": architecture(),
                "operatingSystem": "linux",
                "osImage": self.machine.os_image,
                "kernelVersion": self.machine.kernel,
                "containerRuntimeVersion": self.runtime,
                "kubeletVersion": concat!("v1.37.0-gantry.", env!("CARGO_PKG_VERSION")),
                "kubeProxyVersion": "",
                "machineID": self.machine.machine_id,
                "systemUUID": self.machine.system_uuid,
                "bootID": self.machine.boot_id,
            },
            "images": reported_images(images),
        })
    }
}

/// Returns the largest images with their names.
fn reported_images(images: &[wire::Image]) -> Value {
    let mut images: Vec<_> = images.iter().collect();
    images.sort_by_key(|image| std::cmp::Reverse(image.size));
    images
        .into_iter()
        .take(IMAGES_MAX)
        .map(|image| {
            let names: Vec<_> = image.repo_digests.iter().chain(&image.repo_tags).collect();
            json!({"names": names, "sizeBytes": image.size})
        })
        .collect()
}

/// Returns a kubelet's message about why a node is not ready, from the conditions of its runtime.
pub(crate) fn readiness_problem(conditions: &[wire::RuntimeCondition]) -> Option<String> {
    let of = |name: &str| conditions.iter().find(|condition| condition.kind == name);
    let mut problems = Vec::new();
    for (name, what) in [
        ("RuntimeReady", "container runtime is down"),
        ("NetworkReady", "container runtime network not ready"),
    ] {
        match of(name) {
            Some(condition) if condition.status => {}
            Some(condition) => problems.push(format!(
                "{what}: {name}=false reason:{} message:{}",
                condition.reason, condition.message
            )),
            None => problems.push(format!("{what}: {name} is unknown")),
        }
    }
    (!problems.is_empty()).then(|| problems.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_a_pod_network_is_not_ready() {
        let condition = |kind: &str, status: bool| wire::RuntimeCondition {
            kind: kind.to_owned(),
            status,
            reason: "NetworkPluginNotReady".to_owned(),
            message: "cni plugin not initialized".to_owned(),
        };
        assert_eq!(
            readiness_problem(&[condition("RuntimeReady", true), condition("NetworkReady", true)]),
            None
        );
        let problem = readiness_problem(&[condition("RuntimeReady", true), condition("NetworkReady", false)]);
        assert_eq!(
            problem.unwrap(),
            "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady \
             message:cni plugin not initialized"
        );
        let facts = NodeFacts { name: "n1".to_owned(), ..NodeFacts::default() };
        let status = facts.status(
            None,
            &NodeHealth { problem: Some("no network".to_owned()), pressures: vec!["DiskPressure"] },
            &[],
            Timestamp::EPOCH,
        );
        assert_eq!(status["conditions"][3]["status"], "False");
        assert_eq!(status["conditions"][3]["message"], "no network");
        assert_eq!(status["conditions"][1]["reason"], "KubeletHasDiskPressure");
    }
}
