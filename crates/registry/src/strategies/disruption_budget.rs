//! PodDisruptionBudgets.

use super::Strategy;
use crate::table::{Rows, workloads};
use crate::validation::policy;
use crate::validation::status::not_negative;

const COUNTERS: [&str; 4] = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

pub(super) const STRATEGY: Strategy = Strategy {
    // The metadata of a new budget is validated only if its spec is valid.
    validate_first: |errors, old, new| {
        if old.is_none() {
            policy::disruption_budget(errors, new);
        }
    },
    validate: |errors, _, _, new| policy::disruption_budget(errors, new),
    validate_status: |errors, _, _, new| not_negative(errors, &new["status"], &COUNTERS),
    any_finalizers: true,
    rows: Rows::new(workloads::DISRUPTION_BUDGET, workloads::disruption_budget),
    ..Strategy::DEFAULT
};
