//! Which manager owns which fields of an object, and server-side apply, which depends on it.
//!
//! [`ownership`] updates `metadata.managedFields` on every write; [`apply`](apply::apply) merges the configuration of a
//! manager into an object and removes the fields that it no longer applies.
//!
//! *Invariant:* the time of a write and the name of its manager are passed in; requests and storage are elsewhere.

pub mod apply;
pub mod ownership;
