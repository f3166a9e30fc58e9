//! Defaults of jobs and cron jobs.

use serde_json::{Value, json};

use super::pod;
use super::setting::{Object, child, default, default_text, ensure, is_unset, object, text};
use super::workload::{label_if_bare, template_labels};

/// A Job.
pub(super) fn job(job: &mut Object) {
    let Some(spec) = ensure(job, "spec") else { return };
    if is_unset(spec, "completions") && is_unset(spec, "parallelism") {
        default(spec, "completions", 1);
    }
    default(spec, "parallelism", 1);
    default(spec, "completionMode", "NonIndexed");
    let per_index = !is_unset(spec, "backoffLimitPerIndex");
    default(spec, "backoffLimit", if per_index { i64::from(i32::MAX) } else { 6 });
    default(spec, "suspend", false);
    default(spec, "manualSelector", false);
    let replacement = if is_unset(spec, "podFailurePolicy") { "TerminatingOrFailed" } else { "Failed" };
    default(spec, "podReplacementPolicy", replacement);
    pod::template(spec);
    if let Some(labels) = template_labels(spec) {
        label_if_bare(job, labels);
    }
}

/// A CronJob; the job in it gets its defaults when it is made.
pub(super) fn cron_job(cron_job: &mut Object) {
    let Some(spec) = ensure(cron_job, "spec") else { return };
    default_text(spec, "concurrencyPolicy", "Allow");
    default(spec, "suspend", false);
    default(spec, "successfulJobsHistoryLimit", 3);
    default(spec, "failedJobsHistoryLimit", 1);
    if let Some(job) = ensure(spec, "jobTemplate").and_then(|template| ensure(template, "spec")) {
        pod::template(job);
    }
}

/// Makes a new job select the pods it will make, by its uid, unless it brings a selector of its own.
pub fn select_own_pods(job: &mut Value, uid: &str) {
    let Some(job) = object(job) else { return };
    let name = child(job, "metadata").map(|metadata| text(metadata, "name").to_owned()).unwrap_or_default();
    let Some(spec) = child(job, "spec") else { return };
    if spec.get("manualSelector").and_then(Value::as_bool) == Some(true) {
        return;
    }
    let labels = ensure(spec, "template").and_then(|template| ensure(template, "metadata"));
    if let Some(labels) = labels.and_then(|metadata| ensure(metadata, "labels")) {
        for (label, value) in [
            ("batch.kubernetes.io/controller-uid", uid),
            ("controller-uid", uid),
            ("batch.kubernetes.io/job-name", &name),
            ("job-name", &name),
        ] {
            labels.insert(label.to_owned(), json!(value));
        }
    }
    let chosen = ensure(spec, "selector").and_then(|selector| ensure(selector, "matchLabels"));
    if let Some(chosen) = chosen {
        default(chosen, "batch.kubernetes.io/controller-uid", uid);
    }
}
