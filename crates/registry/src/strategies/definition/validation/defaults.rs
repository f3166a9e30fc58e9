//! Validates defaults in a schema against the schema.

use gantry_json::Value;

use crate::custom::StructuralSchema;
use crate::validation::custom_objects;
use crate::validation::error_list::{ErrorList, Path, members};

/// Fields of every resource, which a schema does not declare.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Validates all defaults of an otherwise valid schema.
pub(super) fn defaults(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    each(errors, at, schema, Context { is_resource: true, in_metadata: false });
}

#[derive(Clone, Copy)]
struct Context {
    is_resource: bool,
    in_metadata: bool,
}

fn each(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, context: Context) {
    if !schema.is_object() {
        return;
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        one(errors, &at.child("default"), schema, default, context);
    }
    let in_metadata = context.in_metadata && !context.is_resource;
    let within = |schema: &Value, in_metadata: bool| {
        let is_resource = schema["x-kubernetes-embedded-resource"] == true;
        Context { is_resource, in_metadata: in_metadata && !is_resource }
    };
    let items = &schema["items"];
    each(errors, &at.child("items"), items, within(items, in_metadata));
    for (name, inner) in members(schema, "properties") {
        let is_meta = context.is_resource && META.contains(&name.as_str());
        each(errors, &at.child("properties").key(name), inner, within(inner, in_metadata || is_meta));
    }
}

fn one(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, default: &Value, context: Context) {
    let structure = StructuralSchema::read(schema);
    if !context.in_metadata && !structure.declares(default) {
        errors.invalid(at, default, "must not have unknown fields");
    }
    let mut found = custom_objects::part(&structure, default);
    if found.is_empty() {
        found = structure.validate_default_rules(default, context.is_resource);
    }
    for mut error in found {
        error.field = match error.field.as_str() {
            "<nil>" => at.to_string(),
            field if field.starts_with('[') => format!("{at}{field}"),
            field => format!("{at}.{field}"),
        };
        errors.all.push(error);
    }
}
