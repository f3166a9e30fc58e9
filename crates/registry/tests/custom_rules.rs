//! CEL rules in schemas of custom kinds, and the errors of objects that break them.

#[path = "custom_rules/messages.rs"]
mod messages;
#[path = "custom_rules/real.rs"]
mod real;

use gantry_json::{Value, json};
use gantry_primitives::FieldError;
use gantry_registry::validation::custom_objects;
use gantry_schema::custom::StructuralSchema;

/// The schema of a kind whose `spec` has this schema.
fn with_spec(spec: &Value) -> StructuralSchema {
    StructuralSchema::read(&json!({"type": "object", "properties": {"spec": spec}}))
}

fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the errors in a new object.
fn created(structure: &StructuralSchema, spec: &Value) -> Vec<String> {
    texts(&custom_objects::create(structure, &json!({"metadata": {"name": "one"}, "spec": spec}), None))
}

/// Returns the errors in a changed object.
fn changed(structure: &StructuralSchema, old: &Value, new: &Value) -> Vec<String> {
    let object = |spec: &Value| json!({"metadata": {"name": "one"}, "spec": spec});
    texts(&custom_objects::update(structure, &object(old), &object(new), None).errors)
}
