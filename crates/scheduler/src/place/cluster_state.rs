//! Nodes, and the resources that the pods on them use.

use std::collections::BTreeMap;

use super::inter_pod_affinity::PodTerms;
use super::ports::HostPort;
use super::resources::{PodRequest, ResourceList};
use super::{Node, PodInfo, StorageObjects};

/// Nodes, their assigned pods and storage objects.
///
/// A pod counts from the moment it is assumed to be bound; adding it again changes nothing. Pods may be known before
/// their node.
#[derive(Clone, Debug, Default)]
pub struct ClusterState {
    nodes: BTreeMap<String, NodeInfo>,
    /// Pods by uid.
    pods: BTreeMap<String, AssignedPod>,
    /// Usage of nodes that do not exist, or are not observed yet.
    unknown_nodes: BTreeMap<String, NodeUsage>,
    /// How many assigned pods have required anti-affinity.
    anti_affinity_pods: usize,
    storage: StorageObjects,
}

#[derive(Clone, Debug)]
pub(super) struct NodeInfo {
    pub(super) node: Node,
    pub(super) usage: NodeUsage,
}

/// The resources that the pods of a node use.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeUsage {
    pub(super) pods: i128,
    pub(super) requests: ResourceList,
    pub(super) cpu_scored: i128,
    pub(super) memory_scored: i128,
    pub(super) ports: Vec<HostPort>,
    /// The number of pods by the uid of their controller.
    pub(super) replicas: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, PartialEq)]
struct AssignedPod {
    node: String,
    request: PodRequest,
    ports: Vec<HostPort>,
    controller: Option<String>,
    terms: PodTerms,
}

impl ClusterState {
    /// Adds or updates a node. Returns whether that may help an unschedulable pod.
    pub fn set_node(&mut self, node: Node) -> bool {
        match self.nodes.get_mut(&node.name) {
            Some(info) if info.node == node => false,
            Some(info) => {
                info.node = node;
                true
            }
            None => {
                let usage = self.unknown_nodes.remove(&node.name).unwrap_or_default();
                self.nodes.insert(node.name.clone(), NodeInfo { node, usage });
                true
            }
        }
    }

    /// Removes a node, but not the pods on it: it may be added again before they are removed.
    pub fn remove_node(&mut self, name: &str) {
        if let Some(info) = self.nodes.remove(name).filter(|info| info.usage.pods > 0) {
            self.unknown_nodes.insert(name.to_owned(), info.usage);
        }
    }

    /// Counts a pod on a node, and no longer on another one.
    ///
    /// Returns whether a pod that was counted already has changed, which may help an unschedulable pod.
    pub fn add_pod(&mut self, pod: &PodInfo, node: &str) -> bool {
        let assigned = AssignedPod {
            node: node.to_owned(),
            request: pod.request.clone(),
            ports: pod.ports.clone(),
            controller: pod.controller.clone(),
            terms: pod.terms.clone(),
        };
        if self.pods.get(&pod.uid).is_some_and(|known| *known == assigned) {
            return false;
        }
        let changed = self.remove_pod(&pod.uid);
        self.anti_affinity_pods += usize::from(!assigned.terms.anti_affinity.is_empty());
        self.usage_of(node).add(&assigned);
        self.pods.insert(pod.uid.clone(), assigned);
        changed
    }

    /// Returns whether the pod was counted.
    pub fn remove_pod(&mut self, uid: &str) -> bool {
        let Some(pod) = self.pods.remove(uid) else { return false };
        self.anti_affinity_pods -= usize::from(!pod.terms.anti_affinity.is_empty());
        let usage = self.usage_of(&pod.node);
        usage.subtract(&pod);
        if usage.pods == 0 {
            self.unknown_nodes.remove(&pod.node);
        }
        true
    }

    /// The node that a pod counts on.
    pub fn node_of(&self, uid: &str) -> Option<&str> {
        self.pods.get(uid).map(|pod| pod.node.as_str())
    }

    /// The storage objects.
    pub fn storage_mut(&mut self) -> &mut StorageObjects {
        &mut self.storage
    }

    pub(super) fn storage(&self) -> &StorageObjects {
        &self.storage
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeInfo> {
        self.nodes.values()
    }

    /// All pods on known nodes, with their node.
    pub(super) fn assigned_pods(&self) -> impl Iterator<Item = (&PodTerms, &Node)> {
        self.pods.values().filter_map(|pod| Some((&pod.terms, &self.nodes.get(&pod.node)?.node)))
    }

    pub(super) fn has_anti_affinity(&self) -> bool {
        self.anti_affinity_pods > 0
    }

    fn usage_of(&mut self, node: &str) -> &mut NodeUsage {
        match self.nodes.get_mut(node) {
            Some(info) => &mut info.usage,
            None => self.unknown_nodes.entry(node.to_owned()).or_default(),
        }
    }
}

impl NodeUsage {
    fn add(&mut self, pod: &AssignedPod) {
        self.pods += 1;
        self.requests.add(&pod.request.requests);
        self.cpu_scored += pod.request.cpu_scored;
        self.memory_scored += pod.request.memory_scored;
        self.ports.extend_from_slice(&pod.ports);
        if let Some(controller) = &pod.controller {
            *self.replicas.entry(controller.clone()).or_default() += 1;
        }
    }

    fn subtract(&mut self, pod: &AssignedPod) {
        self.pods -= 1;
        self.requests.subtract(&pod.request.requests);
        self.cpu_scored -= pod.request.cpu_scored;
        self.memory_scored -= pod.request.memory_scored;
        for port in &pod.ports {
            if let Some(at) = self.ports.iter().position(|other| other == port) {
                self.ports.swap_remove(at);
            }
        }
        if let Some(controller) = &pod.controller
            && let Some(count) = self.replicas.get_mut(controller)
        {
            *count -= 1;
            if *count == 0 {
                self.replicas.remove(controller);
            }
        }
    }
}
