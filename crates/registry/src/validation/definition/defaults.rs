//! Defaults in a schema: what the schema declares, and what it allows.

use serde_json::Value;

use super::super::custom_objects;
use super::super::error_list::{ErrorList, Path, members};
use crate::custom::StructuralSchema;

/// What every resource has, of which somebody else decides what is declared.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Every default of the schema of a kind, of which nothing else is wrong.
pub(super) fn defaults(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    each(errors, at, schema, Around { is_resource: true, in_metadata: false });
}

#[derive(Clone, Copy)]
struct Around {
    is_resource: bool,
    in_metadata: bool,
}

fn each(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, around: Around) {
    if !schema.is_object() {
        return;
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        one(errors, &at.child("default"), schema, default, around);
    }
    let in_metadata = around.in_metadata && !around.is_resource;
    let within = |schema: &Value, in_metadata: bool| {
        let is_resource = schema["x-kubernetes-embedded-resource"] == true;
        Around { is_resource, in_metadata: in_metadata && !is_resource }
    };
    let items = &schema["items"];
    each(errors, &at.child("items"), items, within(items, in_metadata));
    for (name, inner) in members(schema, "properties") {
        let is_meta = around.is_resource && META.contains(&name.as_str());
        each(errors, &at.child("properties").key(name), inner, within(inner, in_metadata || is_meta));
    }
}

fn one(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, default: &Value, around: Around) {
    let structure = StructuralSchema::read(schema);
    if !around.in_metadata && !structure.declares(default) {
        errors.invalid(at, default, "must not have unknown fields");
    }
    // What an object has to be is no matter for one of its parts.
    for mut error in custom_objects::part(&structure, default) {
        error.field = match error.field.as_str() {
            "<nil>" => at.to_string(),
            field if field.starts_with('[') => format!("{at}{field}"),
            field => format!("{at}.{field}"),
        };
        errors.all.push(error);
    }
}
