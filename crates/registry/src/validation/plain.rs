//! Kinds with a rule or two: priority classes, leases, revisions.

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, number, text};
use crate::kinds::Kind;

/// The classes of the system, with their values.
const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
const SYSTEM_PREFIX: &str = "system-";
const USER_PRIORITY_MAX: i64 = 1_000_000_000;

/// What these kinds ask of their objects, new or changed.
pub(super) fn plain(errors: &mut ErrorList, kind: &Kind, object: &Value, is_new: bool) {
    let spec = Path::new("spec");
    match kind.kind {
        "Lease" => lease(errors, &spec, &object["spec"]),
        "ControllerRevision" => {
            if is_new {
                match &object["data"] {
                    Value::Null => errors.required(&Path::new("data"), "data is mandatory"),
                    Value::Object(_) => {}
                    _ => errors.required(&Path::new("data"), "data must be a valid JSON object"),
                }
            }
            if number(object, "revision").is_some_and(|revision| revision < 0) {
                let why = "must be greater than or equal to 0";
                errors.invalid(&Path::new("revision"), &object["revision"], why);
            }
        }
        _ => {}
    }
}

/// A new PriorityClass: the highest values and the names of the system are its own.
pub(super) fn new_priority_class(errors: &mut ErrorList, class: &Value) {
    let name = text(&class["metadata"], "name");
    let is_ours = SYSTEM_CLASSES.contains(&(name, number(class, "value").unwrap_or(0)));
    if name.starts_with(SYSTEM_PREFIX) && !is_ours {
        let metadata = Path::new("metadata");
        let why = match SYSTEM_CLASSES.iter().find(|(other, _)| *other == name) {
            Some((_, value)) => format!("value of {name} PriorityClass must be {value}"),
            None => format!("{name} is not a known system priority class"),
        };
        let why = format!(
            "priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only. error: {why}"
        );
        errors.forbidden(&metadata.child("name"), why);
    }
    if !name.starts_with(SYSTEM_PREFIX)
        && number(class, "value").is_some_and(|value| value > USER_PRIORITY_MAX)
    {
        let why = format!("maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}");
        errors.forbidden(&Path::new("value"), why);
    }
    let policies = ["PreemptLowerPriority", "Never"];
    errors.one_of_if_set(&Path::new("preemptionPolicy"), &class["preemptionPolicy"], &policies);
}

/// What these kinds ask of changes.
pub(super) fn changes(errors: &mut ErrorList, kind: &Kind, old: &Value, new: &Value) {
    let changed = |field: &str| old[field] != new[field];
    match kind.kind {
        "PriorityClass" => {
            if changed("value") {
                errors.forbidden(&Path::new("value"), "may not be changed in an update.");
            }
            errors.immutable(
                &Path::new("preemptionPolicy"),
                !changed("preemptionPolicy"),
                &new["preemptionPolicy"],
            );
        }
        "ControllerRevision" => errors.immutable(&Path::new("data"), !changed("data"), &new["data"]),
        _ => {}
    }
}

fn lease(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    if let Some(seconds) = number(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        errors.invalid(&at.child("leaseDurationSeconds"), &json!(seconds), "must be greater than 0");
    }
    errors.not_negative(at, spec, "leaseTransitions");
}
