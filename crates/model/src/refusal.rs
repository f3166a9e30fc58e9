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
    /// Another object has the name: 409 with reason `AlreadyExists`.
    AlreadyExists,
    /// The object is not what the precondition said it was: 409.
    Conflict,
    /// The object cannot be changed like that, for instance because another one has its name now: 422.
    Invalid,
    /// The kind does not take patches of this form: 415.
    UnsupportedForm,
    /// The namespace is being deleted and takes nothing new: an error with cause `NamespaceTerminating`.
    NamespaceTerminating,
    /// Anything else: a quota, a missing permission, an answer that never came.
    Other,
}

impl Refusal {
    /// A refusal of this kind, in these words.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// A refusal that the rules make nothing special of.
    pub fn other(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Other, message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
