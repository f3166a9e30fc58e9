//! StatefulSets.

use super::Strategy;
use crate::defaults;
use crate::lifecycle::disabled_fields;
use crate::table::{Rows, workloads};
use crate::validation::error_list::number;
use crate::validation::status::{Counters, counters, not_decremented};
use crate::validation::{warnings, workload};

const COUNTERS: Counters = Counters {
    counted: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    at_most_replicas: &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::workload::stateful_set,
    prepare: |_, old, new| disabled_fields::drop(old, new, disabled_fields::pod_template),
    validate: |errors, _, old, new| match old {
        None => workload::new_stateful_set(errors, new),
        Some(old) => {
            workload::stateful_set(errors, new);
            workload::stateful_set_changes(errors, old, new);
        }
    },
    validate_status: |errors, _, old, new| {
        counters(errors, &new["status"], &COUNTERS);
        not_decremented(errors, &old["status"], &new["status"]);
    },
    warnings: |warnings, old, new| {
        warnings::template(warnings, old, new);
        if number(&new["spec"], "revisionHistoryLimit").is_some_and(|limit| limit < 0) {
            let why = "a negative value retains all historical revisions; a value >= 0 is recommended";
            warnings.push(format!("spec.revisionHistoryLimit: {why}"));
        }
    },
    rows: Rows::new(workloads::STATEFUL_SET, workloads::stateful_set),
    ..Strategy::DEFAULT
};
