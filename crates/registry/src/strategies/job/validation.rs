//! Validates Jobs.

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, is_set, number, text};
use crate::validation::go_format::{ordered_json, with_go_names};
use crate::validation::names::label;
use crate::validation::paths::domain_prefixed_path;
use crate::validation::{selector, semantically_equal, template};

const SELECTOR: &str = "meta/v1.LabelSelector";
const MANAGER_MAX_BYTES: usize = 63;
/// The maximum of `parallelism` and `maxFailedIndexes` of an indexed Job.
const MANY: i64 = 100_000;
/// The same for Jobs with `backoffLimitPerIndex` and more than `MANY` completions.
const FEWER: i64 = 10_000;
const NUMBERS: [&str; 7] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
];

/// Validates a new Job. Its selector and labels were generated, unless `manualSelector` is set.
pub(crate) fn create(errors: &mut ErrorList, object: &Value) {
    generated(errors, object);
    job(errors, object);
}

/// Validates a new or changed Job.
pub(crate) fn job(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    job_spec(errors, &at, spec);
    if !is_set(spec, "selector") {
        errors.required(&at.child("selector"), "");
    }
    selector::valid_and_matching(errors, &at, spec);
    host_names(errors, object);
}

/// Validates a change to a Job, most of whose fields are immutable.
pub(crate) fn job_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (at, old_spec, new_spec) = (Path::new("spec"), &old["spec"], &new["spec"]);
    let elastic =
        text(new_spec, "completionMode") == "Indexed" && new_spec["completions"] == new_spec["parallelism"];
    if !elastic {
        let is_same = old_spec["completions"] == new_spec["completions"];
        errors.immutable(&at.child("completions"), is_same, &new_spec["completions"]);
    }
    let (before, after) = (&old_spec["selector"], &new_spec["selector"]);
    if before.is_null() != after.is_null() || !semantically_equal(SELECTOR, before, after) {
        let shown = if after.is_null() { "null".to_owned() } else { ordered_json(SELECTOR, after) };
        errors.invalid_formatted(&at.child("selector"), shown, "field is immutable");
    }
    if !semantically_equal("core/v1.PodTemplateSpec", &old_spec["template"], &new_spec["template"]) {
        let shown = with_go_names("core/v1.PodTemplateSpec", &new_spec["template"]);
        errors.invalid_formatted(&at.child("template"), shown, "field is immutable");
    }
    for (field, message) in [
        ("completionMode", ""),
        ("podFailurePolicy", "batch/v1.PodFailurePolicy"),
        ("backoffLimitPerIndex", ""),
        ("managedBy", ""),
        ("successPolicy", "batch/v1.SuccessPolicy"),
    ] {
        let (before, after) = (&old_spec[field], &new_spec[field]);
        if before.is_null() && after.is_null() {
            continue;
        }
        if after.is_null() || message.is_empty() {
            errors.immutable(&at.child(field), before == after, after);
        } else if before.is_null() || !semantically_equal(message, before, after) {
            errors.invalid_formatted(&at.child(field), with_go_names(message, after), "field is immutable");
        }
    }
}

/// Validates the spec of a Job, or of the job template of a CronJob.
pub(crate) fn job_spec(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    for field in NUMBERS {
        errors.not_negative(at, spec, field);
    }
    if is_set(spec, "maxFailedIndexes") && !is_set(spec, "backoffLimitPerIndex") {
        errors.required(&at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    manager(errors, &at.child("managedBy"), spec);
    indexes(errors, at, spec);
    if is_set(spec, "podFailurePolicy") {
        super::policies::failure(errors, &at.child("podFailurePolicy"), spec);
    }
    if is_set(spec, "successPolicy") {
        super::policies::success(errors, &at.child("successPolicy"), spec);
    }
    let policies: &[&str] =
        if is_set(spec, "podFailurePolicy") { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
    errors.one_of_if_set(&at.child("podReplacementPolicy"), &spec["podReplacementPolicy"], policies);
    template::template(errors, &at.child("template"), &spec["template"]);
    restart_policy(errors, at, spec);
}

fn restart_policy(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let at = at.child("template");
    let at = at.child("spec");
    let at = at.child("restartPolicy");
    let policy = &spec["template"]["spec"]["restartPolicy"];
    match policy.as_str().unwrap_or("") {
        // `Always` is also the default.
        "" | "Always" => errors.required(&at, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if is_set(spec, "podFailurePolicy") => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.invalid(&at, policy, why);
        }
        "OnFailure" | "Never" => {}
        _ => errors.unsupported(&at, policy, &["OnFailure", "Never"]),
    }
}

/// Validates `managedBy`: a name with a domain.
fn manager(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let Some(manager) = spec["managedBy"].as_str() else { return };
    if manager.is_empty() {
        errors.required(at, "");
    } else {
        domain_prefixed_path(errors, at, manager);
    }
    if manager.len() > MANAGER_MAX_BYTES {
        errors.too_long(at, MANAGER_MAX_BYTES);
    }
}

/// Validates the completion mode, and fields of indexed Jobs.
fn indexes(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    match text(spec, "completionMode") {
        "Indexed" => numbered(errors, at, spec),
        "" | "NonIndexed" => {
            for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if is_set(spec, field) {
                    errors.invalid(&at.child(field), &spec[field], "requires indexed completion mode");
                }
            }
        }
        _ => {
            let modes = ["NonIndexed", "Indexed"];
            errors.unsupported(&at.child("completionMode"), &spec["completionMode"], &modes);
        }
    }
}

fn numbered(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (completions, failed) = (number(spec, "completions"), number(spec, "maxFailedIndexes"));
    let parallelism = number(spec, "parallelism").unwrap_or(0);
    let (parallel_at, failed_at) = (at.child("parallelism"), at.child("maxFailedIndexes"));
    if completions.is_none() {
        errors.required(&at.child("completions"), "when completion mode is Indexed");
    }
    if parallelism > MANY {
        let why = format!("must be less than or equal to {MANY} when completion mode is Indexed");
        errors.invalid(&parallel_at, &json!(parallelism), why);
    }
    let Some(completions) = completions else { return };
    if let Some(failed) = failed.filter(|failed| *failed > completions) {
        errors.invalid(&failed_at, &json!(failed), "must be less than or equal to completions");
    }
    if let Some(failed) = failed.filter(|failed| *failed > MANY) {
        errors.invalid(&failed_at, &json!(failed), format!("must be less than or equal to {MANY}"));
    }
    if completions <= MANY || !is_set(spec, "backoffLimitPerIndex") {
        return;
    }
    if failed.is_none() {
        errors.required(&failed_at, &format!("must be specified when completions is above {MANY}"));
    }
    let why = format!(
        "must be less than or equal to {FEWER} when completions are above {MANY} and used with backoff limit per index"
    );
    if parallelism > FEWER {
        errors.invalid(&parallel_at, &json!(parallelism), why.clone());
    }
    if let Some(failed) = failed.filter(|failed| *failed > FEWER) {
        errors.invalid(&failed_at, &json!(failed), why);
    }
}

/// Validates that the client did not override generated labels and selector.
fn generated(errors: &mut ErrorList, object: &Value) {
    let (metadata, spec) = (&object["metadata"], &object["spec"]);
    if spec["manualSelector"].as_bool() == Some(true) || !is_set(spec, "selector") {
        return;
    }
    let (uid, name) = (text(metadata, "uid"), text(metadata, "name"));
    let expected = [
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", uid),
        ("job-name", name),
    ];
    let (at, labels) = (Path::new("spec"), &spec["template"]["metadata"]["labels"]);
    let labels_at = at.child("template");
    let labels_at = labels_at.child("metadata");
    let labels_at = labels_at.child("labels");
    for (label, value) in expected {
        if labels[label].as_str() != Some(value) {
            errors.invalid(&labels_at.key(label), labels, format!("must be '{value}'"));
        }
    }
    let mut terms = ErrorList::default();
    selector::terms(&mut terms, &at, &spec["selector"]);
    let expected: gantry_json::Map =
        expected.into_iter().map(|(label, value)| (label.to_owned(), json!(value))).collect();
    if terms.all.is_empty() && !selector::matches(&spec["selector"], &Value::Object(expected)) {
        let shown = ordered_json(SELECTOR, &spec["selector"]);
        errors.invalid_formatted(&at.child("selector"), shown, "`selector` not auto-generated");
    }
}

/// Validates the length of the host names of indexed pods.
fn host_names(errors: &mut ErrorList, object: &Value) {
    let (spec, name) = (&object["spec"], text(&object["metadata"], "name"));
    let Some(completions) = number(spec, "completions").filter(|completions| *completions > 0) else {
        return;
    };
    let longest = format!("{name}-{}", completions - 1);
    if text(spec, "completionMode") == "Indexed" && !label(&longest).is_empty() {
        let why = format!("will not able to create pod with invalid DNS label: {longest}");
        errors.invalid(&Path::new("metadata").child("name"), &json!(name), why);
    }
}
