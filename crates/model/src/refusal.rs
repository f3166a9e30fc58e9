//! Failed requests, classified as far as the rules need it.

use std::fmt;

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The classification.
    pub kind: RefusalKind,
    /// The error's message, verbatim.
    pub message: String,
}

/// The failures that rules and commands distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The object does not exist: 404.
    NotFound,
    /// The name is in use: 409 with reason `AlreadyExists`.
    AlreadyExists,
    /// A precondition failed: 409.
    Conflict,
    /// The request is malformed: 400.
    BadRequest,
    /// The credentials are missing or invalid: 401.
    Unauthorized,
    /// The user may not do this: 403.
    Forbidden,
    /// The resource does not support the verb: 405.
    MethodNotAllowed,
    /// The requested version is compacted (410), or not reached in time (504).
    Expired,
    /// The change is invalid, for instance because the name belongs to another uid now: 422.
    Invalid,
    /// The kind does not support this patch type: 415.
    UnsupportedForm,
    /// The namespace is terminating: an error with cause `NamespaceTerminating`.
    NamespaceTerminating,
    /// Anything else: a failure of the server, or no response.
    Other,
}

impl Refusal {
    /// A refusal of this kind, with this message.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// A failure without special handling.
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
