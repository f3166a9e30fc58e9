//! Why no node fits a pod, with kube-scheduler's messages.

use std::collections::BTreeMap;
use std::fmt;

/// Why one node does not fit a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeRejection {
    /// The pod lists node names, and this one is not among them.
    NotListedByName,
    /// `spec.unschedulable` is set.
    Cordoned,
    UntoleratedTaint,
    NodeAffinity,
    /// A host port of the pod is in use.
    PortInUse,
    /// The node lacks the label of a topology spread constraint.
    TopologyLabelMissing,
    /// A topology spread constraint would be violated.
    SkewExceeded,
    /// The pod's affinity to other pods is not met.
    PodAffinity,
    /// The pod's anti-affinity matches pods nearby.
    PodAntiAffinity,
    /// The anti-affinity of pods nearby matches the pod.
    ExistingAntiAffinity,
    /// A claim is bound to a volume that does not exist.
    VolumeNotFound,
    /// A volume's node affinity excludes the node.
    VolumeNodeAffinity,
    /// No volume on the node meets a claim of the pod.
    NoMatchingVolume,
    Insufficient {
        /// The messages, one for each resource.
        messages: Vec<String>,
        /// Whether they would not suffice on an empty node either.
        never_fits: bool,
    },
}

/// Why no node fits a pod, counted by reason.
///
/// `Display` is the message of the pod's condition and event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitError {
    nodes: usize,
    counts: BTreeMap<String, usize>,
    /// Nodes whose rejection evicting pods could resolve.
    preemptible: usize,
    preempts: bool,
    /// A reason that holds for every node.
    cluster_wide: Option<ClusterWideReason>,
}

/// Why a pod is unschedulable whatever the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClusterWideReason {
    /// A pre-filter failed: no node was filtered.
    PreFilter(String),
    /// A node fits, but its volumes are not bound in time.
    PreBind(String),
}

impl FitError {
    pub(super) fn new(preempts: bool) -> Self {
        Self { nodes: 0, counts: BTreeMap::new(), preemptible: 0, preempts, cluster_wide: None }
    }

    pub(super) fn cluster_wide(nodes: usize, reason: ClusterWideReason) -> Self {
        Self { nodes, cluster_wide: Some(reason), ..Self::new(true) }
    }

    pub(super) fn add(&mut self, rejection: NodeRejection) {
        self.nodes += 1;
        self.preemptible += usize::from(rejection.is_resolvable_by_preemption());
        for message in rejection.messages() {
            *self.counts.entry(message).or_default() += 1;
        }
    }
}

impl NodeRejection {
    fn is_resolvable_by_preemption(&self) -> bool {
        matches!(
            self,
            Self::PortInUse
                | Self::SkewExceeded
                | Self::PodAntiAffinity
                | Self::ExistingAntiAffinity
                | Self::Insufficient { never_fits: false, .. }
        )
    }

    fn messages(self) -> Vec<String> {
        let message = match self {
            Self::NotListedByName => "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            Self::Cordoned => "node(s) were unschedulable",
            Self::UntoleratedTaint => "node(s) had untolerated taint(s)",
            Self::NodeAffinity => "node(s) didn't match Pod's node affinity/selector",
            Self::PortInUse => "node(s) didn't have free ports for the requested pod ports",
            Self::TopologyLabelMissing => {
                "node(s) didn't match pod topology spread constraints (missing required label)"
            }
            Self::SkewExceeded => "node(s) didn't match pod topology spread constraints",
            Self::PodAffinity => "node(s) didn't match pod affinity rules",
            Self::PodAntiAffinity => "node(s) didn't match pod anti-affinity rules",
            Self::ExistingAntiAffinity => "node(s) didn't satisfy existing pods anti-affinity rules",
            Self::VolumeNotFound => {
                "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
            }
            Self::VolumeNodeAffinity => "node(s) didn't match PersistentVolume's node affinity",
            Self::NoMatchingVolume => "node(s) didn't find available persistent volumes to bind",
            Self::Insufficient { messages, .. } => return messages,
        };
        vec![message.to_owned()]
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes;
        if nodes == 0 {
            return f.write_str("no nodes available to schedule pods");
        }
        match &self.cluster_wide {
            // "not found" at the end is what kube-scheduler 1.37 appends about preemption here.
            Some(ClusterWideReason::PreFilter(why)) => {
                return write!(f, "0/{nodes} nodes are available: {why}. not found");
            }
            Some(ClusterWideReason::PreBind(why)) => return f.write_str(why),
            None => {}
        }
        write!(f, "0/{nodes} nodes are available: {}. preemption: ", counted(&self.counts))?;
        if !self.preempts {
            return f.write_str("not eligible due to preemptionPolicy=Never.");
        }
        let preemption = [
            ("No preemption victims found for incoming pod".to_owned(), self.preemptible),
            ("Preemption is not helpful for scheduling".to_owned(), nodes - self.preemptible),
        ];
        write!(f, "0/{nodes} nodes are available: {}.", counted(&BTreeMap::from(preemption)))
    }
}

/// `1 Insufficient cpu, 2 node(s) were unschedulable`, sorted by text.
fn counted(counts: &BTreeMap<String, usize>) -> String {
    let nonzero = counts.iter().filter(|(_, count)| **count > 0);
    let mut texts: Vec<_> = nonzero.map(|(message, count)| format!("{count} {message}")).collect();
    texts.sort_unstable();
    texts.join(", ")
}
