//! Event correlation: an event becomes a new object, a higher count, or nothing.
//!
//! [`EventCorrelator`] remembers the events of this process and returns a [`Recording`]: an object to create, one to
//! patch, or nothing. It is client-go's correlation as plain data, with `now` passed in; writing to a server and
//! handling errors belong to the shell.
//!
//! *Invariant:* recording cannot fail, so no sync fails for it, and its memory is bounded. After a restart it starts
//! empty: the count of an event is what one process has seen.

mod correlator;
mod fingerprint;
mod lru;
mod record;

#[cfg(test)]
mod tests;

pub use correlator::EventCorrelator;
pub use record::{EventRecord, Recording, Subject};
