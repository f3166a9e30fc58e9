//! Which nodes a pod wants, by their labels and names.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as wire;

use super::Node;

/// What a pod says about nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wishes {
    /// `nodeSelector`: labels that the node must have.
    selector: BTreeMap<String, String>,
    /// Required affinity. `None` asks for nothing.
    required: Option<Places>,
    /// Preferred affinity: terms with their weights.
    preferred: Vec<(i64, Term)>,
}

/// The nodes that a selector selects.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Places(Vec<Term>);

impl Places {
    pub(super) fn parse(selector: &wire::NodeSelector) -> Self {
        Self(selector.node_selector_terms.iter().map(Term::parse).collect())
    }

    pub(super) fn include(&self, node: &Node) -> bool {
        self.0.iter().any(|term| term.holds(node))
    }
}

/// Conditions that hold together; a term without any holds nowhere.
#[derive(Clone, Debug, Default, PartialEq)]
struct Term {
    labels: Vec<Condition>,
    fields: Vec<Condition>,
}

/// One condition on a label, or on `metadata.name`.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    key: String,
    test: Test,
}

/// How a value is looked at.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
    /// An operator that nobody knows, or a bound that is no number.
    Never,
}

impl Wishes {
    pub(super) fn parse(spec: &wire::PodSpec) -> Self {
        let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
        let required =
            affinity.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
        let preferred =
            affinity.and_then(|node| node.preferred_during_scheduling_ignored_during_execution.as_ref());
        let preferred = preferred.into_iter().flatten();
        Self {
            selector: spec.node_selector.clone().unwrap_or_default(),
            required: required.map(Places::parse),
            preferred: preferred.map(|term| (term.weight.into(), Term::parse(&term.preference))).collect(),
        }
    }

    /// Whether the pod may go there.
    pub(super) fn allow(&self, node: &Node) -> bool {
        self.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && self.required.as_ref().is_none_or(|places| places.include(node))
    }

    /// Whether the pod names the nodes it may go to, and this is none of them.
    ///
    /// Such nodes are not even looked at, and are reported in other words than those that were.
    pub(super) fn rule_out_by_name(&self, node: &Node) -> bool {
        let Some(Places(terms)) = self.required.as_ref().filter(|places| !places.0.is_empty()) else {
            return false;
        };
        terms.iter().all(|term| {
            let mut names = term.fields.iter().filter_map(Condition::names);
            names.clone().next().is_some() && !names.all(|names| names.contains(&node.name))
        })
    }

    /// How much the pod would like it there.
    pub(super) fn preference(&self, node: &Node) -> i64 {
        self.preferred.iter().filter(|(_, term)| term.holds(node)).map(|(weight, _)| weight).sum()
    }
}

impl Term {
    fn parse(term: &wire::NodeSelectorTerm) -> Self {
        let conditions = |written: &Option<Vec<wire::NodeSelectorRequirement>>| {
            written.iter().flatten().map(Condition::parse).collect()
        };
        Self { labels: conditions(&term.match_expressions), fields: conditions(&term.match_fields) }
    }

    fn holds(&self, node: &Node) -> bool {
        let anything = !(self.labels.is_empty() && self.fields.is_empty());
        let label = |condition: &Condition| node.labels.get(&condition.key).map(String::as_str);
        let field = |condition: &Condition| (condition.key == "metadata.name").then_some(node.name.as_str());
        anything
            && self.labels.iter().all(|condition| condition.test.passes(label(condition)))
            && self.fields.iter().all(|condition| condition.test.passes(field(condition)))
    }
}

impl Condition {
    fn parse(written: &wire::NodeSelectorRequirement) -> Self {
        let values = written.values.clone().unwrap_or_default();
        let bound = || values.first().and_then(|value| value.parse().ok());
        let test = match written.operator.as_str() {
            "In" => Test::In(values),
            "NotIn" => Test::NotIn(values),
            "Exists" => Test::Exists,
            "DoesNotExist" => Test::Absent,
            "Gt" => bound().map_or(Test::Never, Test::Greater),
            "Lt" => bound().map_or(Test::Never, Test::Less),
            _ => Test::Never,
        };
        Self { key: written.key.clone(), test }
    }

    /// The node names this condition lists.
    fn names(&self) -> Option<&[String]> {
        match &self.test {
            Test::In(names) if self.key == "metadata.name" => Some(names),
            _ => None,
        }
    }
}

impl Test {
    fn passes(&self, value: Option<&str>) -> bool {
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
