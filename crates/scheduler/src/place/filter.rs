//! The filters that depend on one node only, in kube-scheduler's order; the first rejection is the node's reason.

use super::PodInfo;
use super::cluster_state::NodeInfo;
use super::fit_error::NodeRejection;
use super::resources::PODS;
use super::taints::{Effect, Taint, UNSCHEDULABLE};

const ONE_POD: i128 = 1_000_000_000;

pub(super) fn rejection(pod: &PodInfo, info: &NodeInfo) -> Option<NodeRejection> {
    let node = &info.node;
    if pod.node_affinity.excludes_by_name(node) {
        return Some(NodeRejection::NotListedByName);
    }
    if node.cordoned && !Taint::new(UNSCHEDULABLE, Effect::NoSchedule).is_tolerated(&pod.tolerations) {
        return Some(NodeRejection::Cordoned);
    }
    if node.taints.iter().any(|taint| taint.is_hard() && !taint.is_tolerated(&pod.tolerations)) {
        return Some(NodeRejection::UntoleratedTaint);
    }
    if !pod.node_affinity.allows(node) {
        return Some(NodeRejection::NodeAffinity);
    }
    if pod.ports.iter().any(|port| info.usage.ports.iter().any(|other| port.conflicts_with(other))) {
        return Some(NodeRejection::PortInUse);
    }
    insufficient(pod, info)
}

/// All resources of which the node has too little.
fn insufficient(pod: &PodInfo, info: &NodeInfo) -> Option<NodeRejection> {
    let (offered, usage) = (&info.node.allocatable, &info.usage);
    let mut insufficient = Vec::new();
    let mut never_fits = false;
    let full = usage.pods.saturating_add(1).saturating_mul(ONE_POD) > offered.of(PODS);
    if full {
        insufficient.push("Too many pods".to_owned());
    }
    for (resource, requested) in pod.request.requests.iter().filter(|(_, requested)| *requested > 0) {
        if requested > offered.of(resource).saturating_sub(usage.requests.of(resource)) {
            insufficient.push(format!("Insufficient {resource}"));
            never_fits |= requested > offered.of(resource);
        }
    }
    (!insufficient.is_empty()).then_some(NodeRejection::Insufficient { messages: insufficient, never_fits })
}
