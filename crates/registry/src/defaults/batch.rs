//! Defaults of jobs and cron jobs.

use super::pod;
use super::setting::{Object, child, default, default_text, each, ensure, is_unset};
use super::workload::{label_if_bare, template_labels};

/// A Job.
pub(crate) fn job(job: &mut Object) {
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
    if let Some(policy) = child(spec, "podFailurePolicy") {
        for rule in each(policy, "rules") {
            each(rule, "onPodConditions").for_each(|condition| default_text(condition, "status", "True"));
        }
    }
    pod::template(spec);
    if let Some(labels) = template_labels(spec) {
        label_if_bare(job, labels);
    }
}

/// A CronJob; the job in it gets its defaults when it is made.
pub(crate) fn cron_job(cron_job: &mut Object) {
    let Some(spec) = ensure(cron_job, "spec") else { return };
    default_text(spec, "concurrencyPolicy", "Allow");
    default(spec, "suspend", false);
    default(spec, "successfulJobsHistoryLimit", 3);
    default(spec, "failedJobsHistoryLimit", 1);
    if let Some(job) = ensure(spec, "jobTemplate").and_then(|template| ensure(template, "spec")) {
        pod::template(job);
    }
}
