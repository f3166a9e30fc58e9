//! Jobs and CronJobs.

use gantry_json::Value;
use gantry_primitives::Timestamp;
use gantry_primitives::age::short;

use super::labels_annotations::{annotations, labels};
use super::{controller, date, heading, template};
use crate::field::{at, list, number, selector, shown, text};

/// A Job.
pub(crate) fn job(job: &Value) -> String {
    let mut out =
        format!("Name:\t{}\nNamespace:\t{}\n", text(job, "/metadata/name"), text(job, "/metadata/namespace"));
    if job.pointer("/spec/selector").is_some() {
        out += &format!("Selector:\t{}\n", selector(job, "/spec/selector"));
    }
    out += &labels("Labels:", "", job, "/metadata/labels");
    out += &annotations("Annotations:", "", job, "/metadata/annotations");
    if let Some(controller) = controller(job) {
        out += &format!("Controlled By:\t{controller}\n");
    }
    out += &format!("Parallelism:\t{}\n", number(job, "/spec/parallelism"));
    out += &format!("Completions:\t{}\n", or_unset(job, "/spec/completions"));
    for (title, field) in [
        ("Completion Mode", "completionMode"),
        ("Suspend", "suspend"),
        ("Backoff Limit", "backoffLimit"),
        ("TTL Seconds After Finished", "ttlSecondsAfterFinished"),
    ] {
        if let Some(value) = job.pointer(&format!("/spec/{field}")) {
            out += &format!("{title}:\t{}\n", shown(value));
        }
    }
    out + &times(job) + &progress(job) + &template::described(&job["spec"]["template"])
}

fn times(job: &Value) -> String {
    let (started, completed) = (at(job, "/status/startTime"), at(job, "/status/completionTime"));
    let mut out = String::new();
    for (title, time) in [("Start Time", started), ("Completed At", completed)] {
        if !time.is_null() {
            out += &format!("{title}:\t{}\n", date(time));
        }
    }
    let instant = |time: &Value| time.as_str().and_then(Timestamp::parse);
    if let (Some(started), Some(completed)) = (instant(started), instant(completed)) {
        out += &format!("Duration:\t{}\n", short(completed.seconds_after(started)));
    }
    if let Some(deadline) = job.pointer("/spec/activeDeadlineSeconds") {
        out += &format!("Active Deadline Seconds:\t{}s\n", shown(deadline));
    }
    out
}

fn progress(job: &Value) -> String {
    let count = |field: &str| number(job, &format!("/status/{field}"));
    let ready =
        job.pointer("/status/ready").map_or_else(String::new, |ready| format!(" ({} Ready)", shown(ready)));
    let mut out = format!(
        "Pods Statuses:\t{} Active{ready} / {} Succeeded / {} Failed\n",
        count("active"),
        count("succeeded"),
        count("failed")
    );
    if text(job, "/spec/completionMode") == "Indexed" {
        let indexes = text(job, "/status/completedIndexes");
        out += &format!("Completed Indexes:\t{}\n", super::or_none(&in_short(indexes)));
    }
    out
}

/// A list of indexes, cut to the length of a line.
fn in_short(indexes: &str) -> String {
    const LONGEST: usize = 50;
    if indexes.len() <= LONGEST {
        return indexes.to_owned();
    }
    let cut = indexes[..LONGEST].rfind(',').map_or(0, |comma| comma + 1);
    format!("{}...", &indexes[..cut])
}

/// A CronJob.
pub(crate) fn cron_job(job: &Value) -> String {
    let mut out = heading(job);
    let suspended = match job.pointer("/spec/suspend").and_then(Value::as_bool) {
        None => "<unset>",
        Some(true) => "True",
        Some(false) => "False",
    };
    let deadline = match or_unset(job, "/spec/startingDeadlineSeconds") {
        unset if unset == "<unset>" => unset,
        seconds => format!("{seconds}s"),
    };
    let inner = at(job, "/spec/jobTemplate/spec");
    let selected = match inner.get("selector") {
        None => "<unset>".to_owned(),
        Some(_) => selector(inner, "/selector"),
    };
    for (title, value) in [
        ("Schedule", text(job, "/spec/schedule").to_owned()),
        ("Concurrency Policy", text(job, "/spec/concurrencyPolicy").to_owned()),
        ("Suspend", suspended.to_owned()),
        ("Time Zone", or_unset(job, "/spec/timeZone")),
        ("Successful Job History Limit", or_unset(job, "/spec/successfulJobsHistoryLimit")),
        ("Failed Job History Limit", or_unset(job, "/spec/failedJobsHistoryLimit")),
        ("Starting Deadline Seconds", deadline),
        ("Selector", selected),
        ("Parallelism", or_unset(inner, "/parallelism")),
        ("Completions", or_unset(inner, "/completions")),
    ] {
        out += &format!("{title}:\t{value}\n");
    }
    if let Some(deadline) = inner.get("activeDeadlineSeconds") {
        out += &format!("Active Deadline Seconds:\t{}s\n", shown(deadline));
    }
    out += &template::described(&inner["template"]);
    out += &format!("Last Schedule Time:\t{}\n", date(at(job, "/status/lastScheduleTime")));
    let active: Vec<&str> = list(job, "/status/active").iter().map(|one| text(one, "/name")).collect();
    let active = if active.is_empty() { "<none>".to_owned() } else { active.join(", ") };
    out + &format!("Active Jobs:\t{active}\n")
}

fn or_unset(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).map_or_else(|| "<unset>".to_owned(), shown)
}
