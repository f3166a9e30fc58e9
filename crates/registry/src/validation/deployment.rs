//! Deployments and ReplicaSets.

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, number};
use super::names::{percent, percentage};
use super::shown::with_go_names;
use super::{selector, template};

/// The spec of a Deployment.
pub(crate) fn deployment(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    errors.not_negative(&at, spec, "replicas");
    selector_and_template(errors, &at, spec);
    strategy(errors, &at.child("strategy"), &spec["strategy"]);
    errors.not_negative(&at, spec, "minReadySeconds");
    errors.not_negative(&at, spec, "revisionHistoryLimit");
    rollback(errors, &at, object);
    errors.not_negative(&at, spec, "progressDeadlineSeconds");
    if let Some(deadline) = number(spec, "progressDeadlineSeconds")
        && deadline <= number(spec, "minReadySeconds").unwrap_or(0)
    {
        let at = at.child("progressDeadlineSeconds");
        errors.invalid(&at, &json!(deadline), "must be greater than minReadySeconds");
    }
}

/// The revision to go back to, which is a field of the spec inside Kubernetes.
fn rollback(errors: &mut ErrorList, at: &Path<'_>, object: &Value) {
    let revision = object["metadata"]["annotations"]["deprecated.deployment.rollback.to"].as_str();
    if let Some(revision) = revision.and_then(|text| text.parse::<i64>().ok()).filter(|number| *number < 0) {
        let why = "must be greater than or equal to 0";
        errors.invalid(&at.child("rollback").child("version"), &json!(revision), why);
    }
}

/// The spec of a ReplicaSet.
pub(crate) fn replica_set(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    errors.not_negative(&at, spec, "replicas");
    errors.not_negative(&at, spec, "minReadySeconds");
    selector_and_template(errors, &at, spec);
}

/// A number or percentage that is not negative.
pub(crate) fn count_or_percent(errors: &mut ErrorList, at: &Path<'_>, value: &Value) {
    match value {
        Value::String(text) => {
            for why in percent(text) {
                errors.invalid(at, value, why);
            }
        }
        number if number.as_i64().is_some_and(|number| number < 0) => {
            errors.invalid(at, value, "must be greater than or equal to 0");
        }
        _ => {}
    }
}

/// A percentage of no more than all.
pub(crate) fn at_most_all(errors: &mut ErrorList, at: &Path<'_>, value: &Value) {
    if value.as_str().and_then(percentage).is_some_and(|percentage| percentage > 100) {
        errors.invalid(at, value, "must not be greater than 100%");
    }
}

fn selector_and_template(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    // The text says deployment for ReplicaSets too.
    if selector::of_template(errors, at, spec, "deployment") {
        selector::matches_template(errors, at, spec);
        template::of_services(errors, at, spec, "ReplicaSet");
    }
}

fn strategy(errors: &mut ErrorList, at: &Path<'_>, strategy: &Value) {
    match strategy["type"].as_str().unwrap_or("") {
        "Recreate" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "may not be specified when strategy `type` is 'Recreate'";
                errors.forbidden(&at.child("rollingUpdate"), why);
            }
        }
        "RollingUpdate" if is_set(strategy, "rollingUpdate") => {
            rolling_update(errors, &at.child("rollingUpdate"), &strategy["rollingUpdate"]);
        }
        "RollingUpdate" => {
            errors.required(&at.child("rollingUpdate"), "this should be defaulted and never be nil");
        }
        _ => unknown_strategy(errors, at, strategy),
    }
}

fn rolling_update(errors: &mut ErrorList, at: &Path<'_>, limits: &Value) {
    let (unavailable, surge) = (&limits["maxUnavailable"], &limits["maxSurge"]);
    count_or_percent(errors, &at.child("maxUnavailable"), unavailable);
    count_or_percent(errors, &at.child("maxSurge"), surge);
    if is_nothing(unavailable) && is_nothing(surge) {
        errors.invalid(&at.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
    }
    at_most_all(errors, &at.child("maxUnavailable"), unavailable);
}

/// What is no number at all counts as 0 here, as it does in Kubernetes.
pub(crate) fn is_nothing(limit: &Value) -> bool {
    match limit {
        Value::String(text) => percentage(text).unwrap_or_else(|| text.parse().unwrap_or(0)) == 0,
        other => other.as_i64().unwrap_or(0) == 0,
    }
}

/// The value is shown as Go prints its structure.
fn unknown_strategy(errors: &mut ErrorList, at: &Path<'_>, strategy: &Value) {
    let supported = ["Recreate", "RollingUpdate"];
    errors.unsupported_shown(at, with_go_names("apps/v1.DeploymentStrategy", strategy), &supported);
}
