//! The impure inputs of the server: time and randomness.

use std::fmt::Debug;

use gantry_primitives::Timestamp;

/// The impure inputs of the server.
pub trait Environment: Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
    /// A new unique uid.
    fn uid(&self) -> String;
    /// Five random letters for a generated name.
    fn name_suffix(&self) -> String;
}
