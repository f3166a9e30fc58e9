//! The outcome of validating a value.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use gantry_primitives::Path;
use gantry_primitives::refusal::{ERROR_BYTES_MAX, FieldError, quoted};

/// The path of errors that have none.
pub(super) const NOWHERE: &str = "<nil>";

/// The outcome of validating a value.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The errors in the order in which they were found; alternatives may report the same.
    pub(super) errors: Vec<FieldError>,
    /// How many checks the value passed: of alternatives, the one that passed the most was probably intended.
    pub(super) matched: usize,
    /// The size of the errors.
    bytes: usize,
}

impl Outcome {
    /// Adds an error about an invalid value.
    pub(super) fn invalid(&mut self, at: &Path<'_>, value: &Value, why: String) {
        self.add(FieldError::invalid(place(at), value, why));
    }

    /// Adds an error without a path.
    pub(super) fn elsewhere(&mut self, why: String) {
        self.add(FieldError::invalid(NOWHERE, &json!(""), why));
    }

    /// Adds an error about a value of the wrong type.
    pub(super) fn wrong_type(&mut self, at: &Path<'_>, wanted: &str, is: &str) {
        let why = format!("{at} in body must be of type {wanted}: {}", quoted(is));
        self.add(FieldError::type_invalid(place(at), &json!(is), why));
    }

    /// Adds an error.
    pub(super) fn add(&mut self, error: FieldError) {
        if !self.is_full() {
            self.bytes += error.shown_bytes();
            self.errors.push(error);
        }
    }

    /// Whether no more errors are reported.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > ERROR_BYTES_MAX
    }

    /// Adds the outcome of a part of the value, or of another check.
    pub(super) fn merge(&mut self, other: Self) {
        self.matched += other.matched;
        other.errors.into_iter().for_each(|error| self.add(error));
    }
}

/// Removes duplicate errors.
pub(super) fn each_once(mut errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = BTreeSet::new();
    errors.retain(|error| seen.insert(error.to_string()));
    errors
}

/// The path in an error.
pub(super) fn place(at: &Path<'_>) -> String {
    if at.is_root() { NOWHERE.to_owned() } else { at.to_string() }
}
