//! Kinds with a rule or two: claims, classes, leases, revisions.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, number, text};
use crate::kinds::Kind;

/// What these kinds ask of their objects, new or changed.
pub(super) fn plain(found: &mut Found, kind: &Kind, object: &Value) {
    let spec = Path::new("spec");
    match kind.kind {
        "Lease" => lease(found, &spec, &object["spec"]),
        "PersistentVolumeClaim" => {
            if list(&object["spec"], "accessModes").is_empty() {
                found.required(&spec.child("accessModes"), "at least 1 access mode is required");
            }
            if object["spec"]["resources"]["requests"]["storage"].is_null() {
                found.required(&spec.child("resources").key("storage"), "");
            }
        }
        "StorageClass" if text(object, "provisioner").is_empty() => {
            found.required(&Path::new("provisioner"), "");
        }
        "ControllerRevision" => {
            if !is_set(object, "data") {
                found.required(&Path::new("data"), "data is mandatory");
            }
            if number(object, "revision").is_some_and(|revision| revision < 0) {
                let why = "must be greater than or equal to 0";
                found.invalid(&Path::new("revision"), &object["revision"], why);
            }
        }
        _ => {}
    }
}

/// What these kinds ask of changes.
pub(super) fn changes(found: &mut Found, kind: &Kind, old: &Value, new: &Value) {
    let changed = |field: &str| old[field] != new[field];
    match kind.kind {
        "PriorityClass" => {
            if changed("value") {
                found.forbidden(&Path::new("value"), "may not be changed in an update.");
            }
            found.immutable(
                &Path::new("preemptionPolicy"),
                !changed("preemptionPolicy"),
                &new["preemptionPolicy"],
            );
        }
        "StorageClass" => {
            for field in ["parameters", "provisioner", "reclaimPolicy"] {
                if changed(field) {
                    found.forbidden(&Path::new(field), format!("updates to {field} are forbidden."));
                }
            }
            found.immutable(
                &Path::new("volumeBindingMode"),
                !changed("volumeBindingMode"),
                &new["volumeBindingMode"],
            );
        }
        "ControllerRevision" => found.immutable(&Path::new("data"), !changed("data"), &new["data"]),
        _ => {}
    }
}

fn lease(found: &mut Found, at: &Path<'_>, spec: &Value) {
    if let Some(seconds) = number(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        found.invalid(&at.child("leaseDurationSeconds"), &json!(seconds), "must be greater than 0");
    }
    found.not_negative(at, spec, "leaseTransitions");
}
