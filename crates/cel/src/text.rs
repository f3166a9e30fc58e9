//! Strings and bytes that are cheap to clone.
//!
//! Expressions may mention a large value many times. Strings of the input are borrowed, computed ones are shared.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::cost::{CostMeter, EvaluationError};
use gantry_formats::base64;

/// A string of the input or a literal, or a computed one.
#[derive(Clone)]
pub(super) enum Text<'a> {
    Stored(&'a str),
    Made(Rc<str>),
}

/// Bytes; those of the input are base64.
#[derive(Clone, Debug)]
pub(super) enum Bytes<'a> {
    Encoded(&'a str),
    Written(&'a [u8]),
    Made(Rc<[u8]>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Stored(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Displays the text itself.
impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Stored(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self::Made(text.into())
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Bytes<'_> {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Encoded(text) => text.is_empty(),
            Self::Written(bytes) => bytes.is_empty(),
            Self::Made(bytes) => bytes.is_empty(),
        }
    }

    /// Decodes the bytes, at a cost.
    pub(super) fn read(&self, meter: &mut CostMeter) -> Result<Cow<'_, [u8]>, EvaluationError> {
        let bytes = match self {
            Self::Encoded(text) => {
                meter.traverse(text.len())?;
                let why = || EvaluationError::new(format!("Invalid byte formatted string {text}"));
                return base64::decode(text).map(Cow::Owned).map_err(|_| why());
            }
            Self::Written(bytes) => bytes,
            Self::Made(bytes) => &**bytes,
        };
        meter.traverse(bytes.len())?;
        Ok(Cow::Borrowed(bytes))
    }
}
