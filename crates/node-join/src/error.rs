//! The errors of joining a cluster.

use std::fmt;

/// Why a machine could not join, in a sentence, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinError(pub(crate) String);

impl JoinError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JoinError {}
