//! ReplicaSets.

use super::Strategy;
use crate::defaults;
use crate::lifecycle::disabled_fields;
use crate::table::{Rows, workloads};
use crate::validation::status::{Counters, counters};
use crate::validation::{deployment, warnings, workload};

const COUNTERS: Counters = Counters {
    counted: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    ],
    at_most_replicas: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::workload::replica_set,
    prepare: |_, old, new| disabled_fields::drop(old, new, disabled_fields::pod_template),
    validate: |errors, _, old, new| {
        deployment::replica_set(errors, new);
        if let Some(old) = old {
            workload::keeps_selector(errors, &old["spec"], &new["spec"]);
        }
    },
    validate_status: |errors, _, _, new| counters(errors, &new["status"], &COUNTERS),
    warnings: |warnings, old, new| {
        if old.is_none() {
            warnings::name(warnings, new, "Pod names and hostnames");
        }
        warnings::template(warnings, old, new);
    },
    rows: Rows::new(workloads::REPLICA_SET, workloads::replica_set),
    ..Strategy::DEFAULT
};
