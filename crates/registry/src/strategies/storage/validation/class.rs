//! Validates StorageClasses.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, list, members, text};
use crate::validation::names::qualified_name;
use crate::validation::semantically_equal;

const MOST_PARAMETERS: usize = 512;
const MOST_BYTES: usize = 256 * 1024;
const RECLAIM_POLICIES: [&str; 2] = ["Delete", "Retain"];
const BINDING_MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];

/// Validates a StorageClass.
pub(crate) fn storage_class(errors: &mut ErrorList, class: &Value) {
    let provisioner = text(class, "provisioner");
    driver_name(errors, "provisioner", provisioner);
    parameters(errors, class);
    let policy = &class["reclaimPolicy"];
    errors.one_of_if_set(&Path::new("reclaimPolicy"), policy, &RECLAIM_POLICIES);
    let (mode_at, mode) = (Path::new("volumeBindingMode"), &class["volumeBindingMode"]);
    match mode.as_str() {
        None => errors.required(&mode_at, ""),
        Some(word) if !BINDING_MODES.contains(&word) => errors.unsupported(&mode_at, mode, &BINDING_MODES),
        Some(_) => {}
    }
    topologies(errors, list(class, "allowedTopologies"));
    if provisioner.is_empty() {
        errors.required(&Path::new("provisioner"), "");
    }
}

/// Reports changes of immutable fields.
pub(crate) fn storage_class_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    for field in ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"] {
        let only = |class: &Value| json!({field: class[field]});
        errors.unchanged(
            &Path::new(field),
            semantically_equal("storage/v1.StorageClass", &only(old), &only(new)),
        );
    }
}

/// Validates a new VolumeAttributesClass.
pub(crate) fn attributes_class(errors: &mut ErrorList, class: &Value) {
    let driver = text(class, "driverName");
    if driver.is_empty() {
        errors.required(&Path::new("driverName"), "");
    } else {
        driver_name(errors, "driverName", driver);
    }
    if members(class, "parameters").count() == 0 {
        return errors.required(&Path::new("parameters"), "must contain at least one key/value pair");
    }
    parameters(errors, class);
}

/// Reports changes of a VolumeAttributesClass, which never changes.
pub(crate) fn attributes_class_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    for field in ["driverName", "parameters"] {
        if old[field] != new[field] {
            errors.forbidden(&Path::new(field), format!("updates to {field} are forbidden."));
        }
    }
}

/// Validates the name of a driver, whose case does not matter.
fn driver_name(errors: &mut ErrorList, field: &str, name: &str) {
    if !name.is_empty() {
        let name = name.to_lowercase();
        errors.invalid_text(&Path::new(field), &name, qualified_name(&name));
    }
}

fn parameters(errors: &mut ErrorList, class: &Value) {
    let at = Path::new("parameters");
    if members(class, "parameters").count() > MOST_PARAMETERS {
        return errors.too_long(&at, MOST_PARAMETERS);
    }
    let mut bytes = 0_usize;
    for (key, value) in members(class, "parameters") {
        if key.is_empty() {
            errors.invalid(&at, &json!(key), "field can not be empty.");
        }
        bytes = bytes.saturating_add(key.len()).saturating_add(value.as_str().map_or(0, str::len));
    }
    if bytes > MOST_BYTES {
        errors.too_long(&at, MOST_BYTES);
    }
}

fn topologies(errors: &mut ErrorList, terms: &[Value]) {
    let at = Path::new("allowedTopologies");
    let mut seen: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        let at = at.index(index);
        let at = at.child("matchLabelExpressions");
        let mut keys = BTreeMap::new();
        for (index, expression) in list(term, "matchLabelExpressions").iter().enumerate() {
            let at = at.index(index);
            let key = text(expression, "key");
            let values = topology_values(errors, &at.child("values"), expression);
            errors.invalid_text(&at.child("key"), key, qualified_name(key));
            if keys.insert(key, values).is_some() {
                errors.duplicate(&at.child("key"), &json!(key));
            }
        }
        // Kubernetes compares every term with an empty one, so a term without expressions is a duplicate.
        let equal = seen.iter().filter(|other| **other == keys).count();
        let empty = if keys.is_empty() { terms.len() } else { 0 };
        for _ in 0..(equal + empty).min(1) {
            errors.duplicate(&at, &json!(""));
        }
        seen.push(keys);
    }
}

fn topology_values<'a>(errors: &mut ErrorList, at: &Path<'_>, expression: &'a Value) -> BTreeSet<&'a str> {
    let values = list(expression, "values");
    if values.is_empty() {
        errors.required(at, "");
    }
    let mut seen = BTreeSet::new();
    for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
        if !seen.insert(value) {
            errors.duplicate(&at.index(index), &json!(value));
        }
    }
    seen
}
