//! The status of a budget, with the condition that says whether a pod may be evicted.

use std::collections::BTreeMap;

use gantry_model::{
    BudgetCondition, ConditionStatus, DisruptionBudget, DisruptionBudgetStatus, Name, Replicas, Timestamp,
};

use super::expected::Expected;

const DISRUPTION_ALLOWED: &str = "DisruptionAllowed";

/// The status after a count.
pub(super) fn counted(
    now: Timestamp,
    budget: &DisruptionBudget,
    expected: &Expected,
    healthy: Replicas,
    disrupted: BTreeMap<Name, Timestamp>,
) -> DisruptionBudgetStatus {
    // A budget that selects nothing allows nothing: its first pods may appear before they are counted.
    let allowed = if expected.pods.is_zero() { 0 } else { healthy.get() - expected.desired.get() };
    let allowed = Replicas::nearest(allowed);
    let mut status = DisruptionBudgetStatus {
        observed_generation: budget.meta.generation,
        disrupted,
        disruptions_allowed: allowed,
        current_healthy: healthy,
        desired_healthy: expected.desired,
        expected: expected.pods,
        conditions: budget.status.conditions.clone(),
    };
    let (holds, reason) = if allowed.is_zero() {
        (ConditionStatus::False, "InsufficientPods")
    } else {
        (ConditionStatus::True, "SufficientPods")
    };
    set_condition(&mut status, now, holds, reason, "");
    status
}

/// The status if the pods cannot be counted. `observedGeneration` stays.
pub(super) fn failed(now: Timestamp, budget: &DisruptionBudget, why: &str) -> DisruptionBudgetStatus {
    let mut status = DisruptionBudgetStatus { disruptions_allowed: Replicas::ZERO, ..budget.status.clone() };
    set_condition(&mut status, now, ConditionStatus::False, "SyncFailed", why);
    status
}

/// Sets the one condition. Its time is that of the last change of its status.
fn set_condition(
    status: &mut DisruptionBudgetStatus,
    now: Timestamp,
    holds: ConditionStatus,
    reason: &str,
    message: &str,
) {
    let is_ours = |condition: &&mut BudgetCondition| condition.condition_type == DISRUPTION_ALLOWED;
    let known = status.conditions.iter_mut().find(is_ours);
    let since = known.as_ref().filter(|known| known.status == holds).and_then(|known| known.last_transition);
    let condition = BudgetCondition {
        condition_type: DISRUPTION_ALLOWED.to_owned(),
        status: holds,
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: status.observed_generation,
        last_transition: Some(since.unwrap_or(now.to_whole_seconds())),
    };
    match known {
        Some(known) => *known = condition,
        None => status.conditions.push(condition),
    }
}
