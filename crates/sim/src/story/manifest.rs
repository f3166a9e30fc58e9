//! Objects and patches of stories, as JSON.

use gantry_json::{Value, json};
use gantry_model::keys;

use super::command::{USAGE, number};

/// The value for "no limit" in the API: without the field the default would apply.
const UNLIMITED: i32 = i32::MAX;

/// A Deployment with these fields; its pods are labelled `app=NAME`.
pub(super) fn deployment(name: &str, fields: &[(&str, &str)]) -> Result<Value, String> {
    let mut object = workload("Deployment", name, name);
    for (key, value) in fields {
        merge(&mut object, change(key, value)?);
    }
    Ok(object)
}

/// A ReplicaSet without an owner.
pub(super) fn replica_set(name: &str, fields: &[(&str, &str)]) -> Result<Value, String> {
    let app = fields.iter().find(|(key, _)| *key == "app").map_or(name, |(_, app)| app);
    let mut object = workload("ReplicaSet", name, app);
    for (key, value) in fields.iter().filter(|(key, _)| *key != "app") {
        if !["replicas", "image"].contains(key) {
            return Err(format!("unknown field `{key}` of a ReplicaSet; see\n{USAGE}"));
        }
        merge(&mut object, change(key, value)?);
    }
    Ok(object)
}

/// A patch of a Deployment or a ReplicaSet.
pub(super) fn change_of(fields: &[(&str, &str)]) -> Result<Value, String> {
    let mut patch = json!({});
    for (key, value) in fields {
        merge(&mut patch, change(key, value)?);
    }
    Ok(patch)
}

/// The patch that sets one field: `surge=3`.
fn change(key: &str, value: &str) -> Result<Value, String> {
    let rolling = |field: &str, limit: Value| json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {field: limit}}}});
    Ok(match key {
        "replicas" => json!({"spec": {"replicas": number::<u16>(value)?}}),
        "image" => {
            json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": value}]}}}})
        }
        "surge" => rolling("maxSurge", limit(value)?),
        "unavailable" => rolling("maxUnavailable", limit(value)?),
        "strategy" if value == "Recreate" => {
            json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})
        }
        "strategy" if value == "RollingUpdate" => json!({"spec": {"strategy": {"type": "RollingUpdate"}}}),
        "deadline" => json!({"spec": {"progressDeadlineSeconds": unless_none(value)?}}),
        "history" => json!({"spec": {"revisionHistoryLimit": unless_none(value)?}}),
        "min-ready" => json!({"spec": {"minReadySeconds": number::<i32>(value)?}}),
        "paused" => json!({"spec": {"paused": value == "true"}}),
        "note" => {
            let (key, value) = value.split_once(':').ok_or("a note is KEY:VALUE")?;
            annotation(key, value)
        }
        _ => return Err(format!("unknown field `{key}={value}` of a Deployment; see\n{USAGE}")),
    })
}

pub(super) fn annotation(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}

pub(super) fn label(key: &str, value: &str) -> Value {
    json!({"metadata": {"labels": {key: value}}})
}

pub(super) fn template_label(key: &str, value: &str) -> Value {
    json!({"spec": {"template": label(key, value)}})
}

/// The deletion cost of a pod, and a label by which the remaining pods are recognized.
pub(super) fn deletion_cost(cost: i32) -> Value {
    let mut patch = annotation(keys::DELETION_COST, &cost.to_string());
    merge(&mut patch, label("cost", &format!("c{}", cost.unsigned_abs())));
    patch
}

/// An object of the group `apps` with one container `main`.
fn workload(kind: &str, name: &str, app: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "labels": {"app": app}}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"app": app}}, "template": {
            "metadata": {"labels": {"app": app}},
            "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}}})
}

fn merge(all: &mut Value, one: Value) {
    match (all, one) {
        (Value::Object(all), Value::Object(one)) => {
            for (key, value) in one {
                merge(all.entry(key).or_insert_with(|| json!({})), value);
            }
        }
        (all, one) => *all = one,
    }
}

fn limit(value: &str) -> Result<Value, String> {
    match value.strip_suffix('%') {
        Some(percent) => number::<u32>(percent).map(|_| Value::from(value)),
        None => number::<u32>(value).map(|count| json!(count)),
    }
}

fn unless_none(value: &str) -> Result<i32, String> {
    if value == "none" { Ok(UNLIMITED) } else { number(value) }
}
