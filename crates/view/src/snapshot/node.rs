//! The parts of a node that advice depends on.

use gantry_model::Name;
use k8s_openapi::api::core::v1 as wire;

/// The label of the nodes that `gantry up` simulates.
const SIMULATED_LABEL: &str = "sim.gantry.dev/simulated";
/// The annotation of KWOK's nodes, which do not run containers either.
const KWOK_ANNOTATION: &str = "kwok.x-k8s.io/node";
/// The prefix of a simulated node's container runtime version, where labels were changed.
const SIMULATED_RUNTIME: &str = "simulated://";

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNode {
    /// Its name.
    pub name: Name,
    /// `spec.unschedulable` (`kubectl cordon`).
    pub cordoned: bool,
    /// Its `Ready` condition.
    pub ready: bool,
    /// Whether it only simulates containers, so that there are no logs to read.
    pub simulated: bool,
}

impl ObservedNode {
    pub(super) fn parse(node: wire::Node) -> Self {
        Self {
            cordoned: node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or(false),
            ready: is_ready(&node),
            simulated: is_simulated(&node),
            name: super::name(node.metadata.name),
        }
    }
}

/// A node without the condition counts as not ready.
fn is_ready(node: &wire::Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().find(|condition| condition.type_ == "Ready").is_none_or(|ready| ready.status == "True")
}

fn is_simulated(node: &wire::Node) -> bool {
    let is_labelled = |key| {
        let labels = node.metadata.labels.as_ref();
        labels.and_then(|labels| labels.get(key)).is_some_and(|value| value == "true")
    };
    let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
    is_labelled(SIMULATED_LABEL)
        || info.is_some_and(|info| info.container_runtime_version.starts_with(SIMULATED_RUNTIME))
        || node.metadata.annotations.as_ref().is_some_and(|marks| marks.contains_key(KWOK_ANNOTATION))
}
