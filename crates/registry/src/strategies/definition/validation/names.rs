//! Validates the names of a kind.

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, list, text};
use crate::validation::names::label_from_a_letter;

/// Validates names that are set.
pub(super) fn names(errors: &mut ErrorList, at: &Path<'_>, names: &Value) {
    for field in ["plural", "singular"] {
        one(errors, &at.child(field), text(names, field));
    }
    for field in ["kind", "listKind"] {
        let name = text(names, field);
        let wrong = label_from_a_letter(&name.to_lowercase());
        if !name.is_empty() && !wrong.is_empty() {
            let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
            errors.invalid(&at.child(field), &json!(name), why);
        }
    }
    each(errors, &at.child("shortNames"), list(names, "shortNames"));
    let kind = text(names, "kind");
    if !kind.is_empty() && kind == text(names, "listKind") {
        errors.invalid(&at.child("listKind"), &json!(kind), "kind and listKind may not be the same");
    }
    each(errors, &at.child("categories"), list(names, "categories"));
}

fn one(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    let wrong = label_from_a_letter(name);
    if !name.is_empty() && !wrong.is_empty() {
        errors.invalid(at, &json!(name), wrong.join(","));
    }
}

fn each(errors: &mut ErrorList, at: &Path<'_>, names: &[Value]) {
    for (index, name) in names.iter().enumerate() {
        let wrong = label_from_a_letter(name.as_str().unwrap_or_default());
        if !wrong.is_empty() {
            errors.invalid(&at.index(index), name, wrong.join(","));
        }
    }
}
