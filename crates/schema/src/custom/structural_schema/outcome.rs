//! What is wrong with a value, as far as it was judged.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use gantry_primitives::Path;
use gantry_primitives::refusal::{FieldError, quoted};

/// How an error names no place at all.
pub(super) const NOWHERE: &str = "<nil>";

/// What came out of judging a value.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// In the order in which they were found; alternatives may find the same.
    pub(super) errors: Vec<FieldError>,
    /// How much of the value was as it should be: the alternative with most of it was probably meant.
    pub(super) matched: usize,
}

impl Outcome {
    /// A value that it must not have.
    pub(super) fn invalid(&mut self, at: &Path<'_>, value: &Value, why: String) {
        self.add(FieldError::invalid(place(at), value, why));
    }

    /// Something is wrong that has no place.
    pub(super) fn elsewhere(&mut self, why: String) {
        self.add(FieldError::invalid(NOWHERE, &json!(""), why));
    }

    /// It is something else than it should be.
    pub(super) fn wrong_type(&mut self, at: &Path<'_>, wanted: &str, is: &str) {
        let why = format!("{at} in body must be of type {wanted}: {}", quoted(is));
        self.add(FieldError::type_invalid(place(at), &json!(is), why));
    }

    /// Something is wrong.
    pub(super) fn add(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// What came out of judging a part of the value, or the value again.
    pub(super) fn merge(&mut self, other: Self) {
        self.matched += other.matched;
        self.errors.extend(other.errors);
    }
}

/// What is said already is not said again.
pub(super) fn each_once(mut errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut said = BTreeSet::new();
    errors.retain(|error| said.insert(error.to_string()));
    errors
}

/// How an error names a place.
pub(super) fn place(at: &Path<'_>) -> String {
    if at.is_root() { NOWHERE.to_owned() } else { at.to_string() }
}
