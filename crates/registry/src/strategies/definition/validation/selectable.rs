//! Validates JSON paths to fields that a schema declares.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::custom::{Brackets, resolve};
use crate::validation::error_list::{ErrorList, Path, text};

const MOST_FIELDS: usize = 8;

/// Validates selectable fields.
pub(super) fn fields(errors: &mut ErrorList, at: &Path<'_>, fields: &Value, schema: &Value) {
    let mut seen = BTreeSet::new();
    for (index, field) in fields.as_array().into_iter().flatten().enumerate() {
        let at = at.index(index);
        let (at, path) = (at.child("jsonPath"), text(field, "jsonPath"));
        if path.is_empty() {
            errors.required(&at, "");
            continue;
        }
        let (steps, target) = match resolve(path, schema, Brackets::Refused) {
            Ok(resolved) => resolved,
            Err(problem) => {
                errors.invalid(&at, &json!(path), format!("is an invalid path: {problem}"));
                continue;
            }
        };
        if steps.first().is_some_and(|first| first == "metadata") {
            errors.invalid(&at, &json!(path), "must not point to fields in metadata");
        }
        if !matches!(text(target, "type"), "string" | "boolean" | "integer") {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                       with formats are allowed.";
            errors.invalid(&at, &json!(path), why);
        }
        if !seen.insert(steps) {
            errors.duplicate(&at, &json!(path));
        }
    }
    if seen.len() > MOST_FIELDS {
        errors.too_many(at, seen.len(), MOST_FIELDS);
    }
}
