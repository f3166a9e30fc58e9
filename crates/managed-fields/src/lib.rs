//! Which manager owns which fields of an object, and server-side apply, which depends on it.
//!
//! [`ownership`] keeps `metadata.managedFields` up to date with every write; [`apply`](apply::apply) merges what a
//! manager states into an object and removes what it no longer states.
//!
//! *Invariant:* the time of a write and the name of its manager are passed in; nothing here knows requests or storage.

pub mod apply;
pub mod ownership;
