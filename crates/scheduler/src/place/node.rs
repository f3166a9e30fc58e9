//! A node as the decision sees it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as wire;

use super::resources::Amounts;
use super::taints::{Effect, NOT_READY, Taint, UNREACHABLE};

/// A node: what it offers and what it has against pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    pub(super) intake: Intake,
    pub(super) allocatable: Amounts,
}

/// Whether a node takes new pods at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intake {
    Open,
    /// `spec.unschedulable`, as `kubectl cordon` sets it.
    Cordoned,
}

impl Node {
    /// Reads a node.
    ///
    /// One that does not report to be ready counts as tainted so, whether or not somebody has written that down yet:
    /// between the node falling silent and the taint, no pod should go there.
    pub fn parse(node: &wire::Node) -> Self {
        let spec = node.spec.as_ref();
        let status = node.status.as_ref();
        let written = spec.and_then(|spec| spec.taints.as_ref());
        let mut taints: Vec<_> = written.into_iter().flatten().filter_map(Taint::parse).collect();
        taints.extend(readiness_taint(status));
        let cordoned = spec.and_then(|spec| spec.unschedulable).unwrap_or(false);
        Self {
            name: node.metadata.name.clone().unwrap_or_default(),
            labels: node.metadata.labels.clone().unwrap_or_default(),
            taints,
            intake: if cordoned { Intake::Cordoned } else { Intake::Open },
            allocatable: Amounts::parse(status.and_then(|status| status.allocatable.as_ref())),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn readiness_taint(status: Option<&wire::NodeStatus>) -> Option<Taint> {
    let conditions = status.and_then(|status| status.conditions.as_ref());
    let ready = conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready");
    let key = match ready.map(|condition| condition.status.as_str()) {
        Some("True") => return None,
        Some("Unknown") => UNREACHABLE,
        _ => NOT_READY,
    };
    Some(Taint::new(key, Effect::NoSchedule))
}
