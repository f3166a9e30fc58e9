//! The strategy of CronJobs.

mod schedule;
mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::pod;
use crate::defaults::setting::{Object, default, default_text, ensure};
use crate::lifecycle::disabled_fields;
use crate::table::column::Column;
use crate::table::{Rows, age, cell, column};
use crate::validation::warnings;

const COLUMNS: &[Column] = &[
    column::NAME,
    column::text("Schedule"),
    column::text("Timezone"),
    column::truth("Suspend"),
    column::number("Active"),
    column::text("Last Schedule"),
    column::AGE,
    column::wide("Containers"),
    column::wide("Images"),
    column::wide("Selector"),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |cron_job, visit| {
            disabled_fields::fields(cron_job, "/spec/jobTemplate/spec", &["scheduling"], visit);
            disabled_fields::pod(cron_job, "/spec/jobTemplate/spec/template/spec", visit);
        });
    },
    validate: |errors, _, _, new| validation::cron_job(errors, new),
    warnings: warnings::job_template,
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let last = cell::at(object, "status.lastScheduleTime");
    let containers = cell::list(object, "spec.jobTemplate.spec.template.spec.containers");
    let suspend = match cell::at(object, "spec.suspend").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    vec![
        json!(cell::name(object)),
        json!(cell::text(object, "spec.schedule")),
        json!(cell::text_or(object, "spec.timeZone", "<none>")),
        json!(suspend),
        json!(cell::list(object, "status.active").len()),
        json!(if last.is_null() { "<none>".to_owned() } else { age::since(now, last) }),
        json!(cell::age(object, now)),
        json!(cell::joined(containers, "name")),
        json!(cell::joined(containers, "image")),
        json!(cell::selector(object, "spec.jobTemplate.spec.selector")),
    ]
}

/// Sets the defaults of a CronJob; those of its job template are set when a Job is created.
fn set_defaults(cron_job: &mut Object) {
    let Some(spec) = ensure(cron_job, "spec") else { return };
    default_text(spec, "concurrencyPolicy", "Allow");
    default(spec, "suspend", false);
    default(spec, "successfulJobsHistoryLimit", 3);
    default(spec, "failedJobsHistoryLimit", 1);
    if let Some(job) = ensure(spec, "jobTemplate").and_then(|template| ensure(template, "spec")) {
        pod::template(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: a cron job that has run.
    #[test]
    fn a_cron_job_says_when_it_ran() {
        let cron = json!({
            "spec": {"schedule": "@daily", "suspend": false},
            "status": {"lastScheduleTime": "2026-01-01T00:00:00Z", "active": [{}]},
        });
        assert_eq!(
            cells(&cron, NOW)[1..6],
            [json!("@daily"), json!("<none>"), json!("False"), json!(1), json!("5m")]
        );
    }
}
