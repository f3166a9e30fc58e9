//! Rules that several workloads share.

use gantry_json::Value;

use crate::validation::error_list::{ErrorList, Path};
use crate::validation::go_format::ordered_json;
use crate::validation::names::{percent, percentage};
use crate::validation::{selector, semantically_equal, template};

pub(crate) const SELECTOR: &str = "meta/v1.LabelSelector";

/// Reports a change of the selector.
pub(crate) fn immutable_selector(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (old, new) = (&old["selector"], &new["selector"]);
    if old.is_null() != new.is_null() || !semantically_equal(SELECTOR, old, new) {
        let shown = if new.is_null() { "null".to_owned() } else { ordered_json(SELECTOR, new) };
        errors.invalid_formatted(&Path::new("spec").child("selector"), shown, "field is immutable");
    }
}

/// Validates a number or percentage, which must not be negative.
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

/// Reports a percentage of more than 100%.
pub(crate) fn at_most_100_percent(errors: &mut ErrorList, at: &Path<'_>, value: &Value) {
    if value.as_str().and_then(percentage).is_some_and(|percentage| percentage > 100) {
        errors.invalid(at, value, "must not be greater than 100%");
    }
}

pub(crate) fn selector_and_template(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    // Kubernetes writes `deployment` for ReplicaSets, too.
    if selector::of_template(errors, at, spec, "deployment") {
        selector::matches_template(errors, at, spec);
        template::restarting_template(errors, at, spec, "ReplicaSet");
    }
}

/// Whether a limit is zero; an invalid one counts as zero, as in Kubernetes.
pub(crate) fn is_nothing(limit: &Value) -> bool {
    match limit {
        Value::String(text) => percentage(text).unwrap_or_else(|| text.parse().unwrap_or(0)) == 0,
        other => other.as_i64().unwrap_or(0) == 0,
    }
}
