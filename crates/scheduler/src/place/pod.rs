//! The parts of a pod that scheduling reads.

use k8s_openapi::api::core::v1 as wire;

use super::SCHEDULER_NAME;
use super::inter_pod_affinity::{AffinityTerm, PodTerms};
use super::node_affinity::NodeAffinity;
use super::ports::HostPort;
use super::resources::PodRequest;
use super::taints::Toleration;
use super::topology_spread::SpreadConstraint;
use super::volumes::ClaimReference;

/// A pod, parsed for scheduling.
#[derive(Clone, Debug, PartialEq)]
pub struct PodInfo {
    pub(super) uid: String,
    pub(super) namespace: String,
    pub(super) claims: Vec<ClaimReference>,
    pub(super) request: PodRequest,
    pub(super) ports: Vec<HostPort>,
    pub(super) node_affinity: NodeAffinity,
    pub(super) tolerations: Vec<Toleration>,
    /// The uid of the controller; replicas of one controller are spread.
    pub(super) controller: Option<String>,
    pub(super) terms: PodTerms,
    /// Required affinity to other pods.
    pub(super) affinity: Vec<AffinityTerm>,
    pub(super) spread_constraints: Vec<SpreadConstraint>,
    priority: i32,
    preempts: bool,
}

/// Whether this scheduler has to assign a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchedulingState {
    /// It waits to be assigned by this scheduler.
    Pending,
    /// It has a node, and uses resources there.
    Assigned(String),
    /// It has terminated and uses no resources.
    Terminated,
    /// It has scheduling gates or another scheduler, or is being deleted.
    NotEligible,
}

impl PodInfo {
    /// Parses a pod.
    pub fn parse(pod: &wire::Pod) -> Self {
        let fallback = wire::PodSpec::default();
        let spec = pod.spec.as_ref().unwrap_or(&fallback);
        let owners = pod.metadata.owner_references.iter().flatten();
        let tolerations = spec.tolerations.iter().flatten();
        Self {
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            namespace: pod.metadata.namespace.clone().unwrap_or_default(),
            claims: ClaimReference::parse(pod, spec),
            request: PodRequest::parse(spec),
            ports: HostPort::parse_all(spec),
            node_affinity: NodeAffinity::parse(spec),
            tolerations: tolerations.map(Toleration::parse).collect(),
            controller: owners.filter(|owner| owner.controller == Some(true)).map(|o| o.uid.clone()).next(),
            terms: PodTerms::parse(pod),
            affinity: AffinityTerm::parse_affinity(pod),
            spread_constraints: SpreadConstraint::parse_all(pod),
            priority: spec.priority.unwrap_or(0),
            preempts: spec.preemption_policy.as_deref() != Some("Never"),
        }
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Higher priorities are scheduled first.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// Whether its `preemptionPolicy` allows preemption, on which the message about its failure depends.
    pub(super) fn preempts(&self) -> bool {
        self.preempts
    }
}

impl SchedulingState {
    /// Classifies a pod.
    pub fn of(pod: &wire::Pod) -> Self {
        let spec = pod.spec.as_ref();
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        if matches!(phase, Some("Succeeded" | "Failed")) {
            return Self::Terminated;
        }
        if let Some(node) = spec.and_then(|spec| spec.node_name.as_ref()).filter(|name| !name.is_empty()) {
            return Self::Assigned(node.clone());
        }
        let gated =
            spec.and_then(|spec| spec.scheduling_gates.as_ref()).is_some_and(|gates| !gates.is_empty());
        let scheduler = spec.and_then(|spec| spec.scheduler_name.as_deref()).unwrap_or(SCHEDULER_NAME);
        let deleting = pod.metadata.deletion_timestamp.is_some();
        if gated || deleting || scheduler != SCHEDULER_NAME { Self::NotEligible } else { Self::Pending }
    }
}
