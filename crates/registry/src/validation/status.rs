//! The counters of a status.

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, number};

/// The counters of a kind: those that are not negative, and those of them that are at most `replicas`.
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
