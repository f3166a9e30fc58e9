//! Errors about objects that no conforming API server would return.

use std::fmt;

/// An object lacks a field that every stored object has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    field: &'static str,
}

impl ParseError {
    /// A field that the API server always sets is missing.
    pub(crate) fn missing(field: &'static str) -> Self {
        Self { field }
    }

    /// The value of a field that the API server always sets.
    pub(crate) fn unless_set(field: Option<String>, path: &'static str) -> Result<String, Self> {
        field.filter(|text| !text.is_empty()).ok_or_else(|| Self::missing(path))
    }

    /// The path of the field, as in a manifest.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: only objects read from an API server can be parsed", self.field)
    }
}

impl std::error::Error for ParseError {}
