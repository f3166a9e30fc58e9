//! The strategy of Jobs.

mod policies;
mod status;
pub(super) mod validation;

use gantry_json::{SmolStr, Value, json};

use super::{KindStrategy, replica_set};
use crate::Timestamp;
use crate::defaults::setting::{Object, child, default, default_text, each, ensure, is_unset, object};
use crate::defaults::workload::{default_labels, label_by_template, template_labels};
use crate::defaults::{pod, setting};
use crate::lifecycle::{Part, disabled_fields};
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field};
use crate::table::column::TableColumn;
use crate::table::{Rows, age, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Status").computed(|object, _| json!(state(object))),
    column::text("Completions").computed(|object, _| json!(completions(object))),
    column::text("Duration").computed(|object, now| json!(duration(object, now))),
    column::AGE,
    column::CONTAINERS,
    column::IMAGES,
    column::wide("Selector").selector_at("spec.selector"),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    prepare: |part, old, new| {
        if part == Part::Status {
            label_by_template(new);
        }
        disabled_fields::drop(old, new, |job, visit| {
            disabled_fields::fields(job, "/spec", &["scheduling"], visit);
            disabled_fields::pod_template(job, visit);
        });
    },
    admit: |old, new| {
        if old.is_none() {
            select_own_pods(new);
        }
    },
    validate: |errors, _, old, new| match old {
        None => validation::create(errors, new),
        Some(old) => {
            validation::job(errors, new);
            validation::job_changes(errors, old, new);
        }
    },
    validate_status: |errors, _, old, new| status::validate(errors, old, new),
    warnings: replica_set::STRATEGY.warnings,
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields {
        fields: &[NAME, NAMESPACE, field("status.successful", Source::Number("status.succeeded"))],
        unknown: |label| format!("field label \"{label}\" not supported for Job"),
    },
    orphan_warning: Some(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or \
         set propagationPolicy=Orphan to suppress this warning",
    ),
    stored_when_new: Some(without_generated_labels),
    ..KindStrategy::DEFAULT
};

/// The job without labels, if they equal those of its template, and all of them were generated with its selector.
fn without_generated_labels(job: &Value) -> Option<Value> {
    let (labels, of_pods) = (&job["metadata"]["labels"], &job["spec"]["template"]["metadata"]["labels"]);
    let is_generated = |label: &SmolStr| {
        let name = label.strip_prefix("batch.kubernetes.io/").unwrap_or(label);
        matches!(name, "controller-uid" | "job-name")
    };
    let is_bare = |labels: &Object| !labels.is_empty() && labels.keys().all(is_generated);
    if labels != of_pods || !labels.as_object().is_some_and(is_bare) {
        return None;
    }
    let mut bare = job.clone();
    bare["metadata"].as_object_mut()?.remove("labels");
    Some(bare)
}

fn state(job: &Value) -> &'static str {
    let is = |condition| cell::has_condition(job, condition, "True");
    match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if !cell::at(job, "metadata.deletionTimestamp").is_null() => "Terminating",
        () if is("Suspended") => "Suspended",
        () if is("FailureTarget") => "FailureTarget",
        () if is("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

fn completions(job: &Value) -> String {
    let succeeded = cell::number(job, "status.succeeded");
    match (cell::at(job, "spec.completions").as_i64(), cell::number(job, "spec.parallelism")) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallel @ 2..) => format!("{succeeded}/1 of {parallel}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn duration(job: &Value, now: Timestamp) -> String {
    let Some(start) = Timestamp::parse(cell::text(job, "status.startTime")) else { return String::new() };
    let end = Timestamp::parse(cell::text(job, "status.completionTime")).unwrap_or(now);
    age::short(end.seconds_after(start))
}

/// Sets the defaults of a Job.
pub(super) fn set_defaults(job: &mut Object) {
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
        default_labels(job, labels);
    }
}

/// Labels the template of a new Job with its uid and name, and selects by the uid.
fn select_own_pods(job: &mut Value) {
    let Some(job) = object(job) else { return };
    let Some(metadata) = child(job, "metadata") else { return };
    let (name, uid) = (setting::text(metadata, "name").to_owned(), setting::text(metadata, "uid").to_owned());
    let Some(spec) = child(job, "spec") else { return };
    if spec.get("manualSelector").and_then(Value::as_bool) == Some(true) {
        return;
    }
    let labels = ensure(spec, "template").and_then(|template| ensure(template, "metadata"));
    if let Some(labels) = labels.and_then(|metadata| ensure(metadata, "labels")) {
        for (label, value) in [
            ("batch.kubernetes.io/controller-uid", &uid),
            ("controller-uid", &uid),
            ("batch.kubernetes.io/job-name", &name),
            ("job-name", &name),
        ] {
            // Validation refuses other values.
            default(labels, label, value.as_str());
        }
    }
    let chosen = ensure(spec, "selector").and_then(|selector| ensure(selector, "matchLabels"));
    if let Some(chosen) = chosen {
        default(chosen, "batch.kubernetes.io/controller-uid", uid);
    }
    if let Some(labels) = template_labels(spec) {
        default_labels(job, labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: the status of Jobs, by the precedence of their conditions.
    #[test]
    fn the_status_of_a_job_is_its_final_condition_first() {
        let with = |types: &[&str]| {
            let conditions: Vec<_> =
                types.iter().map(|kind| json!({"type": kind, "status": "True"})).collect();
            json!({"status": {"conditions": conditions}})
        };
        assert_eq!(state(&with(&["Suspended", "Failed"])), "Failed");
        assert_eq!(state(&with(&["SuccessCriteriaMet", "Complete"])), "Complete");
        assert_eq!(state(&with(&["FailureTarget"])), "FailureTarget");
        let mut deleted = with(&["Suspended"]);
        assert_eq!(state(&deleted), "Suspended");
        deleted["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(state(&deleted), "Terminating");
    }

    /// Appendix C: the duration of a Job ends at its completion time.
    #[test]
    fn the_duration_of_a_finished_job_does_not_grow() {
        let mut job = json!({"status": {"startTime": "2026-01-01T00:00:00Z"}});
        assert_eq!(duration(&job, NOW), "5m");
        job["status"]["completionTime"] = json!("2026-01-01T00:00:42Z");
        assert_eq!(duration(&job, NOW), "42s");
    }
}
