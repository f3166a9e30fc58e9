//! Jobs and CronJobs.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, number, text};
use super::shown::with_go_names;
use super::{same, schedule, selector, template};

/// Names of the jobs of a CronJob are its own and eleven characters more.
const CRON_JOB_NAME_MAX: usize = 52;
const NUMBERS: [&str; 7] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
];

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
    if text_of_schedule.contains("TZ") {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        found.invalid(&at.child("schedule"), &spec["schedule"], why);
    }
    found.not_negative(&at, spec, "startingDeadlineSeconds");
    time_zone(found, &at.child("timeZone"), spec);
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
    if is_set(spec, "maxFailedIndexes") && !is_set(spec, "backoffLimitPerIndex") {
        found.required(&at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    indexes(found, at, spec);
    let replaced = ["Failed", "TerminatingOrFailed"];
    found.one_of_if_set(&at.child("podReplacementPolicy"), &spec["podReplacementPolicy"], &replaced);
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

/// Whether the pods are numbered, and what only numbered ones can have.
fn indexes(found: &mut Found, at: &Path<'_>, spec: &Value) {
    match text(spec, "completionMode") {
        "Indexed" => {
            let (completions, failed) = (number(spec, "completions"), number(spec, "maxFailedIndexes"));
            if completions.is_none() {
                found.required(&at.child("completions"), "when completion mode is Indexed");
            }
            if let Some(failed) = failed.filter(|failed| completions.is_some_and(|all| *failed > all)) {
                let why = "must be less than or equal to completions";
                found.invalid(&at.child("maxFailedIndexes"), &json!(failed), why);
            }
        }
        "" | "NonIndexed" => {
            for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if is_set(spec, field) {
                    found.invalid(&at.child(field), &spec[field], "requires indexed completion mode");
                }
            }
        }
        _ => {
            let modes = ["NonIndexed", "Indexed"];
            found.unsupported(&at.child("completionMode"), &spec["completionMode"], &modes);
        }
    }
}

/// What can be said of a time zone by its name alone.
fn time_zone(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let Some(zone) = spec["timeZone"].as_str() else { return };
    let is_plain = |part: &str| {
        let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'+');
        (1..=14).contains(&part.len())
            && part.bytes().all(letter)
            && !matches!(part, "." | "..")
            && !part.starts_with('-')
    };
    let why = if zone.is_empty() {
        "timeZone must be nil or non-empty string".to_owned()
    } else if !zone.split('/').all(is_plain) {
        format!("unknown time zone {zone}")
    } else if zone.eq_ignore_ascii_case("Local") {
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones".to_owned()
    } else {
        return;
    };
    found.invalid(at, &json!(zone), why);
}
