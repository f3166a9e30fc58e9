//! Validates the `x-kubernetes-…` extensions of a schema.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::custom::{Brackets, resolve};
use crate::validation::error_list::{ErrorList, Path, is_set, list, text};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Validates list and map types.
pub(super) fn list_and_map_types(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    const MAP: &str = "x-kubernetes-map-type";
    const LIST: &str = "x-kubernetes-list-type";
    const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
    if schema[PRESERVE] == false {
        errors.invalid(&at.child(PRESERVE), &json!(false), "must be true or undefined");
    }
    if is_set(schema, MAP) {
        wants_type(errors, &at.child("type"), schema, MAP, "object");
    }
    one_of(errors, &at.child(MAP), &schema[MAP], &["atomic", "granular"]);
    if is_set(schema, LIST) && schema["type"] != "array" {
        wants_type(errors, &at.child("type"), schema, LIST, "array");
    } else if schema[LIST] == "set" {
        set_items(errors, &at.child("items"), &schema["items"]);
    }
    one_of(errors, &at.child(LIST), &schema[LIST], &["atomic", "set", "map"]);
    map_keys(errors, at, schema);
    named_elements(errors, &at.child("items"), schema);
}

fn wants_type(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, extension: &str, wanted: &str) {
    let why = format!("must be {wanted} if {extension} is specified");
    match text(schema, "type") {
        "" => errors.required(at, &why),
        kind if kind == wanted => {}
        _ => errors.invalid(at, &schema["type"], why),
    }
}

fn one_of(errors: &mut ErrorList, at: &Path<'_>, value: &Value, words: &[&str]) {
    if value.as_str().is_some_and(|word| !words.contains(&word)) {
        errors.unsupported(at, value, words);
    }
}

/// Validates the elements of a set, which must be atomic.
fn set_items(errors: &mut ErrorList, at: &Path<'_>, items: &Value) {
    const WHY: &str = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let (list, map) = (&items["x-kubernetes-list-type"], &items["x-kubernetes-map-type"]);
    match text(items, "type") {
        "array" if !list.is_null() && list != "atomic" => {
            errors.invalid(&at.child("x-kubernetes-list-type"), list, WHY);
        }
        // The value in the error is upstream's.
        "object" if map != "atomic" => errors.invalid(&at.child("x-kubernetes-map-type"), list, WHY),
        _ => {}
    }
}

/// Validates the keys of a list that is a map.
fn map_keys(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    const KEYS: &str = "x-kubernetes-list-map-keys";
    let (keys, kind, items) = (list(schema, KEYS), &schema["x-kubernetes-list-type"], &schema["items"]);
    if !keys.is_empty() && kind != "map" {
        let (at, why) = (at.child("x-kubernetes-list-type"), format!("must be map if {KEYS} is non-empty"));
        match kind {
            Value::Null => errors.required(&at, &why),
            kind => errors.invalid(&at, kind, why),
        }
    }
    if kind != "map" {
        return;
    }
    let (keys_at, items_at) = (at.child(KEYS), at.child("items"));
    if keys.is_empty() {
        errors.required(&keys_at, "must not be empty if x-kubernetes-list-type is map");
    }
    match items {
        Value::Null => errors.required(&items_at, "must have a schema if x-kubernetes-list-type is map"),
        Value::Array(_) => {
            errors.invalid(
                &items_at,
                items,
                "must only have a single schema if x-kubernetes-list-type is map",
            );
        }
        items if items["type"] != "object" => {
            let why = "must be object if parent array's x-kubernetes-list-type is map";
            errors.invalid(&items_at.child("type"), &json!(text(items, "type")), why);
        }
        items => {
            let mut seen = BTreeSet::new();
            for key in keys.iter().filter_map(Value::as_str) {
                let property = &items["properties"][key];
                if property.is_null() {
                    errors.invalid(&keys_at, &json!(keys), "entries must all be names of item properties");
                } else if matches!(text(property, "type"), "array" | "object") {
                    let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    let at = items_at.child("properties");
                    errors.invalid(&at.key(key).child("type"), &items["type"], why);
                }
                if !seen.insert(key) {
                    errors.invalid(&keys_at, &json!(keys), "must not contain duplicate entries");
                }
            }
        }
    }
}

/// Validates that keys are required or have a default.
fn named_elements(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    let (kind, items) = (text(schema, "x-kubernetes-list-type"), &schema["items"]);
    if !matches!(kind, "set" | "map") || !items.is_object() {
        return;
    }
    if items["nullable"] == true {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
        errors.forbidden(&at.child("nullable"), why);
    }
    let keys = list(schema, "x-kubernetes-list-map-keys").iter().filter(|_| kind == "map");
    let required: BTreeSet<_> = list(items, "required").iter().filter_map(Value::as_str).collect();
    for key in keys.filter_map(Value::as_str) {
        let (at, property) = (at.child("properties"), &items["properties"][key]);
        if property.is_null() {
            continue;
        }
        if !required.contains(key) && !is_set(property, "default") {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                       property";
            errors.required(&at.key(key).child("default"), why);
        }
        if property["nullable"] == true {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.forbidden(&at.key(key).child("nullable"), why);
        }
    }
}

/// Validates the form of rules; their expressions are validated once the schema is valid.
pub(super) fn rules(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    for (index, rule) in list(schema, "x-kubernetes-validations").iter().enumerate() {
        let at = at.index(index);
        let (rule_text, message) = (text(rule, "rule").trim(), text(rule, "message"));
        let breaks = |text: &str| text.contains(['\n', '\r']);
        if rule_text.is_empty() {
            errors.required(&at.child("rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.invalid(&at.child("message"), &rule["message"], "must be non-empty if specified");
        } else if breaks(message.trim()) {
            errors.invalid(&at.child("message"), &rule["message"], "must not contain line breaks");
        } else if breaks(rule_text) && message.is_empty() {
            let why = "message must be specified if rule contains line breaks";
            errors.required(&at.child("message"), why);
        }
        let expression = text(rule, "messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let why = "messageExpression must be non-empty if specified";
            errors.required(&at.child("messageExpression"), why);
        }
        if rule["reason"].as_str().is_some_and(|reason| !REASONS.contains(&reason)) {
            errors.unsupported(&at.child("reason"), &rule["reason"], &REASONS);
        }
        let path = text(rule, "fieldPath");
        if !path.is_empty() {
            let (at, shown) = (at.child("fieldPath"), &rule["fieldPath"]);
            if path.trim().is_empty() {
                errors.invalid(&at, shown, "must be non-empty if specified");
            }
            if breaks(path) {
                errors.invalid(&at, shown, "must not contain line breaks");
            }
            if resolve(path, schema, Brackets::Allowed).is_err() {
                errors.invalid(&at, shown, "must be a valid path");
            }
        }
    }
}
