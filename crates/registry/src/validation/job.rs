//! Jobs and CronJobs.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, number, text};
use super::shown::with_go_names;
use super::{same, schedule, selector, template};

/// Names of the jobs of a CronJob are its own and eleven characters more.
const CRON_JOB_NAME_MAX: usize = 52;
const NUMBERS: [&str; 5] =
    ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];

/// The spec of a Job.
pub(super) fn job(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    job_spec(found, &at, spec);
    if is_set(spec, "selector") {
        let before = found.errors.len();
        selector::terms(found, &at.child("selector"), &spec["selector"]);
        if found.errors.len() == before {
            selector::matches_template(found, &at, spec);
        }
    } else {
        found.required(&at.child("selector"), "");
    }
}

/// What of a Job can be changed is little.
pub(super) fn job_changes(found: &mut Found, old: &Value, new: &Value) {
    let at = Path::new("spec");
    let (old, new) = (&old["spec"], &new["spec"]);
    let elastic = text(new, "completionMode") == "Indexed" && new["completions"] == new["parallelism"];
    if !elastic {
        found.immutable(
            &at.child("completions"),
            old["completions"] == new["completions"],
            &new["completions"],
        );
    }
    let is_same = same("meta/v1.LabelSelector", &old["selector"], &new["selector"]);
    found.immutable(&at.child("selector"), is_same, &new["selector"]);
    if !same("core/v1.PodTemplateSpec", &old["template"], &new["template"]) {
        let shown = with_go_names(&new["template"]);
        found.invalid_shown(&at.child("template"), shown, "field is immutable");
    }
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        found.immutable(&at.child(field), old[field] == new[field], &new[field]);
    }
}

/// The spec of a CronJob.
pub(super) fn cron_job(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let text_of_schedule = text(spec, "schedule");
    if text_of_schedule.is_empty() {
        found.required(&at.child("schedule"), "");
    } else if let Err(why) = schedule::parse(text_of_schedule) {
        found.invalid(&at.child("schedule"), &spec["schedule"], why);
    }
    found.not_negative(&at, spec, "startingDeadlineSeconds");
    let policies = ["Allow", "Forbid", "Replace"];
    found.one_of(&at.child("concurrencyPolicy"), &spec["concurrencyPolicy"], &policies);
    let template_at = at.child("jobTemplate");
    job_spec(found, &template_at.child("spec"), &spec["jobTemplate"]["spec"]);
    found.not_negative(&at, spec, "successfulJobsHistoryLimit");
    found.not_negative(&at, spec, "failedJobsHistoryLimit");
    let name = text(&object["metadata"], "name");
    if name.len() > CRON_JOB_NAME_MAX {
        let at = Path::new("metadata");
        found.invalid(
            &at.child("name"),
            &json!(name),
            format!("must be no more than {CRON_JOB_NAME_MAX} characters"),
        );
    }
}

fn job_spec(found: &mut Found, at: &Path<'_>, spec: &Value) {
    for field in NUMBERS {
        found.not_negative(at, spec, field);
    }
    if is_set(spec, "completionMode") {
        let modes = ["Indexed", "NonIndexed"];
        found.one_of(&at.child("completionMode"), &spec["completionMode"], &modes);
        if text(spec, "completionMode") == "Indexed" && number(spec, "completions").is_none() {
            found.required(&at.child("completions"), "when completion mode is Indexed");
        }
    }
    template::template(found, &at.child("template"), &spec["template"]);
    let pod_at = at.child("template");
    let policy_at = pod_at.child("spec");
    let policy_at = policy_at.child("restartPolicy");
    let policy = &spec["template"]["spec"]["restartPolicy"];
    match policy.as_str().unwrap_or("") {
        // It may say Always because nobody said anything.
        "" | "Always" => found.required(&policy_at, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" | "Never" => {}
        _ => found.unsupported(&policy_at, policy, &["OnFailure", "Never"]),
    }
}
