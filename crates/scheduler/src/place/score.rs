//! Scores the nodes that fit a pod.
//!
//! Four scores from 0 to 100 each, weighted as in kube-scheduler: soft taints and spreading of replicas have the
//! highest weight, then preferred node affinity, then free resources.

use super::PodInfo;
use super::cluster_state::NodeInfo;
use super::resources::{CPU, MEMORY};

const MAX_SCORE: i64 = 100;
const WEIGHT_TAINTS: i64 = 3;
const WEIGHT_SPREAD: i64 = 3;
const WEIGHT_NODE_AFFINITY: i64 = 2;
const WEIGHT_LEAST_ALLOCATED: i64 = 1;

/// The scores of a node before normalization.
struct RawScore<'a> {
    info: &'a NodeInfo,
    soft_taints: i64,
    replicas: i64,
    node_affinity: i64,
    least_allocated: i64,
}

/// The node with the highest score; the first by name among equals.
pub(super) fn best<'a>(pod: &PodInfo, nodes: &[&'a NodeInfo]) -> Option<&'a NodeInfo> {
    if let [only] = nodes {
        return Some(only);
    }
    let raw: Vec<_> = nodes.iter().map(|info| RawScore::new(pod, info)).collect();
    let max = |of: fn(&RawScore) -> i64| raw.iter().map(of).max().unwrap_or(0);
    let (soft_taints, replicas) = (max(|raw| raw.soft_taints), max(|raw| raw.replicas));
    let node_affinity = max(|raw| raw.node_affinity);
    let score = |raw: &RawScore| {
        WEIGHT_TAINTS * (MAX_SCORE - share(raw.soft_taints, soft_taints))
            + WEIGHT_SPREAD * (MAX_SCORE - share(raw.replicas, replicas))
            + WEIGHT_NODE_AFFINITY * share(raw.node_affinity, node_affinity)
            + WEIGHT_LEAST_ALLOCATED * raw.least_allocated
    };
    let mut best: Option<(i64, &NodeInfo)> = None;
    for candidate in &raw {
        let score = score(candidate);
        if best.is_none_or(|(max, _)| score > max) {
            best = Some((score, candidate.info));
        }
    }
    best.map(|(_, info)| info)
}

impl<'a> RawScore<'a> {
    fn new(pod: &PodInfo, info: &'a NodeInfo) -> Self {
        let soft = info.node.taints.iter().filter(|taint| !taint.is_hard());
        let soft_taints = soft.filter(|taint| !taint.is_tolerated(&pod.tolerations)).count();
        let controller = pod.controller.as_ref();
        Self {
            info,
            soft_taints: i64::try_from(soft_taints).unwrap_or(i64::MAX),
            replicas: controller.and_then(|uid| info.usage.replicas.get(uid)).copied().unwrap_or(0),
            node_affinity: pod.node_affinity.preference(&info.node),
            least_allocated: least_allocated(pod, info),
        }
    }
}

/// The free share of the node with the pod on it, the mean of CPU and memory.
fn least_allocated(pod: &PodInfo, info: &NodeInfo) -> i64 {
    let offered = &info.node.allocatable;
    let free = |offered: i128, usage: i128| {
        if offered <= 0 {
            return 0;
        }
        let free = offered.saturating_sub(usage).max(0);
        i64::try_from(free.saturating_mul(MAX_SCORE.into()) / offered).unwrap_or(MAX_SCORE)
    };
    let cpu = free(offered.of(CPU), info.usage.cpu_scored.saturating_add(pod.request.cpu_scored));
    let memory = free(offered.of(MEMORY), info.usage.memory_scored.saturating_add(pod.request.memory_scored));
    i64::midpoint(cpu, memory)
}

/// A share of the maximum, from 0 to 100.
fn share(part: i64, max: i64) -> i64 {
    if max <= 0 { 0 } else { part.saturating_mul(MAX_SCORE) / max }
}
