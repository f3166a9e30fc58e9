//! StatefulSets, DaemonSets and ReplicationControllers.

use serde_json::{Value, json};

use super::deployment::{at_most_all, count_or_percent};
use super::found::{Found, Path, is_set, members, text};
use super::{same, selector, template};

const STATEFUL_SPEC: &str = "apps/v1.StatefulSetSpec";
/// What may change in a StatefulSet, in the order in which the refusal names it.
const MAY_CHANGE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// The spec of a StatefulSet.
pub(super) fn stateful_set(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    match text(spec, "podManagementPolicy") {
        "OrderedReady" | "Parallel" => {}
        "" => found.required(&at.child("podManagementPolicy"), ""),
        other => {
            let why = "must be 'OrderedReady' or 'Parallel'";
            found.invalid(&at.child("podManagementPolicy"), &json!(other), why);
        }
    }
    update_strategy(found, &at.child("updateStrategy"), &spec["updateStrategy"]);
    found.not_negative(&at, spec, "replicas");
    found.not_negative(&at, spec, "minReadySeconds");
    if selector::of_template(found, &at, spec, "statefulset") {
        selector::matches_template(found, &at, spec);
        template::of_services(found, &at, spec, "StatefulSet");
    }
}

/// Most of a StatefulSet cannot be changed.
pub(super) fn stateful_set_changes(found: &mut Found, old: &Value, new: &Value) {
    let mut merged = new["spec"].clone();
    let (Some(spec), Some(before)) = (merged.as_object_mut(), old["spec"].as_object()) else { return };
    for field in MAY_CHANGE {
        match before.get(field) {
            Some(value) => spec.insert(field.to_owned(), value.clone()),
            None => spec.remove(field),
        };
    }
    if !same(STATEFUL_SPEC, &old["spec"], &merged) {
        let (last, names) = MAY_CHANGE.split_last().unwrap_or((&"", &[]));
        let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
        let why = format!(
            "updates to statefulset spec for fields other than {} and '{last}' are forbidden",
            names.join(", ")
        );
        found.forbidden(&Path::new("spec"), why);
    }
}

/// The spec of a DaemonSet.
pub(super) fn daemon_set(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    if selector::of_template(found, &at, spec, "daemonset") {
        selector::matches_template(found, &at, spec);
    }
    template::of_services(found, &at, spec, "DaemonSet");
    found.not_negative(&at, spec, "minReadySeconds");
    let strategy_at = at.child("updateStrategy");
    let strategy = &spec["updateStrategy"];
    match text(strategy, "type") {
        "RollingUpdate" => {
            let (at, limits) = (strategy_at.child("rollingUpdate"), &strategy["rollingUpdate"]);
            for field in ["maxUnavailable", "maxSurge"] {
                count_or_percent(found, &at.child(field), &limits[field]);
                at_most_all(found, &at.child(field), &limits[field]);
            }
        }
        "OnDelete" => {}
        _ => {
            let types = ["RollingUpdate", "OnDelete"];
            found.unsupported(&strategy_at.child("type"), &strategy["type"], &types);
        }
    }
    found.not_negative(&at, spec, "revisionHistoryLimit");
}

/// The spec of a ReplicationController, whose selector is a plain map.
pub(super) fn replication_controller(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    found.not_negative(&at, spec, "minReadySeconds");
    let selects = members(spec, "selector").next().is_some();
    if !selects {
        found.required(&at.child("selector"), "");
    }
    found.not_negative(&at, spec, "replicas");
    if !is_set(spec, "template") {
        return found.required(&at.child("template"), "");
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if selects && !members(spec, "selector").all(|(key, value)| &labels[key.as_str()] == value) {
        let (template, why) = (at.child("template"), "`selector` does not match template `labels`");
        found.invalid(&template.child("metadata").child("labels"), labels, why);
    }
    template::of_services(found, &at, spec, "ReplicationController");
}

fn update_strategy(found: &mut Found, at: &Path<'_>, strategy: &Value) {
    match text(strategy, "type") {
        "" => found.required(at, ""),
        "OnDelete" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                found.invalid(&at.child("rollingUpdate"), &strategy["rollingUpdate"], why);
            }
        }
        "RollingUpdate" => {
            let (at, limits) = (at.child("rollingUpdate"), &strategy["rollingUpdate"]);
            found.not_negative(&at, limits, "partition");
            if is_set(limits, "maxUnavailable") {
                count_or_percent(found, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
                if limits["maxUnavailable"] == json!(0) || limits["maxUnavailable"] == json!("0%") {
                    found.invalid(&at.child("maxUnavailable"), &limits["maxUnavailable"], "cannot be 0");
                }
                at_most_all(found, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
            }
        }
        other => found.invalid(at, &json!(other), "must be 'RollingUpdate' or 'OnDelete'"),
    }
}
