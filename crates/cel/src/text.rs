//! Texts and bytes, which cost nothing to pass on.
//!
//! Expressions mention the same value as often as they like, and values are as large as a request. What is judged is
//! borrowed, what is made is shared.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::meter::{Fault, Meter};
use gantry_formats::base64;

/// A text that is judged or written in an expression, or one that was made.
#[derive(Clone)]
pub(super) enum Text<'a> {
    Stored(&'a str),
    Made(Rc<str>),
}

/// Bytes, which are judged as base64.
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

/// As any text is shown.
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

    /// The bytes themselves, at the cost of looking at them.
    pub(super) fn read(&self, meter: &mut Meter) -> Result<Cow<'_, [u8]>, Fault> {
        let bytes = match self {
            Self::Encoded(text) => {
                meter.glances(text.len())?;
                let why = || Fault::new(format!("Invalid byte formatted string {text}"));
                return base64::decode(text).map(Cow::Owned).map_err(|_| why());
            }
            Self::Written(bytes) => bytes,
            Self::Made(bytes) => &**bytes,
        };
        meter.glances(bytes.len())?;
        Ok(Cow::Borrowed(bytes))
    }
}
