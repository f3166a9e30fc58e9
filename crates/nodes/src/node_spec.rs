//! The Node and Lease objects of a simulated node.

use std::net::Ipv4Addr;

use gantry_json::{Value, json};
use gantry_model::Timestamp;
use gantry_rng::Rng;
use k8s_openapi::api::core::v1 as wire;

use crate::addresses::Addresses;
use crate::behaviour::{ANNOTATION_PREFIX, InvalidTrait};
use crate::options::{Capacity, NodeTemplate, Options};

/// A network whose addresses are divided among the pods of nodes.
struct PodNetwork {
    first: Ipv4Addr,
    /// The maximum number of nodes.
    nodes: u32,
    /// The number of bits of an address that differ between the pods of a node.
    pod_bits: u32,
}

/// The pods of the first 2,048 nodes have addresses in `10.128.0.0/9`, those of further nodes in `100.64.0.0/10`.
const POD_NETWORKS: [PodNetwork; 2] = [
    PodNetwork { first: Ipv4Addr::new(10, 128, 0, 0), nodes: 1 << 11, pod_bits: 12 },
    PodNetwork { first: Ipv4Addr::new(100, 64, 0, 0), nodes: 1 << 12, pod_bits: 10 },
];
/// The number of nodes whose pods have addresses.
pub(crate) const NODES_MAX: usize = (1 << 11) + (1 << 12);
const NODE_NETWORK: Ipv4Addr = Ipv4Addr::new(172, 18, 0, 2);

/// The taint that admission adds to a new node, to be removed when the node is ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// The label of simulated nodes.
const SIMULATED: &str = "sim.gantry.dev/simulated";

/// The name of the annotation that makes a node fail.
const FAIL: &str = "fail";

/// A simulated node.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    pub(crate) name: String,
    index: u32,
    capacity: Capacity,
    is_tainted: bool,
    template: Option<NodeTemplate>,
}

/// The key of the taint that keeps real pods away from simulated nodes.
pub const SIMULATED_TAINT: &str = SIMULATED;

/// The health that a node reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeHealth {
    /// Why it is not ready, if it is not.
    pub problem: Option<String>,
    /// The conditions of resources that are short: `MemoryPressure`, `DiskPressure`, `PIDPressure`.
    pub pressures: Vec<&'static str>,
}

/// A condition of a healthy node, and the reason and message if it is not healthy.
#[derive(Clone, Copy)]
struct HealthyCondition {
    name: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &'static str,
    unhealthy: (&'static str, &'static str),
}

const HEALTHY: [HealthyCondition; 4] = [
    HealthyCondition {
        name: "MemoryPressure",
        status: "False",
        reason: "KubeletHasSufficientMemory",
        message: "kubelet has sufficient memory available",
        unhealthy: ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    },
    HealthyCondition {
        name: "DiskPressure",
        status: "False",
        reason: "KubeletHasNoDiskPressure",
        message: "kubelet has no disk pressure",
        unhealthy: ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    },
    HealthyCondition {
        name: "PIDPressure",
        status: "False",
        reason: "KubeletHasSufficientPID",
        message: "kubelet has sufficient PID available",
        unhealthy: ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
    },
    HealthyCondition {
        name: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "kubelet is posting ready status",
        unhealthy: ("KubeletNotReady", ""),
    },
];

impl NodeSpec {
    /// Creates the node with this index, counted from 0, as the options describe it.
    pub(crate) fn of(options: &Options, index: usize) -> Self {
        let spec = Self::new(&options.prefix, index, &options.capacity).tainted(options.is_tainted);
        match options.templates.get(index) {
            Some(template) => Self { name: template.name.clone(), template: Some(template.clone()), ..spec },
            None => spec,
        }
    }

    /// Creates the node with this index, counted from 0.
    pub(crate) fn new(prefix: &str, index: usize, capacity: &Capacity) -> Self {
        Self {
            name: format!("{prefix}-{}", index + 1),
            index: u32::try_from(index).unwrap_or(0),
            capacity: capacity.clone(),
            is_tainted: false,
            template: None,
        }
    }

    /// Returns the node with the taint of simulated nodes, or without.
    pub(crate) fn tainted(self, is_tainted: bool) -> Self {
        Self { is_tainted, ..self }
    }

    /// Returns the taints that the node is created with.
    fn taints(&self) -> Value {
        if let Some(template) = &self.template {
            gantry_json::to_value(&template.taints)
        } else if self.is_tainted {
            json!([{"key": SIMULATED_TAINT, "value": "true", "effect": "NoSchedule"}])
        } else {
            json!([])
        }
    }

    /// Returns the node's address.
    pub(crate) fn address(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(NODE_NETWORK.to_bits() + self.index)
    }

    /// Returns the allocator of its pods' addresses.
    pub(crate) fn pod_addresses(&self) -> Addresses {
        let (first, bits) = pod_network(self.index);
        Addresses::new(Ipv4Addr::from_bits(first.to_bits() + 2), usable(bits))
    }

    /// Returns the Node object to create.
    pub(crate) fn object(&self, now: Timestamp) -> Value {
        let (first, bits) = pod_network(self.index);
        let cidr = format!("{first}/{}", 32 - bits);
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": self.labels()},
            "spec": {
                "podCIDR": cidr,
                "podCIDRs": [cidr],
                "taints": self.taints(),
                "unschedulable": self.template.as_ref().is_some_and(|template| template.is_unschedulable),
            },
            "status": self.status(None, now),
        })
    }

    /// Returns its labels.
    pub(crate) fn labels(&self) -> Value {
        let mut labels = json!({
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            SIMULATED: "true",
        });
        for (name, value) in self.template.iter().flat_map(|template| &template.labels) {
            labels[name.as_str()] = json!(value);
        }
        labels
    }

    /// Returns its status, with the transition times of the previous one.
    pub(crate) fn status(&self, before: Option<&wire::NodeStatus>, now: Timestamp) -> Value {
        let Capacity { cpu, memory, pods } = &self.capacity;
        let amounts = match &self.template {
            Some(template) => gantry_json::to_value(&template.allocatable),
            None => {
                json!({"cpu": cpu, "memory": memory, "pods": pods.to_string(), "ephemeral-storage": "100Gi"})
            }
        };
        let id = |purpose| Rng::keyed(&self.name, purpose).hex(32);
        json!({
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": healthy_conditions(before, now),
            "addresses": [
                {"type": "InternalIP", "address": self.address().to_string()},
                {"type": "Hostname", "address": self.name},
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "osImage": "Gantry simulated node",
                "kernelVersion": "0.0.0-simulated",
                "containerRuntimeVersion": concat!("simulated://", env!("CARGO_PKG_VERSION")),
                "kubeletVersion": "v1.37.0",
                "kubeProxyVersion": "",
                "machineID": id("machine"),
                "systemUUID": id("system"),
                "bootID": id("boot"),
            },
        })
    }
}

/// The first address of the pods of a node, and the number of bits in which the others differ from it.
fn pod_network(index: u32) -> (Ipv4Addr, u32) {
    let [near, far] = &POD_NETWORKS;
    let (network, number) = if index < near.nodes { (near, index) } else { (far, index - near.nodes) };
    (Ipv4Addr::from_bits(network.first.to_bits() + (number << network.pod_bits)), network.pod_bits)
}

/// The number of pods of each node that have an address of their own if there are this many nodes.
pub(crate) fn pods_max(nodes: usize) -> u32 {
    let last = u32::try_from(nodes.saturating_sub(1)).unwrap_or(u32::MAX);
    usable(pod_network(last).1)
}

/// The addresses for pods among `2^bits`: without that of the network, the node's own in it, and the broadcast address.
const fn usable(bits: u32) -> u32 {
    (1 << bits) - 3
}

/// Returns the conditions of a healthy node. Unchanged ones keep their transition time.
pub fn healthy_conditions(before: Option<&wire::NodeStatus>, now: Timestamp) -> Value {
    conditions(before, &NodeHealth::default(), now)
}

/// Returns the conditions of a node of this health. Unchanged ones keep their transition time.
pub fn conditions(before: Option<&wire::NodeStatus>, health: &NodeHealth, now: Timestamp) -> Value {
    let before = before.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let condition = |healthy: &HealthyCondition| {
        let HealthyCondition { name, unhealthy: (reason, message), .. } = *healthy;
        let (status, reason, message) = match &health.problem {
            Some(problem) if name == "Ready" => ("False", reason, problem.as_str()),
            _ if health.pressures.contains(&name) => ("True", reason, message),
            _ => (healthy.status, healthy.reason, healthy.message),
        };
        let same = before.iter().find(|known| known.type_ == name && known.status == status);
        let since = same.and_then(|known| known.last_transition_time.clone()).unwrap_or_else(|| now.render());
        json!({
            "type": name,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now.render(),
            "lastTransitionTime": since,
        })
    };
    HEALTHY.iter().map(condition).collect()
}

/// Returns the taints of a node without the one of new nodes; `None` if it does not have that one.
pub fn taints_without_not_ready(node: &wire::Node) -> Option<Vec<wire::Taint>> {
    let taints = node.spec.as_ref()?.taints.as_ref()?;
    let kept: Vec<_> = taints.iter().filter(|taint| taint.key != NOT_READY).cloned().collect();
    (kept.len() < taints.len()).then_some(kept)
}

/// Whether the status of a node reports that it is ready.
pub fn is_ready(node: &wire::Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Whether the annotation `sim.gantry.dev/fail` makes the node fail; an error if its value is invalid.
pub(crate) fn is_failed(node: &wire::Node) -> Result<bool, InvalidTrait> {
    let annotations = node.metadata.annotations.as_ref();
    let written = annotations.and_then(|all| all.get(&format!("{ANNOTATION_PREFIX}{FAIL}")));
    match written.map(String::as_str) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(value) => {
            Err(InvalidTrait::Value { name: FAIL, value: value.to_owned(), wanted: "true or false" })
        }
    }
}

/// Whether a node has reached its final state: ready, or failed on request.
pub fn is_settled(node: &wire::Node) -> bool {
    is_ready(node) || is_failed(node) == Ok(true)
}

/// Whether a node was created by a simulation with this prefix.
pub(crate) fn is_simulated(node: &wire::Node, prefix: &str) -> bool {
    let labels = node.metadata.labels.as_ref();
    let number = node.metadata.name.as_ref().and_then(|name| name.strip_prefix(prefix)?.strip_prefix('-'));
    labels.is_some_and(|labels| labels.get(SIMULATED).is_some_and(|value| value == "true"))
        && number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_nanos(1_767_268_800_000_001_500);

    fn spec(index: usize) -> NodeSpec {
        NodeSpec::new("node", index, &Capacity::default())
    }

    #[test]
    fn nodes_have_names_and_networks_of_their_own() {
        let last = spec(NODES_MAX - 1);
        assert_eq!((spec(0).name.as_str(), last.name.as_str()), ("node-1", "node-6144"));
        let network = |index| spec(index).object(NOON)["spec"]["podCIDR"].clone();
        assert_eq!([network(0), network(2047)], ["10.128.0.0/20", "10.255.240.0/20"]);
        assert_eq!([network(2048), network(NODES_MAX - 1)], ["100.64.0.0/22", "100.127.252.0/22"]);
        assert_eq!(spec(0).pod_addresses().take(), Ipv4Addr::new(10, 128, 0, 2));
        assert_eq!(last.pod_addresses().take(), Ipv4Addr::new(100, 127, 252, 2));
        assert_eq!(spec(2047).address(), Ipv4Addr::new(172, 18, 8, 1));
        assert_eq!([pods_max(2048), pods_max(2049)], [4093, 1021]);
    }

    #[test]
    fn an_unchanged_condition_keeps_its_transition_time() {
        let before: wire::NodeStatus = gantry_json::from_value(json!({"conditions": [
            {"type": "DiskPressure", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]}))
        .unwrap();
        let conditions = healthy_conditions(Some(&before), NOON);
        assert_eq!(conditions[1]["lastTransitionTime"], "2026-01-01T00:00:00Z");
        assert_eq!(
            conditions[3]["lastTransitionTime"], "2026-01-01T12:00:00Z",
            "the node was not ready before"
        );
        assert_eq!(conditions[1]["lastHeartbeatTime"], "2026-01-01T12:00:00Z");
    }

    #[test]
    fn simulated_nodes_are_recognized_by_label_and_name() {
        let node = |name: &str, labels: Value| {
            gantry_json::from_value::<wire::Node>(json!({"metadata": {"name": name, "labels": labels}}))
                .unwrap()
        };
        let simulated = json!({SIMULATED: "true"});
        assert!(is_simulated(&node("node-7", simulated.clone()), "node"));
        assert!(!is_simulated(&node("node-7", json!({})), "node"), "another node");
        assert!(!is_simulated(&node("node-west", simulated.clone()), "node"));
        assert!(!is_simulated(&node("other-7", simulated), "node"));
    }

    #[test]
    fn an_annotation_makes_a_node_fail() {
        let node = |value: &str| {
            let annotations = json!({"sim.gantry.dev/fail": value});
            gantry_json::from_value::<wire::Node>(json!({"metadata": {"annotations": annotations}})).unwrap()
        };
        assert_eq!(is_failed(&wire::Node::default()), Ok(false));
        assert_eq!((is_failed(&node("true")), is_failed(&node("false"))), (Ok(true), Ok(false)));
        let problem = is_failed(&node("yes")).unwrap_err().to_string();
        assert_eq!(problem, "fail: \"yes\" is not true or false");
    }

    /// A§2.6: a ready node loses the taint of new nodes, and no other.
    #[test]
    fn only_the_taint_of_a_new_node_is_removed() {
        let node = |taints: Value| {
            gantry_json::from_value::<wire::Node>(json!({"spec": {"taints": taints}})).unwrap()
        };
        let not_ready = json!({"key": NOT_READY, "effect": "NoSchedule"});
        let gpu = json!({"key": "gpu", "effect": "NoSchedule"});
        let kept = taints_without_not_ready(&node(json!([not_ready, gpu]))).unwrap();
        assert_eq!(kept.iter().map(|taint| taint.key.as_str()).collect::<Vec<_>>(), ["gpu"]);
        assert_eq!(taints_without_not_ready(&node(json!([gpu]))), None);
        assert_eq!(taints_without_not_ready(&node(json!(null))), None);
    }
}
