//! Errors about objects that no conforming API server would return.

use std::fmt;

use gantry_formats::protobuf::MalformedMessage;

/// An object lacks a field that every stored object has, or is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    field: &'static str,
    /// Why the object cannot be decoded, if it cannot.
    malformed: Option<String>,
}

impl ParseError {
    /// A field that the API server always sets is missing.
    pub(crate) fn missing(field: &'static str) -> Self {
        Self { field, malformed: None }
    }

    /// The object cannot be decoded.
    pub fn malformed(why: impl fmt::Display) -> Self {
        Self { field: "", malformed: Some(why.to_string()) }
    }

    /// The value of a field that the API server always sets.
    pub(crate) fn unless_set(field: Option<String>, path: &'static str) -> Result<String, Self> {
        field.filter(|text| !text.is_empty()).ok_or_else(|| Self::missing(path))
    }

    /// The path of the missing field, as in a manifest.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.malformed {
            return write!(f, "the object cannot be decoded: {why}");
        }
        write!(f, "{} is missing: only objects read from an API server can be parsed", self.field)
    }
}

impl std::error::Error for ParseError {}

impl From<MalformedMessage> for ParseError {
    fn from(error: MalformedMessage) -> Self {
        Self::malformed(error)
    }
}
