//! What a CronJob may say: schedules, time zones, and the Jobs it makes.

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, text};
use super::shown::in_order;
use super::{job, schedule};

/// Names of the Jobs of a CronJob are its own and eleven characters more.
const NAME_MAX: usize = 52;
/// The names of the time zone database, a line each.
const ZONES: &str = include_str!("time_zones.txt");

/// The spec of a CronJob.
pub(crate) fn cron_job(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let when = text(spec, "schedule");
    if let Some(why) = schedule::parse(when).err().filter(|_| !when.is_empty()) {
        errors.invalid(&at.child("schedule"), &spec["schedule"], why);
    }
    if when.contains("TZ") {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        errors.invalid(&at.child("schedule"), &spec["schedule"], why);
    }
    errors.not_negative(&at, spec, "startingDeadlineSeconds");
    time_zone(errors, &at.child("timeZone"), spec);
    let policies = ["Allow", "Forbid", "Replace"];
    errors.one_of(&at.child("concurrencyPolicy"), &spec["concurrencyPolicy"], &policies);
    job_template(errors, &at.child("jobTemplate"), &spec["jobTemplate"]["spec"]);
    errors.not_negative(&at, spec, "successfulJobsHistoryLimit");
    errors.not_negative(&at, spec, "failedJobsHistoryLimit");
    let name = text(&object["metadata"], "name");
    if name.len() > NAME_MAX {
        let why = format!("must be no more than {NAME_MAX} characters");
        errors.invalid(&Path::new("metadata").child("name"), &json!(name), why);
    }
    if when.is_empty() {
        errors.required(&at.child("schedule"), "");
    }
}

/// Whether the time zone database has this name.
pub(crate) fn is_time_zone(name: &str) -> bool {
    ZONES.lines().any(|zone| zone == name)
}

/// The Jobs that it makes get their selectors when they are made.
fn job_template(errors: &mut ErrorList, at: &Path<'_>, job: &Value) {
    let at = at.child("spec");
    job::job_spec(errors, &at, job);
    if is_set(job, "selector") {
        let shown = in_order("meta/v1.LabelSelector", &job["selector"]);
        errors.invalid_shown(&at.child("selector"), shown, "`selector` will be auto-generated");
    }
    if job["manualSelector"].as_bool() == Some(true) {
        errors.unsupported(&at.child("manualSelector"), &json!(true), &["nil", "false"]);
    }
}

fn time_zone(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let Some(zone) = spec["timeZone"].as_str() else { return };
    if zone.is_empty() {
        return errors.invalid(at, &json!(zone), "timeZone must be nil or non-empty string");
    }
    if zone.eq_ignore_ascii_case("Local") {
        let why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.invalid(at, &json!(zone), why);
    }
    // Go knows the local zone under its exact name.
    if zone != "Local" && !is_time_zone(zone) {
        errors.invalid(at, &json!(zone), format!("unknown time zone {zone}"));
    }
}
