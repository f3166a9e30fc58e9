//! Computes the expected number of pods of a budget, and how many of them must be healthy.

use std::collections::BTreeMap;

use gantry_model::{BudgetRequirement, InvalidLimit, Limit, Pod, Replicas, Uid};

use super::scale::Scale;
use crate::share::round_up;

/// The expected pods of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// How many pods there should be.
    pub(super) pods: Replicas,
    /// How many of them have to be healthy.
    pub(super) desired: Replicas,
    /// Whether a pod without a controller was left out of the count.
    pub(super) has_unmanaged: bool,
}

/// Whether the scales of the pods' controllers are needed. Only a fixed `minAvailable` works without.
pub(super) fn needs_scale(requirement: &BudgetRequirement) -> bool {
    match requirement {
        BudgetRequirement::MaxUnavailable(_) | BudgetRequirement::MinAvailable(Ok(Limit::Percent(_))) => true,
        BudgetRequirement::MinAvailable(_) | BudgetRequirement::Unset => false,
    }
}

/// Counts the expected pods, or returns why they cannot be counted.
pub(super) fn expected(
    requirement: &BudgetRequirement,
    pods: &[&Pod],
    scales: &BTreeMap<Uid, Scale>,
) -> Result<Expected, String> {
    let unreadable = |invalid: &InvalidLimit| invalid.to_string();
    let (limit, is_minimum) = match requirement {
        BudgetRequirement::Unset => {
            return Ok(Expected { pods: Replicas::ZERO, desired: Replicas::ZERO, has_unmanaged: false });
        }
        BudgetRequirement::MinAvailable(limit) => (*limit.as_ref().map_err(unreadable)?, true),
        BudgetRequirement::MaxUnavailable(limit) => (*limit.as_ref().map_err(unreadable)?, false),
    };
    if !needs_scale(requirement) {
        let desired = Replicas::nearest(round_up(limit, 0));
        return Ok(Expected { pods: Replicas::of(pods.len()), desired, has_unmanaged: false });
    }
    let (total, has_unmanaged) = total(pods, scales)?;
    let share = round_up(limit, total);
    let desired = if is_minimum { share } else { total - share };
    Ok(Expected { pods: Replicas::nearest(total), desired: Replicas::nearest(desired), has_unmanaged })
}

/// The sum of the scales of all controllers, each counted once, and whether a pod has no controller.
fn total(pods: &[&Pod], scales: &BTreeMap<Uid, Scale>) -> Result<(i64, bool), String> {
    let mut counted: BTreeMap<&Uid, i64> = BTreeMap::new();
    let mut has_unmanaged = false;
    for pod in pods {
        let Some(owner) = pod.meta.controller() else {
            has_unmanaged = true;
            continue;
        };
        match scales.get(&owner.uid) {
            Some(Scale::Known { controller, replicas }) => {
                counted.insert(controller, replicas.get());
            }
            Some(Scale::Failed(why)) => return Err(why.clone()),
            Some(Scale::Missing) | None => {
                return Err(format!("found no controllers for pod {:?}", pod.meta.name.as_str()));
            }
        }
    }
    Ok((counted.values().sum(), has_unmanaged))
}
