//! The counters of a status.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, number, text};
use super::names::{condition_reason, qualified_name};

/// The counters of a kind: all that are not negative, and which of them are at most `replicas`.
pub(crate) struct Counters {
    pub(crate) counted: &'static [&'static str],
    pub(crate) at_most_replicas: &'static [&'static str],
}

/// Validates counters of replicas.
pub(crate) fn counters(errors: &mut ErrorList, status: &Value, counters: &Counters) {
    not_negative(errors, status, counters.counted);
    let at = Path::new("status");
    let count = |field: &str| number(status, field).unwrap_or(0);
    for field in counters.at_most_replicas {
        if count(field) > count("replicas") {
            errors.invalid(&at.child(field), &json!(count(field)), "cannot be greater than status.replicas");
        }
    }
    if count("availableReplicas") > count("readyReplicas") {
        let available = json!(count("availableReplicas"));
        errors.invalid(&at.child("availableReplicas"), &available, "cannot be greater than readyReplicas");
    }
}

/// Validates that counters are not negative.
pub(crate) fn not_negative(errors: &mut ErrorList, status: &Value, fields: &[&str]) {
    for field in fields {
        errors.not_negative(&Path::new("status"), status, field);
    }
}

/// Validates that the counter of hash collisions does not decrease.
pub(crate) fn not_decremented(errors: &mut ErrorList, old: &Value, new: &Value) {
    let field = "collisionCount";
    let before = number(old, field);
    let is_less = before.is_some_and(|before| number(new, field).is_none_or(|now| now < before));
    if is_less {
        errors.invalid(&Path::new("status").child(field), &new[field], "cannot be decremented");
    }
}

/// Validates conditions of the type that newer kinds share.
pub(crate) fn conditions(errors: &mut ErrorList, conditions: &[Value]) {
    let status_at = Path::new("status");
    let conditions_at = status_at.child("conditions");
    let mut kinds = BTreeSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let (at, kind) = (conditions_at.index(index), text(condition, "type"));
        if !kinds.insert(kind) {
            errors.duplicate(&at, &json!(kind));
        }
        if kind.is_empty() {
            errors.required(&at.child("type"), "is required");
        } else {
            errors.invalid_text(&at.child("type"), kind, qualified_name(kind));
        }
        errors.one_of(&at.child("status"), &condition["status"], &["False", "True", "Unknown"]);
        if number(condition, "observedGeneration").is_some_and(|generation| generation < 0) {
            let why = "must be greater than or equal to zero";
            errors.invalid(&at.child("observedGeneration"), &condition["observedGeneration"], why);
        }
        if !is_set(condition, "lastTransitionTime") {
            errors.required(&at.child("lastTransitionTime"), "");
        }
        let reason = text(condition, "reason");
        errors.required_text(&at.child("reason"), reason, condition_reason);
        for (field, most_bytes) in [("reason", 1024), ("message", 32 * 1024)] {
            if text(condition, field).len() > most_bytes {
                errors.too_long(&at.child(field), most_bytes);
            }
        }
    }
}
