//! Kinds with a rule or two: claims, classes, leases, revisions.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, members, number, text};
use super::names::{qualified_name, subdomain};
use crate::kinds::Kind;
use crate::quantity::Quantity;

/// The classes of the system, with their values.
const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
/// What quotas count, and what they add up.
const COUNTS: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const AMOUNTS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const SYSTEM_PREFIX: &str = "system-";
const USER_PRIORITY_MAX: i64 = 1_000_000_000;

/// What these kinds ask of their objects, new or changed.
pub(super) fn plain(found: &mut Found, kind: &Kind, object: &Value) {
    let spec = Path::new("spec");
    match kind.kind {
        "Lease" => lease(found, &spec, &object["spec"]),
        "PersistentVolumeClaim" => {
            claim(found, &spec, &object["spec"]);
        }
        "StorageClass" if text(object, "provisioner").is_empty() => {
            found.required(&Path::new("provisioner"), "");
        }
        "ResourceQuota" => quota(found, &spec.child("hard"), &object["spec"]),
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

/// The spec of a claim, of its own or as a template.
pub(super) fn claim(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let (modes_at, modes) = (at.child("accessModes"), list(spec, "accessModes"));
    if modes.is_empty() {
        found.required(&modes_at, "at least 1 access mode is required");
    }
    let known = |mode: &Value| mode.as_str().is_some_and(|mode| ACCESS_MODES.contains(&mode));
    for mode in modes.iter().filter(|mode| !known(mode)) {
        found.unsupported(&modes_at, mode, &ACCESS_MODES);
    }
    let is_single = |mode: &Value| mode == "ReadWriteOncePod";
    if modes.iter().any(is_single) && modes.iter().any(|mode| known(mode) && !is_single(mode)) {
        found.forbidden(&modes_at, "may not use ReadWriteOncePod with other access modes");
    }
    let (resources, storage) = (at.child("resources"), &spec["resources"]["requests"]["storage"]);
    match storage.as_str().and_then(|text| Quantity::parse(text).ok()) {
        None => found.required(&resources.key("storage"), ""),
        Some(amount) if amount.billionths() <= 0 => {
            found.invalid(&resources.key("storage"), storage, "must be greater than zero");
        }
        Some(_) => {}
    }
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        found.invalid_text(&at.child("storageClassName"), class, subdomain(class));
    }
}

/// A new PriorityClass: the highest values and the names of the system are its own.
pub(super) fn new_priority_class(found: &mut Found, class: &Value) {
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
        found.forbidden(&metadata.child("name"), why);
    }
    if !name.starts_with(SYSTEM_PREFIX)
        && number(class, "value").is_some_and(|value| value > USER_PRIORITY_MAX)
    {
        let why = format!("maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}");
        found.forbidden(&Path::new("value"), why);
    }
    let policies = ["PreemptLowerPriority", "Never"];
    found.one_of_if_set(&Path::new("preemptionPolicy"), &class["preemptionPolicy"], &policies);
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

/// A quota: names that it knows, amounts that are not negative.
fn quota(found: &mut Found, at: &Path<'_>, spec: &Value) {
    for (name, amount) in members(spec, "hard") {
        let at = at.key(name);
        found.invalid_text(&at, name, qualified_name(name));
        if !name.contains('/') && !is_quota_name(name) {
            found.invalid(&at, &json!(name), "must be a standard resource type or fully qualified");
            found.invalid(&at, &json!(name), "must be a standard resource for quota");
        }
        let Some(value) = amount.as_str().and_then(|text| Quantity::parse(text).ok()) else { continue };
        if value.billionths() < 0 {
            found.invalid(&at, amount, "must be greater than or equal to 0");
        }
        if COUNTS.contains(&name.as_str()) && value.billionths() % 1_000_000_000 != 0 {
            found.invalid(&at, amount, "must be an integer");
        }
    }
}

fn is_quota_name(name: &str) -> bool {
    let amount = name.strip_prefix("requests.").or(name.strip_prefix("limits.")).unwrap_or(name);
    let is_amount = AMOUNTS.contains(&amount) || amount.starts_with("hugepages-");
    COUNTS.contains(&name) || is_amount || name == "requests.storage"
}

fn lease(found: &mut Found, at: &Path<'_>, spec: &Value) {
    if let Some(seconds) = number(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        found.invalid(&at.child("leaseDurationSeconds"), &json!(seconds), "must be greater than 0");
    }
    found.not_negative(at, spec, "leaseTransitions");
}
