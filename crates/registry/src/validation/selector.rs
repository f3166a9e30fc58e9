//! Validates label selectors.

use gantry_json::Value;

use super::error_list::{ErrorList, Path, is_set, list, members, text};
use super::go_format::ordered_json;
use super::metadata::labels;
use super::names::{label_value, qualified_name};

const SELECTOR: &str = "meta/v1.LabelSelector";

/// Validates the terms of a selector.
pub(crate) fn terms(errors: &mut ErrorList, at: &Path<'_>, selector: &Value) {
    labels(errors, &at.child("matchLabels"), selector, "matchLabels");
    for (index, term) in list(selector, "matchExpressions").iter().enumerate() {
        expression(errors, &at.child("matchExpressions").index(index), term);
    }
}

/// Validates a required selector, which must have terms.
///
/// Returns whether it is valid; if not, the template is not validated.
pub(crate) fn of_template(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, word: &str) -> bool {
    let (at, selector) = (at.child("selector"), &spec["selector"]);
    if !is_set(spec, "selector") {
        errors.required(&at, "");
        return true;
    }
    let before = errors.all.len();
    terms(errors, &at, selector);
    let understood = errors.all.len() == before;
    if is_empty(selector) {
        let why = format!("empty selector is invalid for {word}");
        errors.invalid_formatted(&at, ordered_json(SELECTOR, selector), &why);
    }
    if !understood {
        // For a StatefulSet, Kubernetes gives no reason.
        let why = if word == "statefulset" { "" } else { "invalid label selector" };
        errors.invalid_formatted(&at, ordered_json(SELECTOR, selector), why);
    }
    understood
}

/// Reports a selector that does not match the labels of the template; accepts an empty one.
pub(crate) fn matches_template(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let labels = &spec["template"]["metadata"]["labels"];
    let selector = &spec["selector"];
    if selector.is_null() || !is_empty(selector) && !matches(selector, labels) {
        let (template, why) = (at.child("template"), "`selector` does not match template `labels`");
        errors.invalid(&template.child("metadata").child("labels"), labels, why);
    }
}

/// Reports invalid terms, or else a template that the selector does not match.
///
/// Unlike [`of_template`] it does not require a selector; an absent one matches nothing.
pub(crate) fn valid_and_matching(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let before = errors.all.len();
    terms(errors, &at.child("selector"), &spec["selector"]);
    if errors.all.len() == before {
        matches_template(errors, at, spec);
    }
}

/// Whether a valid selector matches these labels.
pub(crate) fn matches(selector: &Value, labels: &Value) -> bool {
    members(selector, "matchLabels").all(|(key, value)| &labels[key.as_str()] == value)
        && list(selector, "matchExpressions").iter().all(|term| {
            let found = &labels[text(term, "key")];
            match text(term, "operator") {
                "In" => !found.is_null() && list(term, "values").contains(found),
                "NotIn" => found.is_null() || !list(term, "values").contains(found),
                "Exists" => !found.is_null(),
                _ => found.is_null(),
            }
        })
}

pub(crate) fn is_empty(selector: &Value) -> bool {
    members(selector, "matchLabels").next().is_none() && list(selector, "matchExpressions").is_empty()
}

fn expression(errors: &mut ErrorList, at: &Path<'_>, term: &Value) {
    let values = list(term, "values");
    match text(term, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "In" | "NotIn" => {}
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&at.child("values"), why);
            }
        }
        operator => {
            errors.invalid(&at.child("operator"), &Value::from(operator), "not a valid selector operator");
        }
    }
    let key = text(term, "key");
    errors.invalid_text(&at.child("key"), key, qualified_name(key));
    for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
        errors.invalid_text(&at.child("values").index(index), value, label_value(value));
    }
}
