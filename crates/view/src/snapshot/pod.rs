//! A pod, parsed for the rules and for display.

use gantry_model::{ParseError, Pod};
use k8s_openapi::api::core::v1 as wire;

use super::container::{self, Container};

const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// A pod with everything that may explain a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedPod {
    /// The part that the rules need.
    pub pod: Pod,
    /// Whether it has a node, and why not.
    pub scheduling: Scheduling,
    /// `spec.schedulerName`; empty for the default scheduler.
    pub scheduler: String,
    /// Its containers, init containers first.
    pub containers: Vec<Container>,
    /// Readiness gates without a true condition.
    pub missing_gates: Vec<String>,
    /// `status.reason`, such as `Evicted`.
    pub reason: Option<String>,
    /// `status.message`.
    pub message: Option<String>,
}

/// Whether a pod is scheduled, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// It has a node.
    Assigned,
    /// The scheduler has not reported anything yet.
    Awaited,
    /// The scheduler's message.
    Unschedulable(String),
    /// Its scheduling gates.
    Gated(Vec<String>),
}

impl ObservedPod {
    pub(super) fn parse(pod: &wire::Pod) -> Result<Self, ParseError> {
        let spec = pod.spec.clone().unwrap_or_default();
        let status = pod.status.clone().unwrap_or_default();
        Ok(Self {
            scheduling: Scheduling::parse(&spec, &status),
            scheduler: foreign_scheduler(&spec),
            containers: container::parse(&spec, &status),
            missing_gates: missing_gates(&spec, &status),
            reason: status.reason.filter(|reason| !reason.is_empty()),
            message: status.message.filter(|message| !message.is_empty()),
            pod: Pod::parse(pod)?,
        })
    }
}

impl Scheduling {
    fn parse(spec: &wire::PodSpec, status: &wire::PodStatus) -> Self {
        if spec.node_name.as_ref().is_some_and(|node| !node.is_empty()) {
            return Self::Assigned;
        }
        let gates: Vec<_> = spec.scheduling_gates.iter().flatten().map(|gate| gate.name.clone()).collect();
        if !gates.is_empty() {
            return Self::Gated(gates);
        }
        match condition(status, "PodScheduled") {
            Some(scheduled) if scheduled.status == "False" => {
                Self::Unschedulable(scheduled.message.clone().unwrap_or_default())
            }
            _ => Self::Awaited,
        }
    }
}

/// The name of a scheduler other than the default one.
fn foreign_scheduler(spec: &wire::PodSpec) -> String {
    spec.scheduler_name.clone().filter(|name| name != DEFAULT_SCHEDULER).unwrap_or_default()
}

fn missing_gates(spec: &wire::PodSpec, status: &wire::PodStatus) -> Vec<String> {
    let gates = spec.readiness_gates.iter().flatten().map(|gate| gate.condition_type.clone());
    gates.filter(|gate| condition(status, gate).is_none_or(|condition| condition.status != "True")).collect()
}

fn condition<'a>(status: &'a wire::PodStatus, condition_type: &str) -> Option<&'a wire::PodCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == condition_type)
}
