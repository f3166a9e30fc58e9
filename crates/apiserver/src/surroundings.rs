//! What the server would otherwise reach for: the time, and what must be unlike anything else.

use std::fmt::Debug;

use gantry_registry::Timestamp;

/// The world around a server.
pub trait Surroundings: Debug + Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;
    /// A uid that nobody has.
    fn uid(&self) -> String;
    /// Five letters that end a generated name.
    fn name_suffix(&self) -> String;
}
