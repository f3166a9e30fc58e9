//! Validates custom resources: values by the schema, embedded objects, lists, and the rules of the schema.

mod embedded;

use gantry_json::Value;

use crate::FieldError;
use crate::custom::{Scaling, StructuralSchema, ValidationResult};

/// Validates a new object. Its replicas are validated after its values, and before its lists and rules.
pub fn create(structure: &StructuralSchema, object: &Value, scaling: Option<&Scaling>) -> Vec<FieldError> {
    let errors = values_and_lists(structure, object, scaling);
    structure.validate_rules(errors, object, None).errors
}

/// Validates a part of an object, without the rules of its schema; paths in errors start at the part.
pub(crate) fn part(structure: &StructuralSchema, value: &Value) -> Vec<FieldError> {
    values_and_lists(structure, value, None)
}

/// Validates a changed object; errors in unchanged parts are ratcheted.
pub fn update(
    structure: &StructuralSchema,
    old: &Value,
    new: &Value,
    scaling: Option<&Scaling>,
) -> ValidationResult {
    let mut errors = structure.validate_changed_values(old, new);
    errors.extend(scaling.into_iter().flat_map(|scaling| scaling.wrong(new)));
    errors.extend(embedded::validate(structure, new));
    errors.extend(structure.validate_changed_lists(old, new));
    structure.validate_rules(errors, new, Some(old))
}

/// Validates a write to the status of an object.
pub fn update_status(
    structure: &StructuralSchema,
    old: &Value,
    new: &Value,
    scaling: Option<&Scaling>,
) -> ValidationResult {
    let mut errors = structure.validate_changed_status(old, new);
    errors.extend(scaling.into_iter().flat_map(|scaling| scaling.wrong_status(new)));
    errors.extend(structure.validate_changed_lists(old, new));
    structure.validate_rules(errors, new, Some(old))
}

fn values_and_lists(
    structure: &StructuralSchema,
    value: &Value,
    scaling: Option<&Scaling>,
) -> Vec<FieldError> {
    let mut errors = structure.validate_values(value);
    errors.extend(scaling.into_iter().flat_map(|scaling| scaling.wrong(value)));
    errors.extend(embedded::validate(structure, value));
    errors.extend(structure.validate_lists(value));
    errors
}
