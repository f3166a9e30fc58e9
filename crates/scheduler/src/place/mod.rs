//! The decision: where one pod goes in a cluster that is plain data.
//!
//! ```text
//! Cluster (nodes, and what the pods on them take) + Pod ─► every node is asked (filter) ─► the best of them (score)
//! ```
//!
//! The filters and their words are kube-scheduler's, in its order; a node is charged with the first one that refuses the
//! pod. The scores are fewer: free room, replicas apart, preferences of the pod and of the node. Equal nodes are told
//! apart by name, so that the same cluster and pod give the same answer.
//!
//! What is not here: preemption (no pod is evicted to make room), the binding of volumes, preferences between pods, and when to decide.

mod affinity;
mod cluster;
mod company;
mod filter;
mod node;
mod pod;
mod ports;
mod reasons;
mod resources;
mod score;
mod taints;
mod volumes;

#[cfg(test)]
mod tests;

pub use cluster::Cluster;
pub use node::Node;
pub use pod::{Pod, Standing};
pub use reasons::Reasons;
pub use volumes::Storage;

use reasons::Everywhere;

/// What is to become of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It goes to the node of this name.
    Node(String),
    /// No node takes it, for these reasons.
    Nowhere(Reasons),
}

/// The scheduler whose pods these are; pods may ask for another by `spec.schedulerName`.
pub const SCHEDULER_NAME: &str = "default-scheduler";

/// Decides where a pod goes.
pub fn place(cluster: &Cluster, pod: &Pod) -> Placement {
    let mut reasons = Reasons::new(pod.preempts());
    let mut fitting = Vec::new();
    let (storage, nodes) = (cluster.storage(), cluster.sites().count());
    if let Some(problem) = storage.problem(pod) {
        return Placement::Nowhere(Reasons::everywhere(nodes, Everywhere::NotAsked(problem)));
    }
    let survey = company::Survey::of(cluster, pod);
    for site in cluster.sites() {
        let refusal = filter::refusal(pod, site).or_else(|| storage.refusal(pod, &site.node));
        match refusal.or_else(|| survey.refusal(&site.node)) {
            None => fitting.push(site),
            Some(refusal) => reasons.add(refusal),
        }
    }
    match score::best(pod, &fitting) {
        Some(site) => match storage.unbound(pod) {
            Some(problem) => Placement::Nowhere(Reasons::everywhere(nodes, Everywhere::NotDone(problem))),
            None => Placement::Node(site.node.name.clone()),
        },
        None => Placement::Nowhere(reasons),
    }
}
