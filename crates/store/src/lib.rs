//! The storage port, and the parts that every backend shares.
//!
//! Start at [`Store`], the port. It has keys, bytes and revisions only; objects, their encoding and the meaning of
//! resource versions belong to the API server. [`memory`] is the in-memory backend and, at the same time, the live
//! state to which a durable backend adds its log.
//!
//! The feature `suite` adds two test tools for backends: `suite`, the conformance suite, and `checker`, which
//! compares recorded concurrent histories with a sequential model.
//!
//! Absent on purpose: Kubernetes types, files, sockets, and any async runtime.

mod error;
mod event;
mod key;
pub mod memory;
mod port;
mod revision;
mod transaction;
mod watch;

#[cfg(feature = "suite")]
pub mod checker;
#[cfg(feature = "suite")]
pub mod suite;

pub use error::{Corruption, Error, Retry};
pub use event::{Change, Event, Versioned};
pub use key::{BadKey, KEY_BYTES_MAX, Key, Prefix};
pub use port::{
    Answer, Bounds, Fetched, Item, ListRequest, Page, Store, TRANSACTION_OPS_MAX, VALUE_BYTES_MAX,
};
pub use revision::Revision;
pub use transaction::{DuplicateKey, Op, Transaction};
pub use watch::{Notice, Watch, Watching};
