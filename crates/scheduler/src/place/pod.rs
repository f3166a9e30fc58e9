//! A pod as the decision sees it.

use k8s_openapi::api::core::v1 as wire;

use super::SCHEDULER_NAME;
use super::affinity::Wishes;
use super::company::{Company, Person};
use super::ports::HostPort;
use super::resources::Demand;
use super::taints::Toleration;
use super::volumes::Needed;

/// A pod: what it needs, wants and does not mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    pub(super) uid: String,
    pub(super) namespace: String,
    /// The claims it makes on persistent volumes.
    pub(super) claims: Vec<Needed>,
    pub(super) demand: Demand,
    pub(super) ports: Vec<HostPort>,
    pub(super) wishes: Wishes,
    pub(super) tolerations: Vec<Toleration>,
    /// The uid of the controller, by which replicas know each other.
    pub(super) controller: Option<String>,
    pub(super) person: Person,
    pub(super) company: Company,
    priority: i32,
    preempts: bool,
}

/// What the scheduler has to do with a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits to be placed, by us.
    Pending,
    /// It has a node, and takes room there.
    Placed(String),
    /// It is over, and takes no room.
    Finished,
    /// Something else comes first: a gate, another scheduler, its own deletion.
    NotYet,
}

impl Pod {
    /// Reads a pod.
    pub fn parse(pod: &wire::Pod) -> Self {
        let fallback = wire::PodSpec::default();
        let spec = pod.spec.as_ref().unwrap_or(&fallback);
        let owners = pod.metadata.owner_references.iter().flatten();
        let tolerations = spec.tolerations.iter().flatten();
        Self {
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            namespace: pod.metadata.namespace.clone().unwrap_or_default(),
            claims: Needed::parse(pod, spec),
            demand: Demand::parse(spec),
            ports: HostPort::parse_all(spec),
            wishes: Wishes::parse(spec),
            tolerations: tolerations.map(Toleration::parse).collect(),
            controller: owners.filter(|owner| owner.controller == Some(true)).map(|o| o.uid.clone()).next(),
            person: Person::parse(pod),
            company: Company::parse(pod),
            priority: spec.priority.unwrap_or(0),
            preempts: spec.preemption_policy.as_deref() != Some("Never"),
        }
    }

    /// Its identity.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The more, the earlier it is placed.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// Whether it may displace others, which decides how its failure is worded.
    pub(super) fn preempts(&self) -> bool {
        self.preempts
    }
}

impl Standing {
    /// What the scheduler has to do with this pod.
    pub fn of(pod: &wire::Pod) -> Self {
        let spec = pod.spec.as_ref();
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        if matches!(phase, Some("Succeeded" | "Failed")) {
            return Self::Finished;
        }
        if let Some(node) = spec.and_then(|spec| spec.node_name.as_ref()).filter(|name| !name.is_empty()) {
            return Self::Placed(node.clone());
        }
        let gated =
            spec.and_then(|spec| spec.scheduling_gates.as_ref()).is_some_and(|gates| !gates.is_empty());
        let scheduler = spec.and_then(|spec| spec.scheduler_name.as_deref()).unwrap_or(SCHEDULER_NAME);
        let deleting = pod.metadata.deletion_timestamp.is_some();
        if gated || deleting || scheduler != SCHEDULER_NAME { Self::NotYet } else { Self::Pending }
    }
}
