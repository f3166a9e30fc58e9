//! Topology spread constraints with `whenUnsatisfiable: DoNotSchedule`.

use std::collections::BTreeMap;

use gantry_model::{Labels, Requirement, Selector};
use k8s_openapi::api::core::v1 as wire;

use super::cluster_state::ClusterState;
use super::fit_error::NodeRejection;
use super::inter_pod_affinity::{PodTerms, parse_selector};
use super::{Node, PodInfo};

/// A limit to the difference between the numbers of matching pods in the domains of a topology key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpreadConstraint {
    topology_key: String,
    max_skew: i64,
    min_domains: usize,
    selector: Option<Selector>,
    node_affinity_policy: NodeInclusionPolicy,
    node_taints_policy: NodeInclusionPolicy,
}

/// Whether nodes to which the pod cannot be assigned are left out of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeInclusionPolicy {
    Honor,
    Ignore,
}

/// The matching pods in each domain, computed once before nodes are filtered.
#[derive(Debug)]
pub(super) struct DomainCounts<'a> {
    constraint: &'a SpreadConstraint,
    domains: BTreeMap<&'a str, i64>,
    minimum: i64,
    /// One if the constraint's selector matches the pod itself.
    own: i64,
}

impl SpreadConstraint {
    pub(super) fn parse_all(pod: &wire::Pod) -> Vec<Self> {
        let spec = pod.spec.as_ref();
        let written = spec.and_then(|spec| spec.topology_spread_constraints.as_ref()).into_iter().flatten();
        let labels = pod.metadata.labels.clone().unwrap_or_default();
        let hard = written.filter(|constraint| constraint.when_unsatisfiable == "DoNotSchedule");
        hard.map(|constraint| Self::parse(constraint, &labels)).collect()
    }

    fn parse(constraint: &wire::TopologySpreadConstraint, labels: &Labels) -> Self {
        let policy = |written: &Option<String>, default| match written.as_deref() {
            Some("Honor") => NodeInclusionPolicy::Honor,
            Some("Ignore") => NodeInclusionPolicy::Ignore,
            _ => default,
        };
        let keys = constraint.match_label_keys.iter().flatten();
        let matched = keys.filter_map(|key| labels.get_key_value(key));
        let requirements =
            matched.map(|(key, value)| Requirement::Equals(key.clone(), value.clone())).collect();
        let selector = constraint.label_selector.as_ref().and_then(parse_selector);
        Self {
            topology_key: constraint.topology_key.clone(),
            max_skew: constraint.max_skew.into(),
            min_domains: constraint.min_domains.and_then(|least| usize::try_from(least).ok()).unwrap_or(1),
            selector: selector.map(|selector| narrow(selector, requirements)),
            node_affinity_policy: policy(&constraint.node_affinity_policy, NodeInclusionPolicy::Honor),
            node_taints_policy: policy(&constraint.node_taints_policy, NodeInclusionPolicy::Ignore),
        }
    }

    fn matches(&self, other: &PodTerms, pod: &PodInfo) -> bool {
        other.namespace == pod.terms.namespace
            && self.selector.as_ref().is_some_and(|selector| selector.matches(&other.labels))
    }

    /// Whether pods on the node count: it has all topology labels, and the policies do not exclude it.
    fn includes(&self, node: &Node, pod: &PodInfo) -> bool {
        let affinity =
            self.node_affinity_policy == NodeInclusionPolicy::Ignore || pod.node_affinity.allows(node);
        let tolerated =
            || !node.taints.iter().any(|taint| taint.is_hard() && !taint.is_tolerated(&pod.tolerations));
        let labelled = pod
            .spread_constraints
            .iter()
            .all(|constraint| node.labels.contains_key(&constraint.topology_key));
        labelled && affinity && (self.node_taints_policy == NodeInclusionPolicy::Ignore || tolerated())
    }
}

impl<'a> DomainCounts<'a> {
    pub(super) fn of(constraint: &'a SpreadConstraint, cluster: &'a ClusterState, pod: &PodInfo) -> Self {
        let mut domains: BTreeMap<&str, i64> = BTreeMap::new();
        let nodes = cluster.nodes().map(|info| &info.node);
        for node in nodes.filter(|node| constraint.includes(node, pod)) {
            domains.entry(&node.labels[&constraint.topology_key]).or_default();
        }
        for (existing, node) in cluster.assigned_pods() {
            if !existing.deleting && constraint.matches(existing, pod) && constraint.includes(node, pod) {
                *domains.entry(&node.labels[&constraint.topology_key]).or_default() += 1;
            }
        }
        let enough = domains.len() >= constraint.min_domains;
        let minimum = if enough { domains.values().min().copied().unwrap_or(0) } else { 0 };
        let own = i64::from(constraint.matches(&pod.terms, pod));
        Self { constraint, domains, minimum, own }
    }

    pub(super) fn rejection(&self, node: &Node) -> Option<NodeRejection> {
        let Some(domain) = node.labels.get(&self.constraint.topology_key) else {
            return Some(NodeRejection::TopologyLabelMissing);
        };
        let matching = self.domains.get(domain.as_str()).copied().unwrap_or(0);
        (matching + self.own - self.minimum > self.constraint.max_skew).then_some(NodeRejection::SkewExceeded)
    }
}

fn narrow(selector: Selector, more: Vec<Requirement>) -> Selector {
    match selector {
        selector if more.is_empty() => selector,
        Selector::Everything => Selector::All(more),
        Selector::All(mut all) => {
            all.extend(more);
            Selector::All(all)
        }
    }
}
