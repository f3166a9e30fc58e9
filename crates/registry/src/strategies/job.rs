//! Jobs.

use super::{Strategy, replica_set};
use crate::admission::jobs;
use crate::defaults::batch;
use crate::lifecycle::disabled_fields;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field};
use crate::table::{Rows, workloads};
use crate::validation::job;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: batch::job,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |job, visit| {
            disabled_fields::fields(job, "/spec", &["scheduling"], visit);
            disabled_fields::pod_template(job, visit);
        });
    },
    admit: |old, new| {
        if old.is_none() {
            jobs::select_own_pods(new);
        }
    },
    validate: |errors, _, old, new| match old {
        None => job::create(errors, new),
        Some(old) => {
            job::job(errors, new);
            job::job_changes(errors, old, new);
        }
    },
    warnings: replica_set::STRATEGY.warnings,
    rows: Rows::new(workloads::JOB, workloads::job),
    selectable: SelectableFields {
        fields: &[NAME, NAMESPACE, field("status.successful", Source::Number("status.succeeded"))],
        unknown: |label| format!("field label \"{label}\" not supported for Job"),
    },
    ..Strategy::DEFAULT
};
