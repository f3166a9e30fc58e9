//! Node selectors and node affinity.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as wire;

use super::Node;

/// `nodeSelector` and `nodeAffinity` of a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeAffinity {
    /// Labels that the node must have.
    selector: BTreeMap<String, String>,
    required: Option<NodeSelector>,
    /// Terms with their weights.
    preferred: Vec<(i64, NodeSelectorTerm)>,
}

/// Terms of which one has to match.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeSelector(Vec<NodeSelectorTerm>);

impl NodeSelector {
    pub(super) fn parse(selector: &wire::NodeSelector) -> Self {
        Self(selector.node_selector_terms.iter().map(NodeSelectorTerm::parse).collect())
    }

    pub(super) fn matches(&self, node: &Node) -> bool {
        self.0.iter().any(|term| term.matches(node))
    }
}

/// Requirements that all have to hold; a term without any matches no node.
#[derive(Clone, Debug, Default, PartialEq)]
struct NodeSelectorTerm {
    labels: Vec<NodeRequirement>,
    fields: Vec<NodeRequirement>,
}

/// A requirement on a label, or on `metadata.name`.
#[derive(Clone, Debug, PartialEq)]
struct NodeRequirement {
    key: String,
    predicate: Predicate,
}

/// The operator of a requirement, with its values.
#[derive(Clone, Debug, PartialEq)]
enum Predicate {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
    /// An unknown operator, or a bound that is not a number.
    Never,
}

impl NodeAffinity {
    pub(super) fn parse(spec: &wire::PodSpec) -> Self {
        let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
        let required =
            affinity.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
        let preferred =
            affinity.and_then(|node| node.preferred_during_scheduling_ignored_during_execution.as_ref());
        let preferred = preferred.into_iter().flatten();
        Self {
            selector: spec.node_selector.clone().unwrap_or_default(),
            required: required.map(NodeSelector::parse),
            preferred: preferred
                .map(|term| (term.weight.into(), NodeSelectorTerm::parse(&term.preference)))
                .collect(),
        }
    }

    /// Whether `nodeSelector` and the required terms match the node.
    pub(super) fn allows(&self, node: &Node) -> bool {
        self.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && self.required.as_ref().is_none_or(|selector| selector.matches(node))
    }

    /// Whether the pod lists node names by `matchFields`, and this node is not among them.
    ///
    /// kube-scheduler skips such nodes before filtering, and reports them with another message.
    pub(super) fn excludes_by_name(&self, node: &Node) -> bool {
        let Some(NodeSelector(terms)) = self.required.as_ref().filter(|selector| !selector.0.is_empty())
        else {
            return false;
        };
        terms.iter().all(|term| {
            let mut names = term.fields.iter().filter_map(NodeRequirement::names);
            names.clone().next().is_some() && !names.all(|names| names.contains(&node.name))
        })
    }

    /// The sum of the weights of matching preferred terms.
    pub(super) fn preference(&self, node: &Node) -> i64 {
        self.preferred.iter().filter(|(_, term)| term.matches(node)).map(|(weight, _)| weight).sum()
    }
}

impl NodeSelectorTerm {
    fn parse(term: &wire::NodeSelectorTerm) -> Self {
        let requirements = |written: &Option<Vec<wire::NodeSelectorRequirement>>| {
            written.iter().flatten().map(NodeRequirement::parse).collect()
        };
        Self { labels: requirements(&term.match_expressions), fields: requirements(&term.match_fields) }
    }

    fn matches(&self, node: &Node) -> bool {
        let nonempty = !(self.labels.is_empty() && self.fields.is_empty());
        let label = |requirement: &NodeRequirement| node.labels.get(&requirement.key).map(String::as_str);
        let field = |requirement: &NodeRequirement| {
            (requirement.key == "metadata.name").then_some(node.name.as_str())
        };
        nonempty
            && self.labels.iter().all(|requirement| requirement.predicate.holds(label(requirement)))
            && self.fields.iter().all(|requirement| requirement.predicate.holds(field(requirement)))
    }
}

impl NodeRequirement {
    fn parse(written: &wire::NodeSelectorRequirement) -> Self {
        let values = written.values.clone().unwrap_or_default();
        let bound = || values.first().and_then(|value| value.parse().ok());
        let predicate = match written.operator.as_str() {
            "In" => Predicate::In(values),
            "NotIn" => Predicate::NotIn(values),
            "Exists" => Predicate::Exists,
            "DoesNotExist" => Predicate::Absent,
            "Gt" => bound().map_or(Predicate::Never, Predicate::Greater),
            "Lt" => bound().map_or(Predicate::Never, Predicate::Less),
            _ => Predicate::Never,
        };
        Self { key: written.key.clone(), predicate }
    }

    /// The node names this requirement lists.
    fn names(&self) -> Option<&[String]> {
        match &self.predicate {
            Predicate::In(names) if self.key == "metadata.name" => Some(names),
            _ => None,
        }
    }
}

impl Predicate {
    fn holds(&self, value: Option<&str>) -> bool {
        let listed = |values: &[String]| value.is_some_and(|value| values.iter().any(|other| other == value));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => listed(values),
            Self::NotIn(values) => !listed(values),
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::Greater(bound) => number().is_some_and(|number| number > *bound),
            Self::Less(bound) => number().is_some_and(|number| number < *bound),
            Self::Never => false,
        }
    }
}
