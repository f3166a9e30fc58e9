//! Validates CronJobs.

use gantry_json::{Value, json};

use super::schedule;
use crate::strategies::job::validation as job;
use crate::validation::error_list::{ErrorList, Path, is_set, text};
use crate::validation::go_format::ordered_json;

/// The maximum length of names: those of its Jobs have eleven more characters.
const NAME_MAX: usize = 52;
/// The names of the time zone database, one per line.
const ZONES: &str = include_str!("time_zones.txt");

/// Validates the spec of a CronJob.
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

/// Validates the job template; selectors are set when a Job is created.
fn job_template(errors: &mut ErrorList, at: &Path<'_>, job: &Value) {
    let at = at.child("spec");
    job::job_spec(errors, &at, job);
    if is_set(job, "selector") {
        let shown = ordered_json("meta/v1.LabelSelector", &job["selector"]);
        errors.invalid_formatted(&at.child("selector"), shown, "`selector` will be auto-generated");
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
    // Go accepts `Local` in this spelling only.
    if zone != "Local" && !is_time_zone(zone) {
        errors.invalid(at, &json!(zone), format!("unknown time zone {zone}"));
    }
}
