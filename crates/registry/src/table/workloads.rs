//! Rows of everything that runs Pods, and of what scales and protects them.

use serde_json::{Value, json};

use super::age::{parse_time, short, since};
use super::column::{AGE, Column, NAME, number as count, text as column, truth, wide};
use super::field::{
    age, at, few, has_condition, joined, labels, list, name, number, plain, selector, text, text_or,
};
use crate::kinds::kinds;
use crate::{Timestamp, conversion};

const TEMPLATE: &str = "spec.template.spec.containers";

pub(crate) const DEPLOYMENT: &[Column] = &[
    NAME,
    column("Ready"),
    column("Up-to-date"),
    column("Available"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];
pub(crate) const REPLICA_SET: &[Column] = &[
    NAME,
    count("Desired"),
    count("Current"),
    count("Ready"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];
pub(crate) const STATEFUL_SET: &[Column] = &[NAME, column("Ready"), AGE, wide("Containers"), wide("Images")];
pub(crate) const DAEMON_SET: &[Column] = &[
    NAME,
    count("Desired"),
    count("Current"),
    count("Ready"),
    count("Up-to-date"),
    count("Available"),
    column("Node Selector"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];
pub(crate) const CONTROLLER_REVISION: &[Column] = &[NAME, column("Controller"), column("Revision"), AGE];
pub(crate) const JOB: &[Column] = &[
    NAME,
    column("Status"),
    column("Completions"),
    column("Duration"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];
pub(crate) const CRON_JOB: &[Column] = &[
    NAME,
    column("Schedule"),
    column("Timezone"),
    truth("Suspend"),
    count("Active"),
    column("Last Schedule"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];
pub(crate) const SCALE: &[Column] = &[NAME, count("Desired"), count("Available"), AGE];
pub(crate) const DISRUPTION_BUDGET: &[Column] =
    &[NAME, column("Min Available"), column("Max Unavailable"), count("Allowed Disruptions"), AGE];
pub(crate) const AUTOSCALER: &[Column] = &[
    NAME,
    column("Reference"),
    column("Targets"),
    column("MinPods"),
    column("MaxPods"),
    column("Replicas"),
    AGE,
];

pub(crate) fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(ready(object)),
        json!(number(object, "status.updatedReplicas")),
        json!(number(object, "status.availableReplicas")),
        json!(age(object, now)),
        json!(joined(list(object, TEMPLATE), "name")),
        json!(joined(list(object, TEMPLATE), "image")),
        json!(selector(object, "spec.selector")),
    ]
}

pub(crate) fn replica_set(object: &Value, now: Timestamp) -> Vec<Value> {
    replicas(object, now, &selector(object, "spec.selector"))
}

pub(crate) fn replication_controller(object: &Value, now: Timestamp) -> Vec<Value> {
    replicas(object, now, &labels(object, "spec.selector"))
}

pub(crate) fn stateful_set(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(ready(object)),
        json!(age(object, now)),
        json!(joined(list(object, TEMPLATE), "name")),
        json!(joined(list(object, TEMPLATE), "image")),
    ]
}

pub(crate) fn daemon_set(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(number(object, "status.desiredNumberScheduled")),
        json!(number(object, "status.currentNumberScheduled")),
        json!(number(object, "status.numberReady")),
        json!(number(object, "status.updatedNumberScheduled")),
        json!(number(object, "status.numberAvailable")),
        json!(labels(object, "spec.template.spec.nodeSelector")),
        json!(age(object, now)),
        json!(joined(list(object, TEMPLATE), "name")),
        json!(joined(list(object, TEMPLATE), "image")),
        json!(selector(object, "spec.selector")),
    ]
}

pub(crate) fn controller_revision(object: &Value, now: Timestamp) -> Vec<Value> {
    let owner = list(object, "metadata.ownerReferences").iter().find(|owner| owner["controller"] == true);
    let controller = owner.map_or_else(|| "<none>".to_owned(), owner_name);
    vec![json!(name(object)), json!(controller), json!(number(object, "revision")), json!(age(object, now))]
}

pub(crate) fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(job_status(object)),
        json!(completions(object)),
        json!(job_duration(object, now)),
        json!(age(object, now)),
        json!(joined(list(object, TEMPLATE), "name")),
        json!(joined(list(object, TEMPLATE), "image")),
        json!(selector(object, "spec.selector")),
    ]
}

pub(crate) fn cron_job(object: &Value, now: Timestamp) -> Vec<Value> {
    let last = at(object, "status.lastScheduleTime");
    let containers = list(object, "spec.jobTemplate.spec.template.spec.containers");
    let suspend = match at(object, "spec.suspend").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    vec![
        json!(name(object)),
        json!(text(object, "spec.schedule")),
        json!(text_or(object, "spec.timeZone", "<none>")),
        json!(suspend),
        json!(list(object, "status.active").len()),
        json!(if last.is_null() { "<none>".to_owned() } else { since(now, last) }),
        json!(age(object, now)),
        json!(joined(containers, "name")),
        json!(joined(containers, "image")),
        json!(selector(object, "spec.jobTemplate.spec.selector")),
    ]
}

pub(crate) fn scale(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(number(object, "spec.replicas")),
        json!(number(object, "status.replicas")),
        json!(age(object, now)),
    ]
}

pub(crate) fn disruption_budget(object: &Value, now: Timestamp) -> Vec<Value> {
    let bound = |path| plain(at(object, path)).unwrap_or_else(|| "N/A".to_owned());
    vec![
        json!(name(object)),
        json!(bound("spec.minAvailable")),
        json!(bound("spec.maxUnavailable")),
        json!(number(object, "status.disruptionsAllowed")),
        json!(age(object, now)),
    ]
}

pub(crate) fn autoscaler(object: &Value, now: Timestamp) -> Vec<Value> {
    let target = at(object, "spec.scaleTargetRef");
    vec![
        json!(name(object)),
        json!(format!("{}/{}", text(target, "kind"), text(target, "name"))),
        json!(targets(object)),
        json!(plain(at(object, "spec.minReplicas")).unwrap_or_else(|| "<unset>".to_owned())),
        json!(number(object, "spec.maxReplicas")),
        json!(number(object, "status.currentReplicas")),
        json!(age(object, now)),
    ]
}

fn ready(object: &Value) -> String {
    format!("{}/{}", number(object, "status.readyReplicas"), number(object, "spec.replicas"))
}

fn replicas(object: &Value, now: Timestamp, selector: &str) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(number(object, "spec.replicas")),
        json!(number(object, "status.replicas")),
        json!(number(object, "status.readyReplicas")),
        json!(age(object, now)),
        json!(joined(list(object, TEMPLATE), "name")),
        json!(joined(list(object, TEMPLATE), "image")),
        json!(selector),
    ]
}

/// `statefulset.apps/db`
fn owner_name(owner: &Value) -> String {
    let group = text(owner, "apiVersion").split_once('/').map(|(group, _)| format!(".{group}"));
    format!("{}{}/{}", text(owner, "kind"), group.unwrap_or_default(), "").to_lowercase()
        + text(owner, "name")
}

fn job_status(job: &Value) -> &'static str {
    let is = |condition| has_condition(job, condition, "True");
    match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if !at(job, "metadata.deletionTimestamp").is_null() => "Terminating",
        () if is("Suspended") => "Suspended",
        () if is("FailureTarget") => "FailureTarget",
        () if is("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

fn completions(job: &Value) -> String {
    let succeeded = number(job, "status.succeeded");
    match (at(job, "spec.completions").as_i64(), number(job, "spec.parallelism")) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallel @ 2..) => format!("{succeeded}/1 of {parallel}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn job_duration(job: &Value, now: Timestamp) -> String {
    let Some(start) = parse_time(text(job, "status.startTime")) else { return String::new() };
    let end = parse_time(text(job, "status.completionTime")).unwrap_or(now);
    short(end.seconds_after(start))
}

/// What an autoscaler measures and aims at; the first two metrics are shown.
fn targets(autoscaler: &Value) -> String {
    // autoscaling/v1 has a field for one metric and keeps the others in annotations.
    let is_first_version = at(autoscaler, "spec.metrics").is_null();
    let converted = kinds()
        .kind("autoscaling", "v1", "HorizontalPodAutoscaler")
        .filter(|_| is_first_version)
        .map(|kind| conversion::to_storage(kind, autoscaler.clone()));
    let autoscaler = converted.as_ref().unwrap_or(autoscaler);
    let specs = list(autoscaler, "spec.metrics");
    let statuses = list(autoscaler, "status.currentMetrics");
    let all: Vec<_> =
        specs.iter().enumerate().map(|(index, spec)| metric(spec, statuses.get(index))).collect();
    if all.is_empty() { "<none>".to_owned() } else { few(&all, 2, ", ") }
}

fn metric(spec: &Value, status: Option<&Value>) -> String {
    let (source, named) = match text(spec, "type") {
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "External" => ("external", false),
        _ => return "<unknown type>".to_owned(),
    };
    let target = &spec[source]["target"];
    let current = |member: &str| status.map_or(&Value::Null, |status| &status[source]["current"][member]);
    let quantity = |value: &Value| plain(value).unwrap_or_else(|| "<unknown>".to_owned());
    let average = !target["averageValue"].is_null();
    if named {
        let measured = if average {
            format!("{}/{}", quantity(current("averageValue")), quantity(&target["averageValue"]))
        } else {
            let percent = |value: &Value, absent: &str| {
                value.as_i64().map_or_else(|| absent.to_owned(), |percent| format!("{percent}%"))
            };
            let aim = percent(&target["averageUtilization"], "<auto>");
            format!("{}/{aim}", percent(current("averageUtilization"), "<unknown>"))
        };
        return format!("{}: {measured}", text(&spec[source], "name"));
    }
    match (source, average) {
        ("pods", _) => format!("{}/{}", quantity(current("averageValue")), quantity(&target["averageValue"])),
        (_, true) => {
            format!("{}/{} (avg)", quantity(current("averageValue")), quantity(&target["averageValue"]))
        }
        (_, false) => format!("{}/{}", quantity(current("value")), quantity(&target["value"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: jobs, in the order in which conditions count.
    #[test]
    fn a_job_says_how_it_ended_before_anything_else() {
        let with = |types: &[&str]| {
            let conditions: Vec<_> =
                types.iter().map(|kind| json!({"type": kind, "status": "True"})).collect();
            json!({"status": {"conditions": conditions}})
        };
        assert_eq!(job_status(&with(&["Suspended", "Failed"])), "Failed");
        assert_eq!(job_status(&with(&["SuccessCriteriaMet", "Complete"])), "Complete");
        assert_eq!(job_status(&with(&["FailureTarget"])), "FailureTarget");
        let mut deleted = with(&["Suspended"]);
        assert_eq!(job_status(&deleted), "Suspended");
        deleted["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(job_status(&deleted), "Terminating");
    }

    /// Appendix C: a job's duration ends with it.
    #[test]
    fn a_job_that_is_over_took_as_long_as_it_took() {
        let mut job = json!({"status": {"startTime": "2026-01-01T00:00:00Z"}});
        assert_eq!(job_duration(&job, NOW), "5m");
        job["status"]["completionTime"] = json!("2026-01-01T00:00:42Z");
        assert_eq!(job_duration(&job, NOW), "42s");
    }

    /// Appendix C: controllers are named by kind and group.
    #[test]
    fn a_revision_names_its_controller() {
        let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "Db", "controller": true});
        let revision = json!({"metadata": {"name": "r", "ownerReferences": [owner]}, "revision": 7});
        assert_eq!(controller_revision(&revision, NOW)[1..3], [json!("statefulset.apps/Db"), json!(7)]);
    }

    /// Appendix C: an autoscaler's targets.
    #[test]
    fn an_autoscaler_says_what_it_measures() {
        let cpu =
            json!({"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}});
        let measured = json!({"resource": {"current": {"averageUtilization": 35}}});
        let queue = json!({"type": "External", "external": {"target": {"averageValue": "30"}}});
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "5"}}});
        let scaler = json!({
            "spec": {"metrics": [cpu, queue, pods]}, "status": {"currentMetrics": [measured]},
        });
        assert_eq!(targets(&scaler), "cpu: 35%/80%, <unknown>/30 (avg) + 1 more...");
        assert_eq!(targets(&json!({"spec": {"targetCPUUtilizationPercentage": 50}})), "cpu: <unknown>/50%");
        assert_eq!(targets(&json!({})), "<none>");
    }

    /// Appendix C: scale of anything.
    #[test]
    fn a_scale_shows_wanted_and_there() {
        let scale_object =
            json!({"metadata": {"name": "web"}, "spec": {"replicas": 3}, "status": {"replicas": 2}});
        assert_eq!(scale(&scale_object, NOW), [json!("web"), json!(3), json!(2), json!("<unknown>")]);
    }

    /// Appendix C: a cron job that has run.
    #[test]
    fn a_cron_job_says_when_it_ran() {
        let cron = json!({
            "spec": {"schedule": "@daily", "suspend": false},
            "status": {"lastScheduleTime": "2026-01-01T00:00:00Z", "active": [{}]},
        });
        assert_eq!(
            cron_job(&cron, NOW)[1..6],
            [json!("@daily"), json!("<none>"), json!("False"), json!(1), json!("5m")]
        );
    }
}
