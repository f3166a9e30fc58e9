//! The scheduling decision: a node for one pod, in a cluster that is plain data.
//!
//! ```text
//! ClusterState + Pod ─► every node is filtered ─► the fitting ones are scored ─► Placement
//! ```
//!
//! Filters and their messages are kube-scheduler's, in its order; the first filter that rejects the pod is the node's
//! reason. The scores are a subset: free resources, replicas of a controller, node affinity and soft taints. Ties are
//! broken by name, so that the same cluster and pod give the same result.
//!
//! Not here: preemption, volume binding, preferred affinity between pods, and when to decide.

mod cluster_state;
mod filter;
mod fit_error;
mod inter_pod_affinity;
mod node;
mod node_affinity;
mod pod;
mod ports;
mod resources;
mod score;
mod taints;
mod topology_spread;
mod volumes;

#[cfg(test)]
mod tests;

pub use cluster_state::ClusterState;
pub use fit_error::FitError;
pub use node::Node;
pub use pod::{PodInfo, SchedulingState};
pub use resources::requested_amounts;
pub use volumes::StorageObjects;

use fit_error::ClusterWideReason;
use inter_pod_affinity::PreFilterState;
use topology_spread::DomainCounts;

/// The result of scheduling one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The name of the node to bind it to.
    Node(String),
    /// No node fits.
    Unschedulable(FitError),
}

/// The name by which pods select this scheduler in `spec.schedulerName`.
pub const SCHEDULER_NAME: &str = "default-scheduler";

/// Selects the node for a pod.
pub fn place(cluster: &ClusterState, pod: &PodInfo) -> Placement {
    let mut fit_error = FitError::new(pod.preempts());
    let mut fitting = Vec::new();
    let (storage, nodes) = (cluster.storage(), cluster.nodes().count());
    if let Some(failure) = storage.pre_filter_failure(pod) {
        return Placement::Unschedulable(FitError::cluster_wide(
            nodes,
            ClusterWideReason::PreFilter(failure),
        ));
    }
    let spread: Vec<_> =
        pod.spread_constraints.iter().map(|constraint| DomainCounts::of(constraint, cluster, pod)).collect();
    let affinity = PreFilterState::of(cluster, pod);
    for info in cluster.nodes() {
        let rejection = filter::rejection(pod, info)
            .or_else(|| storage.rejection(pod, &info.node))
            .or_else(|| spread.iter().find_map(|counts| counts.rejection(&info.node)))
            .or_else(|| affinity.rejection(&info.node));
        match rejection {
            None => fitting.push(info),
            Some(rejection) => fit_error.add(rejection),
        }
    }
    match score::best(pod, &fitting) {
        Some(info) => match storage.pre_bind_failure(pod) {
            Some(failure) => {
                Placement::Unschedulable(FitError::cluster_wide(nodes, ClusterWideReason::PreBind(failure)))
            }
            None => Placement::Node(info.node.name.clone()),
        },
        None => Placement::Unschedulable(fit_error),
    }
}
