//! What a simulated node is and says of itself.

use std::net::Ipv4Addr;

use gantry_model::{Timestamp, Uid};
use k8s_openapi::api::core::v1 as wire;
use serde_json::{Value, json};

use crate::addresses::Addresses;
use crate::behaviour::{ANNOTATION_PREFIX, Dice, InvalidTrait};
use crate::options::Capacity;

/// So many nodes fit into `10.128.0.0/9` with 4096 addresses each.
pub(crate) const NODES_MAX: usize = 1 << (32 - 9 - POD_BITS);
/// So many pods have an address of their own on a node.
pub(crate) const PODS_MAX: u32 = (1 << POD_BITS) - 3;
/// The bits of an address that tell the pods of a node apart.
pub(crate) const POD_BITS: u32 = 12;
pub(crate) const POD_NETWORK: Ipv4Addr = Ipv4Addr::new(10, 128, 0, 0);
const NODE_NETWORK: Ipv4Addr = Ipv4Addr::new(172, 18, 0, 2);

/// The taint that a new node is born with, and that whoever runs nodes removes.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// The label of simulated nodes.
const SIMULATED: &str = "sim.gantry.dev/simulated";

/// The annotation of a node that makes it fail.
const FAIL: &str = "fail";

/// How long a node may be silent before others worry.
const LEASE_SECONDS: u32 = 40;

/// A simulated node.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) name: String,
    index: u32,
    capacity: Capacity,
}

/// A condition of a node that is well.
struct Wellness {
    name: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &'static str,
}

const WELL: [Wellness; 4] = [
    Wellness {
        name: "MemoryPressure",
        status: "False",
        reason: "KubeletHasSufficientMemory",
        message: "kubelet has sufficient memory available",
    },
    Wellness {
        name: "DiskPressure",
        status: "False",
        reason: "KubeletHasNoDiskPressure",
        message: "kubelet has no disk pressure",
    },
    Wellness {
        name: "PIDPressure",
        status: "False",
        reason: "KubeletHasSufficientPID",
        message: "kubelet has sufficient PID available",
    },
    Wellness {
        name: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "kubelet is posting ready status",
    },
];

impl Machine {
    /// The `index`th node, counted from zero, of those whose names begin so.
    pub(crate) fn new(prefix: &str, index: usize, capacity: &Capacity) -> Self {
        Self {
            name: format!("{prefix}-{}", index + 1),
            index: u32::try_from(index).unwrap_or(0),
            capacity: capacity.clone(),
        }
    }

    /// Its own address.
    pub(crate) fn address(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(NODE_NETWORK.to_bits() + self.index)
    }

    /// The addresses of its pods.
    pub(crate) fn pod_addresses(&self) -> Addresses {
        // The first is the network's, the second the node's side of it, the last the broadcast.
        Addresses::new(Ipv4Addr::from_bits(self.pod_network().to_bits() + 2), PODS_MAX)
    }

    /// The object to create.
    pub(crate) fn object(&self, now: Timestamp) -> Value {
        let cidr = format!("{}/{}", self.pod_network(), 32 - POD_BITS);
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": self.labels()},
            "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
            "status": self.status(None, now),
        })
    }

    /// The labels it has.
    pub(crate) fn labels(&self) -> Value {
        json!({
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            SIMULATED: "true",
        })
    }

    /// All that it says of itself, after what it said before.
    pub(crate) fn status(&self, before: Option<&wire::NodeStatus>, now: Timestamp) -> Value {
        let Capacity { cpu, memory, pods } = &self.capacity;
        let amounts =
            json!({"cpu": cpu, "memory": memory, "pods": pods.to_string(), "ephemeral-storage": "100Gi"});
        let id = |purpose| Dice::of(&self.name, purpose).hex(32);
        json!({
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": heartbeat(before, now),
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

    /// Its lease, renewed now.
    pub(crate) fn lease(&self, node: &Uid, now: Timestamp) -> Value {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": self.name,
                "namespace": "kube-node-lease",
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Node", "name": self.name, "uid": node.as_str()},
                ],
            },
            "spec": {
                "holderIdentity": self.name,
                "leaseDurationSeconds": LEASE_SECONDS,
                "renewTime": micro_time(now),
            },
        })
    }

    fn pod_network(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(POD_NETWORK.to_bits() + (self.index << POD_BITS))
    }
}

/// The conditions of a node that is well; one that was so before keeps the time since when it is.
pub(crate) fn heartbeat(before: Option<&wire::NodeStatus>, now: Timestamp) -> Value {
    let before = before.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let condition = |well: &Wellness| {
        let same = before.iter().find(|known| known.type_ == well.name && known.status == well.status);
        let since = same.and_then(|known| known.last_transition_time.clone()).unwrap_or_else(|| now.render());
        json!({
            "type": well.name,
            "status": well.status,
            "reason": well.reason,
            "message": well.message,
            "lastHeartbeatTime": now.render(),
            "lastTransitionTime": since,
        })
    };
    WELL.iter().map(condition).collect()
}

/// The taints that a node keeps when it is known to be ready; `None` if it keeps all.
pub(crate) fn taints_of_a_ready_node(node: &wire::Node) -> Option<Vec<wire::Taint>> {
    let taints = node.spec.as_ref()?.taints.as_ref()?;
    let kept: Vec<_> = taints.iter().filter(|taint| taint.key != NOT_READY).cloned().collect();
    (kept.len() < taints.len()).then_some(kept)
}

/// Whether a node is ready, as its status says.
pub(crate) fn is_ready(node: &wire::Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Whether the annotation `sim.gantry.dev/fail` makes the node fail, or what is wrong with that annotation.
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

/// Whether a node is one that a simulation of this prefix has made.
pub(crate) fn is_of_prefix(node: &wire::Node, prefix: &str) -> bool {
    let labels = node.metadata.labels.as_ref();
    let number = node.metadata.name.as_ref().and_then(|name| name.strip_prefix(prefix)?.strip_prefix('-'));
    labels.is_some_and(|labels| labels.get(SIMULATED).is_some_and(|value| value == "true"))
        && number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// A time with microseconds, as leases have it.
fn micro_time(now: Timestamp) -> String {
    let nanos = now.as_nanos();
    let text = now.to_whole_seconds().to_string();
    let micros = nanos.rem_euclid(1_000_000_000) / 1000;
    format!("{}.{micros:06}Z", text.trim_end_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_nanos(1_767_268_800_000_001_500);

    fn machine(index: usize) -> Machine {
        Machine::new("node", index, &Capacity::default())
    }

    #[test]
    fn nodes_have_names_and_networks_of_their_own() {
        let last = machine(NODES_MAX - 1);
        assert_eq!((machine(0).name.as_str(), last.name.as_str()), ("node-1", "node-2048"));
        assert_eq!(machine(0).object(NOON)["spec"]["podCIDR"], "10.128.0.0/20");
        assert_eq!(last.object(NOON)["spec"]["podCIDR"], "10.255.240.0/20");
        assert_eq!(machine(0).pod_addresses().take(), Ipv4Addr::new(10, 128, 0, 2));
        assert_eq!(last.address(), Ipv4Addr::new(172, 18, 8, 1));
    }

    #[test]
    fn a_node_that_was_well_is_well_since_then() {
        let before: wire::NodeStatus = serde_json::from_value(json!({"conditions": [
            {"type": "DiskPressure", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]}))
        .unwrap();
        let conditions = heartbeat(Some(&before), NOON);
        assert_eq!(conditions[1]["lastTransitionTime"], "2026-01-01T00:00:00Z");
        assert_eq!(conditions[3]["lastTransitionTime"], "2026-01-01T12:00:00Z", "it was not ready before");
        assert_eq!(conditions[1]["lastHeartbeatTime"], "2026-01-01T12:00:00Z");
    }

    /// A8.5: a lease lasts 40 s and is renewed by its holder.
    #[test]
    fn a_lease_says_when_it_was_renewed() {
        let lease = machine(0).lease(&"u1".into(), NOON);
        assert_eq!(lease["spec"]["renewTime"], "2026-01-01T12:00:00.000001Z");
        assert_eq!(lease["spec"]["leaseDurationSeconds"], 40);
        assert_eq!(lease["metadata"]["ownerReferences"][0]["uid"], "u1");
    }

    #[test]
    fn nodes_of_a_simulation_are_known_by_label_and_name() {
        let node = |name: &str, labels: Value| {
            serde_json::from_value::<wire::Node>(json!({"metadata": {"name": name, "labels": labels}}))
                .unwrap()
        };
        let simulated = json!({SIMULATED: "true"});
        assert!(is_of_prefix(&node("node-7", simulated.clone()), "node"));
        assert!(!is_of_prefix(&node("node-7", json!({})), "node"), "it is somebody else's");
        assert!(!is_of_prefix(&node("node-west", simulated.clone()), "node"));
        assert!(!is_of_prefix(&node("other-7", simulated), "node"));
    }

    #[test]
    fn an_annotation_makes_a_node_fail() {
        let node = |value: &str| {
            let annotations = json!({"sim.gantry.dev/fail": value});
            serde_json::from_value::<wire::Node>(json!({"metadata": {"annotations": annotations}})).unwrap()
        };
        assert_eq!(is_failed(&wire::Node::default()), Ok(false));
        assert_eq!((is_failed(&node("true")), is_failed(&node("false"))), (Ok(true), Ok(false)));
        let problem = is_failed(&node("yes")).unwrap_err().to_string();
        assert_eq!(problem, "fail: \"yes\" is not true or false");
    }

    /// 2.6: the taint of a new node goes when it is ready, and no other.
    #[test]
    fn only_the_taint_of_a_new_node_is_removed() {
        let node = |taints: Value| {
            serde_json::from_value::<wire::Node>(json!({"spec": {"taints": taints}})).unwrap()
        };
        let not_ready = json!({"key": NOT_READY, "effect": "NoSchedule"});
        let gpu = json!({"key": "gpu", "effect": "NoSchedule"});
        let kept = taints_of_a_ready_node(&node(json!([not_ready, gpu]))).unwrap();
        assert_eq!(kept.iter().map(|taint| taint.key.as_str()).collect::<Vec<_>>(), ["gpu"]);
        assert_eq!(taints_of_a_ready_node(&node(json!([gpu]))), None);
        assert_eq!(taints_of_a_ready_node(&node(json!(null))), None);
    }
}
