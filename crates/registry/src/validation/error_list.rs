//! Lists of validation errors, paths of fields, and accessors for values.

use gantry_json::{Map, SmolStr, Value, json};

pub(crate) use gantry_primitives::Path;
use gantry_primitives::refusal::ERROR_BYTES_MAX;

use crate::decode::KeyOrder;
use crate::{FieldError, Wrong};

/// The errors of a validation so far.
#[derive(Debug, Default)]
pub(crate) struct ErrorList {
    /// The order in which the members of maps are validated.
    order: KeyOrder,
    /// In the order in which they were reported.
    pub(crate) all: Vec<FieldError>,
    /// Warnings that are returned even if there are errors.
    pub(crate) warnings: Vec<String>,
    /// The size of the errors so far.
    bytes: usize,
}

/// Returns the string in a field, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}

/// Returns the integer in a field.
pub(crate) fn number(value: &Value, field: &str) -> Option<i64> {
    value[field].as_i64()
}

/// Returns the list in a field, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the members of the map in a field.
pub(crate) fn members<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = (&'a SmolStr, &'a Value)> {
    value[field].as_object().into_iter().flat_map(Map::iter)
}

/// Whether the field is present and not null.
pub(crate) fn is_set(value: &Value, field: &str) -> bool {
    !value[field].is_null()
}

impl ErrorList {
    /// An empty list, for an object with maps whose keys were sent in this order.
    pub(crate) fn in_order(order: &KeyOrder) -> Self {
        Self { order: order.clone(), ..Self::default() }
    }

    /// Returns the members of the map in a field, at this path, in the order in which their errors are reported.
    pub(crate) fn members<'v>(
        &self,
        at: &Path<'_>,
        value: &'v Value,
        field: &str,
    ) -> Vec<(&'v SmolStr, &'v Value)> {
        let mut members: Vec<_> = members(value, field).collect();
        if members.len() > 1 && !self.order.is_alphabetical() {
            self.order.sort(&at.to_string(), &mut members);
        }
        members
    }

    /// Adds an error, unless there are too many to show.
    fn report(&mut self, at: &Path<'_>, error: impl FnOnce(String) -> FieldError) {
        if self.bytes <= ERROR_BYTES_MAX {
            let error = error(at.to_string());
            self.bytes += error.shown_bytes();
            self.all.push(error);
        }
    }

    /// Reports a missing value.
    pub(crate) fn required(&mut self, at: &Path<'_>, why: &str) {
        self.report(at, |field| FieldError::required(field, why));
    }

    /// Reports an invalid value.
    pub(crate) fn invalid(&mut self, at: &Path<'_>, value: &Value, why: impl Into<String>) {
        self.report(at, |field| FieldError::invalid(field, value, why));
    }

    /// Reports an invalid string once per reason.
    pub(crate) fn invalid_text(&mut self, at: &Path<'_>, value: &str, reasons: Vec<String>) {
        for why in reasons {
            self.invalid(at, &json!(value), why);
        }
    }

    /// Reports a string that is empty, or wrong by this rule.
    pub(crate) fn required_text(&mut self, at: &Path<'_>, value: &str, rule: fn(&str) -> Vec<String>) {
        if value.is_empty() {
            self.required(at, "");
        }
        self.optional_text(at, value, rule);
    }

    /// Reports a string that is wrong by this rule, unless it is empty.
    pub(crate) fn optional_text(&mut self, at: &Path<'_>, value: &str, rule: fn(&str) -> Vec<String>) {
        if !value.is_empty() {
            self.invalid_text(at, value, rule(value));
        }
    }

    /// Reports an invalid value that is formatted already.
    pub(crate) fn invalid_formatted(&mut self, at: &Path<'_>, value: String, why: &str) {
        self.report(at, |field| FieldError { field, wrong: Wrong::Invalid { value, why: why.to_owned() } });
    }

    /// Reports a value that is not one of these.
    pub(crate) fn unsupported(&mut self, at: &Path<'_>, value: &Value, supported: &[&str]) {
        self.report(at, |field| FieldError::not_supported(field, value, supported));
    }

    /// Reports a value that is not one of these and is formatted already.
    pub(crate) fn unsupported_formatted(&mut self, at: &Path<'_>, value: String, supported: &[&str]) {
        let supported = supported.iter().map(|word| format!("\"{word}\"")).collect();
        self.report(at, |field| FieldError { field, wrong: Wrong::NotSupported { value, supported } });
    }

    /// Reports a string that is absent or not one of these.
    pub(crate) fn one_of(&mut self, at: &Path<'_>, value: &Value, supported: &[&str]) {
        match value.as_str().unwrap_or("") {
            "" => self.required(at, ""),
            word if supported.contains(&word) => {}
            _ => self.unsupported(at, value, supported),
        }
    }

    /// Reports a string that is present and not one of these.
    pub(crate) fn one_of_if_set(&mut self, at: &Path<'_>, value: &Value, supported: &[&str]) {
        if !value.is_null() && value.as_str() != Some("") {
            self.one_of(at, value, supported);
        }
    }

    /// Reports a forbidden value.
    pub(crate) fn forbidden(&mut self, at: &Path<'_>, why: impl Into<String>) {
        self.report(at, |field| FieldError::forbidden(field, why));
    }

    /// Reports an internal error.
    pub(crate) fn internal(&mut self, at: &Path<'_>, why: &str) {
        self.report(at, |field| FieldError { field, wrong: Wrong::Internal(why.to_owned()) });
    }

    /// Reports a duplicate.
    pub(crate) fn duplicate(&mut self, at: &Path<'_>, value: &Value) {
        self.report(at, |field| FieldError::duplicate(field, value));
    }

    /// Reports a duplicate that is formatted already.
    pub(crate) fn duplicate_formatted(&mut self, at: &Path<'_>, value: String) {
        self.report(at, |field| FieldError { field, wrong: Wrong::Duplicate { value } });
    }

    /// Reports a reference to something that does not exist.
    pub(crate) fn not_found(&mut self, at: &Path<'_>, value: &Value) {
        self.report(at, |field| FieldError { field, wrong: Wrong::NotFound { value: value.to_string() } });
    }

    /// Reports a reference to something that does not exist, with a reason.
    pub(crate) fn not_found_because(&mut self, at: &Path<'_>, value: &Value, why: impl FnOnce() -> String) {
        self.report(at, |field| {
            let wrong = Wrong::NotFound { value: format!("{value}: {}", why()) };
            FieldError { field, wrong }
        });
    }

    /// Reports a value that is too long.
    pub(crate) fn too_long(&mut self, at: &Path<'_>, most_bytes: usize) {
        let wrong = Wrong::TooLong { most: format!("{most_bytes} bytes") };
        self.report(at, |field| FieldError { field, wrong });
    }

    /// Reports a list or map that has too many items.
    pub(crate) fn too_many(&mut self, at: &Path<'_>, actual: usize, most: usize) {
        self.report(at, |field| FieldError { field, wrong: Wrong::TooMany { actual, most } });
    }

    /// Reports a negative number in a field of an object.
    pub(crate) fn not_negative(&mut self, at: &Path<'_>, object: &Value, field: &str) {
        if number(object, field).is_some_and(|number| number < 0) {
            self.invalid(&at.child(field), &object[field], "must be greater than or equal to 0");
        }
    }

    /// Reports a change of an immutable field, without its new value.
    pub(crate) fn unchanged(&mut self, at: &Path<'_>, is_same: bool) {
        self.immutable(at, is_same, &Value::Null);
    }

    /// Reports a change of an immutable field.
    pub(crate) fn immutable(&mut self, at: &Path<'_>, is_same: bool, new: &Value) {
        if !is_same {
            self.invalid(at, new, "field is immutable");
        }
    }
}
