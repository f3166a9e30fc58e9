//! What a Job may say, and what of it may change.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, number, text};
use super::names::{label, subdomain};
use super::shown::{in_order, with_go_names};
use super::{job_policy, same, selector, template};

const SELECTOR: &str = "meta/v1.LabelSelector";
const MANAGER_MAX_BYTES: usize = 63;
/// How many pods a Job with numbered pods may run at once, and how many of its numbers may fail.
const MANY: i64 = 100_000;
/// The same, for Jobs that count the failures of each number and have more than `MANY` of them.
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

/// A new Job: what selects its pods was generated, unless it brought a selector of its own.
pub(super) fn create(found: &mut Found, object: &Value) {
    generated(found, object);
    job(found, object);
}

/// A Job, new or changed.
pub(super) fn job(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    job_spec(found, &at, spec);
    if !is_set(spec, "selector") {
        found.required(&at.child("selector"), "");
    }
    selector::understood_and_matching(found, &at, spec);
    host_names(found, object);
}

/// What of a Job can be changed is little.
pub(super) fn job_changes(found: &mut Found, old: &Value, new: &Value) {
    let (at, old_spec, new_spec) = (Path::new("spec"), &old["spec"], &new["spec"]);
    let elastic =
        text(new_spec, "completionMode") == "Indexed" && new_spec["completions"] == new_spec["parallelism"];
    if !elastic {
        let is_same = old_spec["completions"] == new_spec["completions"];
        found.immutable(&at.child("completions"), is_same, &new_spec["completions"]);
    }
    let (before, after) = (&old_spec["selector"], &new_spec["selector"]);
    if before.is_null() != after.is_null() || !same(SELECTOR, before, after) {
        let shown = if after.is_null() { "null".to_owned() } else { in_order(SELECTOR, after) };
        found.invalid_shown(&at.child("selector"), shown, "field is immutable");
    }
    if !same("core/v1.PodTemplateSpec", &old_spec["template"], &new_spec["template"]) {
        let shown = with_go_names("core/v1.PodTemplateSpec", &new_spec["template"]);
        found.invalid_shown(&at.child("template"), shown, "field is immutable");
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
            found.immutable(&at.child(field), before == after, after);
        } else if before.is_null() || !same(message, before, after) {
            found.invalid_shown(&at.child(field), with_go_names(message, after), "field is immutable");
        }
    }
}

/// The spec of a Job, or of the Jobs that a CronJob makes.
pub(super) fn job_spec(found: &mut Found, at: &Path<'_>, spec: &Value) {
    for field in NUMBERS {
        found.not_negative(at, spec, field);
    }
    if is_set(spec, "maxFailedIndexes") && !is_set(spec, "backoffLimitPerIndex") {
        found.required(&at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    manager(found, &at.child("managedBy"), spec);
    indexes(found, at, spec);
    if is_set(spec, "podFailurePolicy") {
        job_policy::failure(found, &at.child("podFailurePolicy"), spec);
    }
    if is_set(spec, "successPolicy") {
        job_policy::success(found, &at.child("successPolicy"), spec);
    }
    let policies: &[&str] =
        if is_set(spec, "podFailurePolicy") { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
    found.one_of_if_set(&at.child("podReplacementPolicy"), &spec["podReplacementPolicy"], policies);
    template::template(found, &at.child("template"), &spec["template"]);
    restart_policy(found, at, spec);
}

fn restart_policy(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let at = at.child("template");
    let at = at.child("spec");
    let at = at.child("restartPolicy");
    let policy = &spec["template"]["spec"]["restartPolicy"];
    match policy.as_str().unwrap_or("") {
        // Always is also what it says by default.
        "" | "Always" => found.required(&at, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if is_set(spec, "podFailurePolicy") => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            found.invalid(&at, policy, why);
        }
        "OnFailure" | "Never" => {}
        _ => found.unsupported(&at, policy, &["OnFailure", "Never"]),
    }
}

/// Who else reconciles the Job: a name with a domain.
fn manager(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let Some(manager) = spec["managedBy"].as_str() else { return };
    if manager.is_empty() {
        found.required(at, "");
    } else {
        domain_prefixed_path(found, at, manager);
    }
    if manager.len() > MANAGER_MAX_BYTES {
        found.too_long(at, MANAGER_MAX_BYTES);
    }
}

fn domain_prefixed_path(found: &mut Found, at: &Path<'_>, path: &str) {
    let Some((domain, rest)) =
        path.split_once('/').filter(|(domain, rest)| !domain.is_empty() && !rest.is_empty())
    else {
        return found.invalid(at, &json!(path), "must be a domain-prefixed path (such as \"acme.io/foo\")");
    };
    found.invalid_text(at, domain, subdomain(domain));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:%@".contains(letter);
    if !rest.chars().all(is_plain) {
        let why = "Invalid path (regex used for validation is '^[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$')";
        found.invalid(at, &json!(path), why);
    }
}

/// Whether the pods are numbered, and what only numbered ones can have.
fn indexes(found: &mut Found, at: &Path<'_>, spec: &Value) {
    match text(spec, "completionMode") {
        "Indexed" => numbered(found, at, spec),
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

fn numbered(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let (completions, failed) = (number(spec, "completions"), number(spec, "maxFailedIndexes"));
    let parallelism = number(spec, "parallelism").unwrap_or(0);
    let (parallel_at, failed_at) = (at.child("parallelism"), at.child("maxFailedIndexes"));
    if completions.is_none() {
        found.required(&at.child("completions"), "when completion mode is Indexed");
    }
    if parallelism > MANY {
        let why = format!("must be less than or equal to {MANY} when completion mode is Indexed");
        found.invalid(&parallel_at, &json!(parallelism), why);
    }
    let Some(completions) = completions else { return };
    if let Some(failed) = failed.filter(|failed| *failed > completions) {
        found.invalid(&failed_at, &json!(failed), "must be less than or equal to completions");
    }
    if let Some(failed) = failed.filter(|failed| *failed > MANY) {
        found.invalid(&failed_at, &json!(failed), format!("must be less than or equal to {MANY}"));
    }
    if completions <= MANY || !is_set(spec, "backoffLimitPerIndex") {
        return;
    }
    if failed.is_none() {
        found.required(&failed_at, &format!("must be specified when completions is above {MANY}"));
    }
    let why = format!(
        "must be less than or equal to {FEWER} when completions are above {MANY} and used with backoff limit per index"
    );
    if parallelism > FEWER {
        found.invalid(&parallel_at, &json!(parallelism), why.clone());
    }
    if let Some(failed) = failed.filter(|failed| *failed > FEWER) {
        found.invalid(&failed_at, &json!(failed), why);
    }
}

/// The labels and the selector that were generated must have survived what the client sent.
fn generated(found: &mut Found, object: &Value) {
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
            found.invalid(&labels_at.key(label), labels, format!("must be '{value}'"));
        }
    }
    let mut terms = Found::default();
    selector::terms(&mut terms, &at, &spec["selector"]);
    let expected: serde_json::Map<_, _> =
        expected.into_iter().map(|(label, value)| (label.to_owned(), json!(value))).collect();
    if terms.errors.is_empty() && !selector::matches(&spec["selector"], &Value::Object(expected)) {
        let shown = in_order(SELECTOR, &spec["selector"]);
        found.invalid_shown(&at.child("selector"), shown, "`selector` not auto-generated");
    }
}

/// The numbers of the pods are part of their host names, which have a limit.
fn host_names(found: &mut Found, object: &Value) {
    let (spec, name) = (&object["spec"], text(&object["metadata"], "name"));
    let Some(completions) = number(spec, "completions").filter(|completions| *completions > 0) else {
        return;
    };
    let longest = format!("{name}-{}", completions - 1);
    if text(spec, "completionMode") == "Indexed" && !label(&longest).is_empty() {
        let why = format!("will not able to create pod with invalid DNS label: {longest}");
        found.invalid(&Path::new("metadata").child("name"), &json!(name), why);
    }
}
