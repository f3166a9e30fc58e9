//! Label selectors.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

use crate::Labels;

/// A well-formed selector.
///
/// `k8s-openapi` parses a missing selector as an empty one, and the API refuses both, so there is no third case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// No requirements, so everything matches. Controllers refuse to act on it.
    Everything,
    /// All requirements hold.
    All(Vec<Requirement>),
}

/// A requirement on an object's labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The label has this value: an entry of `matchLabels`.
    Equals(String, String),
    /// The label has one of these values.
    In(String, Vec<String>),
    /// The label is absent or has another value.
    NotIn(String, Vec<String>),
    /// The label exists.
    Exists(String),
    /// The label is absent.
    DoesNotExist(String),
}

/// A selector that the API would have refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSelector {
    problem: String,
}

impl Selector {
    /// Parses a selector.
    pub fn parse(selector: LabelSelector) -> Result<Self, InvalidSelector> {
        let labels = selector.match_labels.unwrap_or_default().into_iter();
        let mut all: Vec<_> = labels.map(|(key, value)| Requirement::Equals(key, value)).collect();
        for expression in selector.match_expressions.unwrap_or_default() {
            all.push(Requirement::parse(expression)?);
        }
        Ok(if all.is_empty() { Self::Everything } else { Self::All(all) })
    }

    /// Returns the selector of objects with all of these labels.
    pub fn with_labels<const N: usize>(labels: [(&str, &str); N]) -> Self {
        let equals = |(key, value): (&str, &str)| Requirement::Equals(key.to_owned(), value.to_owned());
        Self::All(labels.map(equals).into())
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &Labels) -> bool {
        match self {
            Self::Everything => true,
            Self::All(requirements) => requirements.iter().all(|requirement| requirement.holds(labels)),
        }
    }

    /// Whether an orphan with these labels may be adopted.
    ///
    /// Stricter than [`matches`](Self::matches): an orphan without labels matches nothing, and a selector of
    /// everything matches no orphan.
    pub fn matches_orphan(&self, labels: &Labels) -> bool {
        !labels.is_empty() && *self != Self::Everything && self.matches(labels)
    }

    /// The selector with one more label, as a ReplicaSet has it.
    #[must_use]
    pub fn with_label(&self, key: &str, value: &str) -> Self {
        let mut all = match self {
            Self::Everything => Vec::new(),
            Self::All(requirements) => requirements.clone(),
        };
        all.retain(|requirement| !matches!(requirement, Requirement::Equals(label, _) if label == key));
        all.push(Requirement::Equals(key.to_owned(), value.to_owned()));
        Self::All(all)
    }

    /// The selector in its wire format.
    pub fn render(&self) -> LabelSelector {
        let requirements = match self {
            Self::Everything => &[][..],
            Self::All(requirements) => requirements,
        };
        let mut labels = BTreeMap::new();
        let mut expressions = Vec::new();
        for requirement in requirements {
            let (key, operator, values) = match requirement {
                Requirement::Equals(key, value) => {
                    labels.insert(key.clone(), value.clone());
                    continue;
                }
                Requirement::In(key, values) => (key, "In", values.as_slice()),
                Requirement::NotIn(key, values) => (key, "NotIn", values.as_slice()),
                Requirement::Exists(key) => (key, "Exists", &[][..]),
                Requirement::DoesNotExist(key) => (key, "DoesNotExist", &[][..]),
            };
            expressions.push(LabelSelectorRequirement {
                key: key.clone(),
                operator: operator.to_owned(),
                values: (!values.is_empty()).then(|| values.to_vec()),
            });
        }
        LabelSelector {
            match_labels: (!labels.is_empty()).then_some(labels),
            match_expressions: (!expressions.is_empty()).then_some(expressions),
        }
    }
}

impl Requirement {
    fn parse(expression: LabelSelectorRequirement) -> Result<Self, InvalidSelector> {
        let LabelSelectorRequirement { key, operator, values } = expression;
        let values = values.unwrap_or_default();
        let requirement = match operator.as_str() {
            "In" | "NotIn" if values.is_empty() => {
                return Err(InvalidSelector {
                    problem: format!(
                        "for 'in', 'notin' operators, values set can't be empty (label {key:?})"
                    ),
                });
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                return Err(InvalidSelector {
                    problem: format!(
                        "values set must be empty for exists and does not exist (label {key:?})"
                    ),
                });
            }
            "In" => Self::In(key, values),
            "NotIn" => Self::NotIn(key, values),
            "Exists" => Self::Exists(key),
            "DoesNotExist" => Self::DoesNotExist(key),
            other => {
                return Err(InvalidSelector {
                    problem: format!("{other:?} is not a valid label selector operator"),
                });
            }
        };
        Ok(requirement)
    }

    fn holds(&self, labels: &Labels) -> bool {
        match self {
            Self::Equals(key, value) => labels.get(key) == Some(value),
            Self::In(key, values) => labels.get(key).is_some_and(|value| values.contains(value)),
            Self::NotIn(key, values) => labels.get(key).is_none_or(|value| !values.contains(value)),
            Self::Exists(key) => labels.contains_key(key),
            Self::DoesNotExist(key) => !labels.contains_key(key),
        }
    }
}

impl fmt::Display for InvalidSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid label selector: {}", self.problem)
    }
}

impl std::error::Error for InvalidSelector {}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
        LabelSelector {
            match_labels: None,
            match_expressions: Some(vec![LabelSelectorRequirement {
                key: key.to_owned(),
                operator: operator.to_owned(),
                values: (!values.is_empty()).then(|| values.iter().map(|v| (*v).to_owned()).collect()),
            }]),
        }
    }

    #[test]
    fn every_operator_matches_as_it_reads() {
        let gold = labels(&[("tier", "gold")]);
        let none = labels(&[("app", "web")]);
        for (operator, values, on_gold, on_none) in [
            ("In", &["gold", "silver"][..], true, false),
            ("In", &["silver"], false, false),
            ("NotIn", &["gold"], false, true),
            ("NotIn", &["silver"], true, true),
            ("Exists", &[], true, false),
            ("DoesNotExist", &[], false, true),
        ] {
            let selector = Selector::parse(expression("tier", operator, values)).unwrap();
            assert_eq!(selector.matches(&gold), on_gold, "{operator} {values:?} on {gold:?}");
            assert_eq!(selector.matches(&none), on_none, "{operator} {values:?} on {none:?}");
        }
    }

    #[test]
    fn malformed_expressions_are_refused_with_their_label() {
        for (operator, values) in [("Foo", &["a"][..]), ("In", &[]), ("NotIn", &[]), ("Exists", &["a"])] {
            let error = Selector::parse(expression("tier", operator, values)).unwrap_err();
            assert!(error.to_string().starts_with("invalid label selector: "), "{error}");
        }
    }

    #[test]
    fn a_selector_survives_encoding() {
        let mut wire = expression("tier", "In", &["gold"]);
        wire.match_labels = Some(labels(&[("app", "web")]));
        let selector = Selector::parse(wire.clone()).unwrap();
        assert_eq!(selector.render(), wire);
        let hashed = selector.with_label("app", "other").render();
        assert_eq!(hashed.match_labels, Some(labels(&[("app", "other")])), "one value per label");
        assert_eq!(hashed.match_expressions, wire.match_expressions);
    }

    #[test]
    fn an_empty_selector_matches_everything_but_no_orphan() {
        let everything = Selector::parse(LabelSelector::default()).unwrap();
        assert_eq!(everything, Selector::Everything);
        assert!(everything.matches(&labels(&[("app", "web")])));
        assert!(!everything.matches_orphan(&labels(&[("app", "web")])));
        let absent = Selector::parse(expression("tier", "DoesNotExist", &[])).unwrap();
        assert!(absent.matches(&labels(&[])));
        assert!(!absent.matches_orphan(&labels(&[])), "an orphan without labels matches nothing");
    }
}
