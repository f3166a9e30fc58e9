//! What becomes of an event that a controller wants to tell: a new object, a higher count, or nothing.
//!
//! Controllers repeat themselves. [`Recorder`] remembers what this process has told before and answers with a
//! [`Recording`]: something to create, something to patch, or a shrug. It is client-go's correlation as plain data,
//! with `now` passed in; writing to a server and what to do when that fails belong to the shell.
//!
//! *Invariant:* recording cannot fail, so no sync fails for it, and what it remembers is bounded, so no object that
//! is in trouble for long makes it grow. After a restart it starts from nothing: the count of an event is what one
//! process has seen, and that is all it claims to be.

mod lru;
mod record;
mod recorder;

#[cfg(test)]
mod tests;

pub use record::{EventRecord, Recording, Subject};
pub use recorder::Recorder;
