//! ReplicationControllers.

use super::{Strategy, replica_set};
use crate::defaults::workload;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field};
use crate::table::{Rows, workloads};
use crate::validation;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: workload::replication_controller,
    validate: |errors, _, _, new| validation::workload::replication_controller(errors, new),
    quota_usage: |usage, _| usage.count("replicationcontrollers"),
    rows: Rows::new(workloads::REPLICA_SET, workloads::replication_controller),
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        field("status.replicas", Source::Number("status.replicas")),
    ]),
    ..replica_set::STRATEGY
};
