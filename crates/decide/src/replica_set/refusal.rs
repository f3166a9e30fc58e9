//! What an API server answers when it does not do what was asked, as far as the rules care.

use std::fmt;

/// An answer that is not the one hoped for, or the lack of any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the rules make of it.
    pub kind: RefusalKind,
    /// What is said to people: the error's text, word for word.
    pub message: String,
}

/// The few refusals that the rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The object is gone: 404.
    NotFound,
    /// The object cannot be changed like that, for instance because another one has its name now: 422.
    Invalid,
    /// The namespace is being deleted and takes nothing new: an error with cause `NamespaceTerminating`.
    NamespaceTerminating,
    /// Anything else: a quota, a missing permission, a conflict, an answer that never came.
    Other,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
