//! A PodDisruptionBudget as the rules need it.

use std::collections::BTreeMap;

use k8s_openapi::api::policy::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use crate::{
    ConditionStatus, InvalidLimit, InvalidSelector, Limit, Meta, Name, ParseError, Replicas, Selector,
    Timestamp,
};

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq)]
pub struct DisruptionBudget {
    /// Its metadata.
    pub meta: Meta,
    /// Selects the protected pods; without a selector no pods are protected.
    pub selector: Option<Result<Selector, InvalidSelector>>,
    /// How many of them have to be healthy.
    pub requirement: BudgetRequirement,
    /// The stored status.
    pub status: DisruptionBudgetStatus,
}

/// How many pods have to be healthy, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetRequirement {
    /// `minAvailable`: this many.
    MinAvailable(Result<Limit, InvalidLimit>),
    /// `maxUnavailable`: all but this many.
    MaxUnavailable(Result<Limit, InvalidLimit>),
    /// Neither field is set.
    Unset,
}

/// The status of a PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisruptionBudgetStatus {
    /// The generation that this status is about.
    pub observed_generation: i64,
    /// Pods whose eviction was allowed and that are not deleted yet, and when it was allowed.
    pub disrupted: BTreeMap<Name, Timestamp>,
    /// How many pods may be evicted now.
    pub disruptions_allowed: Replicas,
    /// How many pods are healthy.
    pub current_healthy: Replicas,
    /// How many pods have to be healthy.
    pub desired_healthy: Replicas,
    /// How many pods the budget counts.
    pub expected: Replicas,
    /// The conditions, in the order in which they were found.
    pub conditions: Vec<BudgetCondition>,
}

/// One condition of a PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetCondition {
    /// Its type.
    pub condition_type: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One word in camel case.
    pub reason: String,
    /// A message.
    pub message: String,
    /// The generation that it is about.
    pub observed_generation: i64,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

impl DisruptionBudget {
    /// Parses a PodDisruptionBudget.
    pub fn parse(budget: wire::PodDisruptionBudget) -> Result<Self, ParseError> {
        let spec = budget.spec.unwrap_or_default();
        let requirement = match (&spec.max_unavailable, &spec.min_available) {
            (Some(limit), _) => BudgetRequirement::MaxUnavailable(Limit::parse(Some(limit))),
            (None, Some(limit)) => BudgetRequirement::MinAvailable(Limit::parse(Some(limit))),
            (None, None) => BudgetRequirement::Unset,
        };
        Ok(Self {
            meta: Meta::parse(budget.metadata)?,
            selector: spec.selector.map(Selector::parse),
            requirement,
            status: DisruptionBudgetStatus::parse(budget.status.unwrap_or_default()),
        })
    }

    /// Whether it protects pods with these labels.
    pub fn selects(&self, labels: &crate::Labels) -> bool {
        matches!(&self.selector, Some(Ok(selector)) if selector.matches(labels))
    }
}

impl DisruptionBudgetStatus {
    /// Parses a status.
    pub fn parse(status: wire::PodDisruptionBudgetStatus) -> Self {
        let disrupted = status.disrupted_pods.unwrap_or_default().into_iter();
        Self {
            observed_generation: status.observed_generation.unwrap_or(0),
            disrupted: disrupted.map(|(pod, at)| (pod.into(), Timestamp::parse(&at))).collect(),
            disruptions_allowed: Replicas::parse(status.disruptions_allowed),
            current_healthy: Replicas::parse(status.current_healthy),
            desired_healthy: Replicas::parse(status.desired_healthy),
            expected: Replicas::parse(status.expected_pods),
            conditions: status.conditions.into_iter().flatten().map(BudgetCondition::parse).collect(),
        }
    }

    /// The status in its wire format.
    pub fn render(&self) -> wire::PodDisruptionBudgetStatus {
        let disrupted = self.disrupted.iter().map(|(pod, at)| (pod.to_string(), at.render()));
        wire::PodDisruptionBudgetStatus {
            observed_generation: nonzero(self.observed_generation),
            disrupted_pods: (!self.disrupted.is_empty()).then(|| disrupted.collect()),
            disruptions_allowed: Some(self.disruptions_allowed.render()),
            current_healthy: Some(self.current_healthy.render()),
            desired_healthy: Some(self.desired_healthy.render()),
            expected_pods: Some(self.expected.render()),
            conditions: Some(self.conditions.iter().map(BudgetCondition::render).collect()),
        }
    }
}

impl BudgetCondition {
    fn parse(condition: Condition) -> Self {
        Self {
            condition_type: condition.type_,
            status: condition.status.into(),
            reason: condition.reason,
            message: condition.message,
            observed_generation: condition.observed_generation.unwrap_or(0),
            last_transition: Some(Timestamp::parse(&condition.last_transition_time)),
        }
    }

    fn render(&self) -> Condition {
        Condition {
            type_: self.condition_type.clone(),
            status: self.status.as_str().to_owned(),
            reason: self.reason.clone(),
            message: self.message.clone(),
            observed_generation: nonzero(self.observed_generation),
            last_transition_time: self.last_transition.unwrap_or(Timestamp::EPOCH).render(),
        }
    }
}

/// Returns `None` for zero: the field is then omitted.
fn nonzero(generation: i64) -> Option<i64> {
    (generation != 0).then_some(generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(budget: gantry_json::Value) -> DisruptionBudget {
        DisruptionBudget::parse(gantry_json::from_value(budget).unwrap()).unwrap()
    }

    #[test]
    fn a_budget_without_a_selector_protects_no_pod_and_an_empty_selector_protects_all() {
        let meta = gantry_json::json!({"name": "b", "namespace": "n", "uid": "u"});
        let labels = crate::Labels::from([("app".to_owned(), "web".to_owned())]);
        let none = read(gantry_json::json!({"metadata": meta, "spec": {"minAvailable": 1}}));
        let all =
            read(gantry_json::json!({"metadata": meta, "spec": {"selector": {}, "maxUnavailable": "50%"}}));
        assert!(!none.selects(&labels));
        assert!(all.selects(&labels));
        assert_eq!(none.requirement, BudgetRequirement::MinAvailable(Ok(Limit::Count(1))));
        assert_eq!(all.requirement, BudgetRequirement::MaxUnavailable(Ok(Limit::Percent(50))));
    }

    #[test]
    fn a_status_is_encoded_as_it_was_decoded() {
        let status = DisruptionBudgetStatus {
            observed_generation: 3,
            disrupted: [("web-1".into(), Timestamp::from_secs(7))].into(),
            disruptions_allowed: Replicas::from(1),
            current_healthy: Replicas::from(3),
            desired_healthy: Replicas::from(2),
            expected: Replicas::from(4),
            conditions: vec![BudgetCondition {
                condition_type: "DisruptionAllowed".to_owned(),
                status: ConditionStatus::True,
                reason: "SufficientPods".to_owned(),
                message: String::new(),
                observed_generation: 3,
                last_transition: Some(Timestamp::from_secs(5)),
            }],
        };
        assert_eq!(DisruptionBudgetStatus::parse(status.render()), status);
    }
}
