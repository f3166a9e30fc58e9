//! CronJobs.

use super::Strategy;
use crate::defaults::batch;
use crate::lifecycle::disabled_fields;
use crate::table::{Rows, workloads};
use crate::validation::{cron_job, warnings};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: batch::cron_job,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |cron_job, visit| {
            disabled_fields::fields(cron_job, "/spec/jobTemplate/spec", &["scheduling"], visit);
            disabled_fields::pod(cron_job, "/spec/jobTemplate/spec/template/spec", visit);
        });
    },
    validate: |errors, _, _, new| cron_job::cron_job(errors, new),
    warnings: warnings::job_template,
    rows: Rows::new(workloads::CRON_JOB, workloads::cron_job),
    ..Strategy::DEFAULT
};
