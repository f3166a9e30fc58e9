//! StatefulSets, DaemonSets and ReplicationControllers.

use serde_json::{Value, json};

use super::deployment::{at_most_all, count_or_percent};
use super::found::{Found, Path, is_set, list, members, text};
use super::names::label;
use super::shown::with_go_names;
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
    retention(found, &at.child("persistentVolumeClaimRetentionPolicy"), spec);
    found.not_negative(&at, spec, "replicas");
    found.not_negative(&at, spec, "minReadySeconds");
    found.not_negative(&at.child("ordinals"), &spec["ordinals"], "start");
    let service = text(spec, "serviceName");
    if !service.is_empty() {
        found.invalid_text(&at.child("serviceName"), service, label(service));
    }
    if selector::of_template(found, &at, spec, "statefulset") {
        selector::matches_template(found, &at, spec);
        template::of_services(found, &at, &with_claims(spec), "StatefulSet");
    }
}

fn retention(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let policy = &spec["persistentVolumeClaimRetentionPolicy"];
    for field in ["whenDeleted", "whenScaled"].into_iter().filter(|_| !policy.is_null()) {
        if !matches!(text(policy, field), "Retain" | "Delete") {
            found.unsupported(&at.child(field), &policy[field], &["Retain", "Delete"]);
        }
    }
}

/// The spec with the volumes of its claims in the template, where containers mount them.
fn with_claims(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let claims: Vec<_> = list(&spec, "volumeClaimTemplates")
        .iter()
        .map(|claim| text(&claim["metadata"], "name"))
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
        .collect();
    if claims.is_empty() {
        return spec;
    }
    let volumes = &mut spec["template"]["spec"]["volumes"];
    let given = volumes.as_array().cloned().unwrap_or_default();
    let is_replaced = |volume: &Value| claims.iter().any(|claim| claim["name"] == volume["name"]);
    let others: Vec<_> = given.into_iter().filter(|volume| !is_replaced(volume)).collect();
    *volumes = others.into_iter().chain(claims.iter().cloned()).collect();
    spec
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
            let is_given =
                |field: &str| !matches!(limits[field].as_str(), Some("0%")) && limits[field] != json!(0);
            match (is_given("maxUnavailable"), is_given("maxSurge")) {
                (true, true) => {
                    let why = "may not be set when maxUnavailable is non-zero";
                    found.invalid(&at.child("maxSurge"), &limits["maxSurge"], why);
                }
                (false, false) => {
                    found.required(&at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0");
                }
                _ => {}
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
        _ => {
            let limits = match &strategy["rollingUpdate"] {
                Value::Null => "null".to_owned(),
                limits => with_go_names(limits),
            };
            let shown = format!("{{\"Type\":{},\"RollingUpdate\":{limits}}}", strategy["type"]);
            found.invalid_shown(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}
