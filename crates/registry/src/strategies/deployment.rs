//! Deployments.

use super::{Strategy, replica_set};
use crate::defaults;
use crate::table::{Rows, workloads};
use crate::validation::status::{Counters, counters, not_decremented};
use crate::validation::{deployment, workload};

const COUNTERS: Counters = Counters {
    counted: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    at_most_replicas: &["updatedReplicas", "readyReplicas", "availableReplicas"],
};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::workload::deployment,
    validate: |errors, _, old, new| {
        deployment::deployment(errors, new);
        if let Some(old) = old {
            workload::keeps_selector(errors, &old["spec"], &new["spec"]);
        }
    },
    validate_status: |errors, _, old, new| {
        counters(errors, &new["status"], &COUNTERS);
        not_decremented(errors, &old["status"], &new["status"]);
    },
    rows: Rows::new(workloads::DEPLOYMENT, workloads::deployment),
    status_reset_fields: &["spec", "metadata.labels"],
    ..replica_set::STRATEGY
};
