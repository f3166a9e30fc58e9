//! Validates that a schema is structural: every field has a type, and value validations declare nothing else.

use gantry_json::Value;

use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use gantry_primitives::check_pattern;

/// Forbidden fields, in the order in which they are checked.
const UNSUPPORTED: [&str; 7] =
    ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];

/// The position of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns the first unsupported part of a schema, which prevents the validation.
pub(super) fn unsupported(schema: &Value) -> Option<String> {
    if !schema.is_object() {
        return None;
    }
    if let Some(field) = UNSUPPORTED.into_iter().find(|field| is_set(schema, field) && schema[*field] != "") {
        let name = if field == "$schema" { "schema" } else { field };
        return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
    }
    let nested = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|field| list(schema, field));
    if let Some(problem) = [&schema["not"]].into_iter().chain(nested).find_map(unsupported) {
        return Some(problem);
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let why = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
        return Some(why.to_owned());
    }
    if schema["items"].is_array() {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    let properties = members(schema, "properties").map(|(_, property)| property);
    [&schema["items"]]
        .into_iter()
        .chain(properties)
        .chain([&schema["additionalProperties"]])
        .find_map(unsupported)
}

/// Reports all reasons why a schema is not structural, sorted.
pub(super) fn structural(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    let mut own = ErrorList::default();
    invariants(&mut own, at, schema, Level::Root);
    for (step, index, inner) in nested(schema) {
        let here = at.child(step);
        let here = if step == "not" { here } else { here.index(index) };
        complete(&mut own, at, Some(schema), &here, inner);
    }
    own.all.sort_by_cached_key(ToString::to_string);
    errors.all.extend(own.all);
}

fn invariants(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, level: Level) {
    if !schema.is_object() {
        return;
    }
    let (kind, items) = (text(schema, "type"), &schema["items"]);
    if kind == "array" && items.is_null() {
        errors.required(&at.child("items"), "must be specified");
    }
    invariants(errors, &at.child("items"), items, Level::Item);
    let properties = at.child("properties");
    for (name, property) in members(schema, "properties") {
        invariants(errors, &properties.key(name), property, Level::Field);
    }
    let additional = at.child("additionalProperties");
    if level == Level::Root && is_set(schema, "additionalProperties") {
        errors.forbidden(&additional, "must not be used at the root");
    }
    invariants(errors, &additional, &schema["additionalProperties"], Level::Field);
    int_or_string(errors, at, schema);
    values(
        errors,
        at,
        schema,
        is_int_or_string(&schema["anyOf"]),
        is_int_or_string(&schema["allOf"][0]["anyOf"]),
    );
    typed(errors, at, schema, level);
    metadata(errors, &properties, schema, level);
    let is_embedded = schema["x-kubernetes-embedded-resource"] == true;
    let preserves = schema["x-kubernetes-preserve-unknown-fields"] == true;
    if is_embedded && !preserves && members(schema, "properties").next().is_none() {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
                   x-kubernetes-preserve-unknown-fields";
        errors.required(&properties, why);
    }
}

/// Validates int-or-string.
fn int_or_string(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    if schema["x-kubernetes-int-or-string"] != true {
        return;
    }
    for field in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if schema[field] == true {
            let why = "must be false if x-kubernetes-int-or-string is true";
            errors.invalid(&at.child(field), &schema[field], why);
        }
    }
}

/// Validates that types are set, and that resources are objects.
fn typed(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, level: Level) {
    let (here, kind) = (at.child("type"), text(schema, "type"));
    let is = |field: &str| schema[field] == true;
    let is_embedded = is("x-kubernetes-embedded-resource");
    if is_embedded && kind != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        match kind {
            "" => errors.required(&here, why),
            _ => errors.invalid(&here, &schema["type"], why),
        }
    } else if kind.is_empty()
        && !is("x-kubernetes-int-or-string")
        && !is("x-kubernetes-preserve-unknown-fields")
    {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.required(&here, why);
    }
    if is_embedded && is_set(schema, "additionalProperties") {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        errors.forbidden(&at.child("additionalProperties"), why);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.invalid(&here, &schema["type"], "must be object at the root");
    }
}

/// Validates that a schema does not restrict apiVersion and kind, and of the metadata only names.
fn metadata(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, level: Level) {
    let is_resource = level == Level::Root || schema["x-kubernetes-embedded-resource"] == true;
    let properties = &schema["properties"];
    let mut wants = |name: &str, wanted: &str| {
        let property = &properties[name];
        if is_resource && !property.is_null() && property["type"] != wanted {
            let kind = Value::from(text(property, "type"));
            errors.invalid(&at.key(name).child("type"), &kind, format!("must be {wanted}"));
        }
    };
    wants("kind", "string");
    wants("apiVersion", "string");
    wants("metadata", "object");
    let Some(metadata) = properties["metadata"].as_object().filter(|_| level == Level::Root) else { return };
    let only_names = |properties: &Value| {
        properties.as_object().is_none_or(|properties| {
            properties.keys().all(|name| matches!(name.as_str(), "name" | "generateName"))
        })
    };
    let is_plain = metadata.iter().all(|(field, value)| match field.as_str() {
        "type" | "default" => true,
        "properties" => only_names(value),
        _ => false,
    });
    if !is_plain {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.forbidden(&at.key("metadata"), why);
    }
}

/// Validates a value validation under a junctor.
fn values(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, skips_any: bool, skips_any_of_first: bool) {
    for (step, index, inner) in nested(schema) {
        if step == "anyOf" && skips_any {
            continue;
        }
        let here = at.child(step);
        let here = if step == "not" { here } else { here.index(index) };
        restricts(errors, &here, inner, step == "allOf" && index == 0 && skips_any_of_first);
    }
    let pattern = text(schema, "pattern");
    if let Err(problem) = check_pattern(pattern) {
        let why = format!("must be a valid regular expression, but isn't: {problem}");
        errors.invalid(&at.child("pattern"), &schema["pattern"], why);
    }
}

/// Reports fields that are not allowed under a junctor.
fn restricts(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, skips_any: bool) {
    if !schema.is_object() {
        return;
    }
    values(errors, at, schema, skips_any, false);
    restricts(errors, &at.child("items"), &schema["items"], false);
    for (name, property) in members(schema, "properties") {
        restricts(errors, &at.child("properties").key(name), property, false);
    }
    let forbidden = [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (field, why) in forbidden {
        if is_set(schema, field) && schema[field] != false {
            errors.forbidden(&at.child(field), why);
        }
    }
    if is_set(&schema["properties"], "metadata") {
        let at = at.child("properties");
        errors.forbidden(&at.key("metadata"), "must not be specified in a nested context");
    }
}

/// Reports restrictions of fields that are not declared.
fn complete(
    errors: &mut ErrorList,
    declared_at: &Path<'_>,
    declared: Option<&Value>,
    at: &Path<'_>,
    schema: &Value,
) {
    if !schema.is_object() {
        return;
    }
    let Some(declared) = declared else {
        return errors.required(declared_at, &format!("because it is defined in {at}"));
    };
    for (step, index, inner) in nested(schema) {
        let here = at.child(step);
        let here = if step == "not" { here } else { here.index(index) };
        complete(errors, declared_at, Some(declared), &here, inner);
    }
    let set = |value: &'_ Value| value.is_object();
    let items = Some(&declared["items"]).filter(|items| set(items));
    complete(errors, &declared_at.child("items"), items, &at.child("items"), &schema["items"]);
    let (declared_at, at) = (declared_at.child("properties"), at.child("properties"));
    for (name, property) in members(schema, "properties") {
        let twin = Some(&declared["properties"][name]).filter(|twin| set(twin));
        complete(errors, &declared_at.key(name), twin, &at.key(name), property);
    }
}

/// Returns the schemas under the junctors of a schema, with their paths.
fn nested(schema: &Value) -> impl Iterator<Item = (&'static str, usize, &Value)> {
    let each = |field: &'static str| {
        list(schema, field).iter().enumerate().map(move |(index, inner)| (field, index, inner))
    };
    let not = Some(&schema["not"]).filter(|not| not.is_object()).map(|not| ("not", 0, not));
    each("anyOf").chain(each("allOf")).chain(each("oneOf")).chain(not)
}

/// Whether an `anyOf` is the one of int-or-string, the only one that may have types.
fn is_int_or_string(any_of: &Value) -> bool {
    *any_of == gantry_json::json!([{"type": "integer"}, {"type": "string"}])
}
