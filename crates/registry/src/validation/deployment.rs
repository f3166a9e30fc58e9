//! Deployments and ReplicaSets.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, number};
use super::names::{percent, percentage};
use super::shown::in_order;
use super::{same, selector, template};

const SELECTOR: &str = "meta/v1.LabelSelector";

/// The spec of a Deployment.
pub(super) fn deployment(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    found.not_negative(&at, spec, "replicas");
    selector_and_template(found, &at, spec);
    strategy(found, &at.child("strategy"), &spec["strategy"]);
    found.not_negative(&at, spec, "minReadySeconds");
    found.not_negative(&at, spec, "revisionHistoryLimit");
    found.not_negative(&at, spec, "progressDeadlineSeconds");
    if let Some(deadline) = number(spec, "progressDeadlineSeconds")
        && deadline <= number(spec, "minReadySeconds").unwrap_or(0)
    {
        let at = at.child("progressDeadlineSeconds");
        found.invalid(&at, &json!(deadline), "must be greater than minReadySeconds");
    }
}

/// The spec of a ReplicaSet.
pub(super) fn replica_set(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    found.not_negative(&at, spec, "replicas");
    found.not_negative(&at, spec, "minReadySeconds");
    selector_and_template(found, &at, spec);
}

/// A selector cannot be changed once pods were made by it.
pub(super) fn keeps_selector(found: &mut Found, old: &Value, new: &Value) {
    let (old, new) = (&old["spec"]["selector"], &new["spec"]["selector"]);
    if old.is_null() != new.is_null() || !same(SELECTOR, old, new) {
        let shown = if new.is_null() { "null".to_owned() } else { in_order(SELECTOR, new) };
        found.invalid_shown(&Path::new("spec").child("selector"), shown, "field is immutable");
    }
}

/// A number or percentage that is not negative.
pub(super) fn count_or_percent(found: &mut Found, at: &Path<'_>, value: &Value) {
    match value {
        Value::String(text) => {
            for why in percent(text) {
                found.invalid(at, value, why);
            }
        }
        number if number.as_i64().is_some_and(|number| number < 0) => {
            found.invalid(at, value, "must be greater than or equal to 0");
        }
        _ => {}
    }
}

/// A percentage of no more than all.
pub(super) fn at_most_all(found: &mut Found, at: &Path<'_>, value: &Value) {
    if value.as_str().and_then(percentage).is_some_and(|percentage| percentage > 100) {
        found.invalid(at, value, "must not be greater than 100%");
    }
}

fn selector_and_template(found: &mut Found, at: &Path<'_>, spec: &Value) {
    // The text says deployment for ReplicaSets too.
    if selector::of_template(found, at, spec, "deployment") {
        selector::matches_template(found, at, spec);
        template::of_services(found, at, spec, "ReplicaSet");
    }
}

fn strategy(found: &mut Found, at: &Path<'_>, strategy: &Value) {
    match strategy["type"].as_str().unwrap_or("") {
        "Recreate" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "may not be specified when strategy `type` is 'Recreate'";
                found.forbidden(&at.child("rollingUpdate"), why);
            }
        }
        "RollingUpdate" if is_set(strategy, "rollingUpdate") => {
            rolling_update(found, &at.child("rollingUpdate"), &strategy["rollingUpdate"]);
        }
        "RollingUpdate" => {
            found.required(&at.child("rollingUpdate"), "this should be defaulted and never be nil");
        }
        _ => unknown_strategy(found, at, strategy),
    }
}

fn rolling_update(found: &mut Found, at: &Path<'_>, limits: &Value) {
    let (unavailable, surge) = (&limits["maxUnavailable"], &limits["maxSurge"]);
    count_or_percent(found, &at.child("maxUnavailable"), unavailable);
    count_or_percent(found, &at.child("maxSurge"), surge);
    if is_nothing(unavailable) && is_nothing(surge) {
        found.invalid(&at.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
    }
    at_most_all(found, &at.child("maxUnavailable"), unavailable);
}

/// What is no number at all counts as 0 here, as it does in Kubernetes.
fn is_nothing(limit: &Value) -> bool {
    match limit {
        Value::String(text) => percentage(text).unwrap_or_else(|| text.parse().unwrap_or(0)) == 0,
        other => other.as_i64().unwrap_or(0) == 0,
    }
}

/// The value is shown by the names of Kubernetes' own structures.
fn unknown_strategy(found: &mut Found, at: &Path<'_>, strategy: &Value) {
    let limits = match &strategy["rollingUpdate"] {
        Value::Null => "null".to_owned(),
        limits => {
            let or_zero = |value: &Value| if value.is_null() { json!(0) } else { value.clone() };
            let (unavailable, surge) = (or_zero(&limits["maxUnavailable"]), or_zero(&limits["maxSurge"]));
            format!("{{\"MaxUnavailable\":{unavailable},\"MaxSurge\":{surge}}}")
        }
    };
    let kind = json!(strategy["type"].as_str().unwrap_or(""));
    let supported = ["Recreate", "RollingUpdate"].map(|word| format!("\"{word}\"")).to_vec();
    let wrong = crate::Wrong::NotSupported {
        value: format!("{{\"Type\":{kind},\"RollingUpdate\":{limits}}}"),
        supported,
    };
    found.errors.push(crate::FieldError { field: at.to_string(), wrong });
}
