//! Validates updates of pods, most of whose fields are immutable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, list, number, text};
use crate::validation::names::within;
use crate::validation::semantically_equal;

const SPEC: &str = "core/v1.PodSpec";
const REFUSAL: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Validates an update of a pod.
pub(crate) fn update(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("spec");
    let (old, new) = (&old["spec"], &new["spec"]);
    for field in ["containers", "initContainers"] {
        if list(old, field).len() != list(new, field).len() {
            return errors.forbidden(&at.child(field), "pod updates may not add or remove containers");
        }
    }
    if !deadline(errors, &at.child("activeDeadlineSeconds"), old, new) {
        return;
    }
    added_tolerations(errors, &at.child("tolerations"), old, new);
    removed_gates(errors, &at.child("schedulingGates"), old, new);
    let allowed = with_allowed_changes_undone(old, new);
    if !semantically_equal(SPEC, old, &allowed) {
        errors.forbidden(&at, format!("{REFUSAL}\n{}", difference(old, &allowed)));
    }
}

/// Validates an update of ephemeral containers: they can be added, not changed or removed.
pub(crate) fn ephemeral_containers(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (old, new) = (&old["spec"], &new["spec"]);
    let at = Path::new("spec");
    let at = at.child("ephemeralContainers");
    let names = list(new, "ephemeralContainers").iter().rev();
    let now: BTreeMap<_, _> = names.map(|container| (text(container, "name"), container)).collect();
    for before in list(old, "ephemeralContainers") {
        let name = text(before, "name");
        match now.get(name) {
            None => {
                let why = format!("existing ephemeral containers {name:?} may not be removed\n");
                errors.forbidden(&at, why);
            }
            Some(after) if !semantically_equal("core/v1.EphemeralContainer", before, after) => {
                let changes = difference(before, after);
                let why = format!("existing ephemeral containers {name:?} may not be changed\n{changes}");
                errors.forbidden(&at, why);
            }
            Some(_) => {}
        }
    }
}

/// Validates that a deadline is only set or decreased. Returns whether to continue.
fn deadline(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) -> bool {
    let field = "activeDeadlineSeconds";
    match (number(old, field), number(new, field)) {
        (_, Some(now)) if !within(now, 0, i64::from(i32::MAX)).is_empty() => {
            for why in within(now, 0, i64::from(i32::MAX)) {
                errors.invalid(at, &json!(now), why);
            }
            false
        }
        (Some(before), Some(now)) if now > before => {
            errors.invalid(at, &json!(now), "must be less than or equal to previous value");
            false
        }
        (Some(_), None) => {
            errors.invalid(at, &Value::Null, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

fn added_tolerations(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let but_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Some(fields) = toleration.as_object_mut() {
            fields.remove("tolerationSeconds");
        }
        toleration.to_string()
    };
    let now: BTreeSet<_> = list(new, "tolerations").iter().map(but_seconds).collect();
    if list(old, "tolerations").iter().any(|before| !now.contains(&but_seconds(before))) {
        errors.forbidden(at, "existing toleration can not be modified except its tolerationSeconds");
    }
}

fn removed_gates(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let before: BTreeSet<_> = list(old, "schedulingGates").iter().map(|gate| text(gate, "name")).collect();
    for (index, gate) in list(new, "schedulingGates").iter().enumerate() {
        if !before.contains(text(gate, "name")) {
            let why =
                format!("only deletion is allowed, but found new scheduling gate '{}'", text(gate, "name"));
            errors.forbidden(&at.index(index).child("name"), why);
        }
    }
}

/// Returns the new spec with all allowed changes undone; other differences are not allowed.
fn with_allowed_changes_undone(old: &Value, new: &Value) -> Value {
    let mut spec = new.clone();
    for field in ["containers", "initContainers"] {
        let before = list(old, field);
        let now = spec.get_mut(field).and_then(Value::as_array_mut);
        for (container, before) in now.into_iter().flatten().zip(before) {
            if let Some(container) = container.as_object_mut() {
                container.insert("image", before["image"].clone());
            }
        }
    }
    let Some(fields) = spec.as_object_mut() else { return spec };
    let mut undo = vec!["activeDeadlineSeconds", "tolerations", "schedulingGates"];
    let grace = "terminationGracePeriodSeconds";
    if number(old, grace).is_some_and(|seconds| seconds < 0) && number(new, grace) == Some(1) {
        undo.push(grace);
    }
    if !list(old, "schedulingGates").is_empty() && selects_more(old, new) {
        undo.push("nodeSelector");
    }
    for field in undo {
        match old.get(field) {
            Some(value) => fields.insert(field.to_owned(), value.clone()),
            None => fields.remove(field),
        };
    }
    spec
}

/// Whether the node selector is unchanged or has more terms, which a pod with scheduling gates allows.
fn selects_more(old: &Value, new: &Value) -> bool {
    let before = old["nodeSelector"].as_object();
    before.into_iter().flatten().all(|(key, value)| &new["nodeSelector"][key.as_str()] == value)
}

/// Formats the difference.
fn difference(old: &Value, new: &Value) -> String {
    let mut lines = String::new();
    compare(&mut lines, "", old, new);
    lines
}

fn compare(lines: &mut String, place: &str, old: &Value, new: &Value) {
    if old == new {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            let absent = Value::Null;
            for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(name))) {
                let (old, new) = (before.get(name).unwrap_or(&absent), after.get(name).unwrap_or(&absent));
                compare(lines, &format!("{place}.{name}"), old, new);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (old, new)) in before.iter().zip(after).enumerate() {
                compare(lines, &format!("{place}[{index}]"), old, new);
            }
        }
        _ => {
            let place = place.trim_start_matches('.');
            let _ = writeln!(lines, "- {place}: {old}\n+ {place}: {new}");
        }
    }
}
