//! The strategy of CronJobs.

mod schedule;
mod validation;

use gantry_json::json;

use super::KindStrategy;
use crate::defaults::pod;
use crate::defaults::setting::{Object, default, default_text, ensure};
use crate::lifecycle::disabled_fields;
use crate::table::column::TableColumn;
use crate::table::{Rows, age, cell, column};
use crate::validation::warnings;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Schedule").text_at("spec.schedule"),
    column::text("Timezone").text_or("spec.timeZone", "<none>"),
    column::boolean("Suspend").computed(|object, _| {
        json!(match cell::at(object, "spec.suspend").as_bool() {
            Some(true) => "True",
            Some(false) => "False",
            None => "<unset>",
        })
    }),
    column::number("Active").count_at("status.active"),
    column::text("Last Schedule").computed(|object, now| {
        let last = cell::at(object, "status.lastScheduleTime");
        json!(if last.is_null() { "<none>".to_owned() } else { age::since(now, last) })
    }),
    column::AGE,
    column::wide("Containers").joined_at("spec.jobTemplate.spec.template.spec.containers", "name"),
    column::wide("Images").joined_at("spec.jobTemplate.spec.template.spec.containers", "image"),
    column::wide("Selector").selector_at("spec.jobTemplate.spec.selector"),
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
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

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
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: the row of a CronJob that has run.
    #[test]
    fn the_row_of_a_cron_job_has_its_last_run() {
        let cron = json!({
            "spec": {"schedule": "@daily", "suspend": false},
            "status": {"lastScheduleTime": "2026-01-01T00:00:00Z", "active": [{}]},
        });
        assert_eq!(
            STRATEGY.rows.cells(&cron, NOW)[1..6],
            [json!("@daily"), json!("<none>"), json!("False"), json!(1), json!("5m")]
        );
    }
}
