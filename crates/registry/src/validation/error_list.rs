//! What was found wrong, where, and how to read a value while looking.

use serde_json::{Map, Value, json};

pub(crate) use gantry_primitives::Path;

use crate::decode::KeyOrder;
use crate::{FieldError, Wrong};

/// The errors found so far.
#[derive(Debug, Default)]
pub(crate) struct ErrorList {
    /// In which order the members of maps are looked at.
    order: KeyOrder,
    /// In the order in which they were found.
    pub(crate) all: Vec<FieldError>,
    /// Warnings that are returned even if there are errors.
    pub(crate) warnings: Vec<String>,
}

/// The text in a field; empty when there is none.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}

/// The whole number in a field.
pub(crate) fn number(value: &Value, field: &str) -> Option<i64> {
    value[field].as_i64()
}

/// The list in a field; empty when there is none.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// The members of the map in a field.
pub(crate) fn members<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value[field].as_object().into_iter().flat_map(Map::iter)
}

/// Whether the field is there and not null.
pub(crate) fn is_set(value: &Value, field: &str) -> bool {
    !value[field].is_null()
}

impl ErrorList {
    /// Nothing yet, of an object whose maps were sent with their keys in this order.
    pub(crate) fn in_order(order: &KeyOrder) -> Self {
        Self { order: order.clone(), ..Self::default() }
    }

    /// The members of the map in a field, whose place this is, in the order in which their errors are reported.
    pub(crate) fn members<'v>(
        &self,
        at: &Path<'_>,
        value: &'v Value,
        field: &str,
    ) -> Vec<(&'v String, &'v Value)> {
        let mut members: Vec<_> = members(value, field).collect();
        if members.len() > 1 && !self.order.is_alphabetical() {
            self.order.sort(&at.to_string(), &mut members);
        }
        members
    }

    /// It must be set.
    pub(crate) fn required(&mut self, at: &Path<'_>, why: &str) {
        self.all.push(FieldError::required(at.to_string(), why));
    }

    /// It must not have this value.
    pub(crate) fn invalid(&mut self, at: &Path<'_>, value: &Value, why: impl Into<String>) {
        self.all.push(FieldError::invalid(at.to_string(), value, why));
    }

    /// It must not be this text, for each of these reasons.
    pub(crate) fn invalid_text(&mut self, at: &Path<'_>, value: &str, reasons: Vec<String>) {
        for why in reasons {
            self.invalid(at, &json!(value), why);
        }
    }

    /// It must not have this value, which is shown as it is written here.
    pub(crate) fn invalid_shown(&mut self, at: &Path<'_>, value: String, why: &str) {
        self.all
            .push(FieldError { field: at.to_string(), wrong: Wrong::Invalid { value, why: why.to_owned() } });
    }

    /// It must be one of these.
    pub(crate) fn unsupported(&mut self, at: &Path<'_>, value: &Value, supported: &[&str]) {
        self.all.push(FieldError::not_supported(at.to_string(), value, supported));
    }

    /// It must be one of these, and is shown as it is written here.
    pub(crate) fn unsupported_shown(&mut self, at: &Path<'_>, value: String, supported: &[&str]) {
        let supported = supported.iter().map(|word| format!("\"{word}\"")).collect();
        self.all.push(FieldError { field: at.to_string(), wrong: Wrong::NotSupported { value, supported } });
    }

    /// It must be one of these words; an absent one is wanted.
    pub(crate) fn one_of(&mut self, at: &Path<'_>, value: &Value, supported: &[&str]) {
        match value.as_str().unwrap_or("") {
            "" => self.required(at, ""),
            word if supported.contains(&word) => {}
            _ => self.unsupported(at, value, supported),
        }
    }

    /// It must be one of these words, if it is there.
    pub(crate) fn one_of_if_set(&mut self, at: &Path<'_>, value: &Value, supported: &[&str]) {
        if !value.is_null() && value.as_str() != Some("") {
            self.one_of(at, value, supported);
        }
    }

    /// It must not be set like that.
    pub(crate) fn forbidden(&mut self, at: &Path<'_>, why: impl Into<String>) {
        self.all.push(FieldError::forbidden(at.to_string(), why));
    }

    /// It could not be judged.
    pub(crate) fn internal(&mut self, at: &Path<'_>, why: &str) {
        self.all.push(FieldError { field: at.to_string(), wrong: Wrong::Internal(why.to_owned()) });
    }

    /// It stands twice.
    pub(crate) fn duplicate(&mut self, at: &Path<'_>, value: &Value) {
        self.all.push(FieldError::duplicate(at.to_string(), value));
    }

    /// It stands twice, and is shown as it is written here.
    pub(crate) fn duplicate_shown(&mut self, at: &Path<'_>, value: String) {
        self.all.push(FieldError { field: at.to_string(), wrong: Wrong::Duplicate { value } });
    }

    /// What it names is not there.
    pub(crate) fn not_found(&mut self, at: &Path<'_>, value: &Value) {
        self.all
            .push(FieldError { field: at.to_string(), wrong: Wrong::NotFound { value: value.to_string() } });
    }

    /// What it names is not there, and this is where it would have to be.
    pub(crate) fn not_found_because(&mut self, at: &Path<'_>, value: &Value, why: &str) {
        let wrong = Wrong::NotFound { value: format!("{value}: {why}") };
        self.all.push(FieldError { field: at.to_string(), wrong });
    }

    /// It has more bytes than it may have.
    pub(crate) fn too_long(&mut self, at: &Path<'_>, most_bytes: usize) {
        let wrong = Wrong::TooLong { most: format!("{most_bytes} bytes") };
        self.all.push(FieldError { field: at.to_string(), wrong });
    }

    /// It has more members than it may have.
    pub(crate) fn too_many(&mut self, at: &Path<'_>, actual: usize, most: usize) {
        self.all.push(FieldError { field: at.to_string(), wrong: Wrong::TooMany { actual, most } });
    }

    /// The number in a field of an object must not be negative, if it is there.
    pub(crate) fn not_negative(&mut self, at: &Path<'_>, object: &Value, field: &str) {
        if number(object, field).is_some_and(|number| number < 0) {
            self.invalid(&at.child(field), &object[field], "must be greater than or equal to 0");
        }
    }

    /// It must be the same as before; the refusal does not show what it is now.
    pub(crate) fn unchanged(&mut self, at: &Path<'_>, is_same: bool) {
        self.immutable(at, is_same, &Value::Null);
    }

    /// It must be the same as before.
    pub(crate) fn immutable(&mut self, at: &Path<'_>, is_same: bool, new: &Value) {
        if !is_same {
            self.invalid(at, new, "field is immutable");
        }
    }
}
