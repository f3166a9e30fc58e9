//! The parts of a node that scheduling reads.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as wire;

use super::resources::ResourceList;
use super::taints::{Effect, NOT_READY, Taint, UNREACHABLE};

/// A node, parsed for scheduling.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    /// `spec.unschedulable`.
    pub(super) cordoned: bool,
    pub(super) allocatable: ResourceList,
}

impl Node {
    /// Parses a node.
    ///
    /// A node that does not report `Ready` counts as tainted even before the node lifecycle controller adds the
    /// taint.
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
            cordoned,
            allocatable: ResourceList::parse(status.and_then(|status| status.allocatable.as_ref())),
        }
    }

    /// `metadata.name`.
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
