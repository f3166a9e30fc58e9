//! DaemonSets.

use super::Strategy;
use crate::admission::daemon_sets;
use crate::defaults;
use crate::lifecycle::disabled_fields;
use crate::table::{Rows, workloads};
use crate::validation::status::{not_decremented, not_negative};
use crate::validation::{warnings, workload};

const COUNTERS: [&str; 9] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::workload::daemon_set,
    prepare: |_, old, new| disabled_fields::drop(old, new, disabled_fields::pod_template),
    admit: |old, new| daemon_sets::count_template(new, old),
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            workload::keeps_selector(errors, &old["spec"], &new["spec"]);
        }
        workload::daemon_set(errors, new);
    },
    validate_status: |errors, _, old, new| {
        not_negative(errors, &new["status"], &COUNTERS);
        not_decremented(errors, &old["status"], &new["status"]);
    },
    warnings: warnings::template,
    rows: Rows::new(workloads::DAEMON_SET, workloads::daemon_set),
    ..Strategy::DEFAULT
};
