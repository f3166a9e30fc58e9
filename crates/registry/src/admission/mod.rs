//! What the server itself adds to objects on their way in, and on whose account it turns them away.
//!
//! Everything here is decided from the object and from what the server has looked up: accounts, classes, quotas. What
//! is added belongs to no manager, so it is added after owners are known. Refusals are the end of a sentence that
//! begins with `pods "web" is forbidden:`.
//!
//! [`prepare_new`] and [`prepare_changed`] need nothing but the object; the rest is one file a rule.

pub mod accounts;
pub(crate) mod daemon_sets;
pub(crate) mod endpoints;
pub(crate) mod jobs;
pub mod limits;
pub(crate) mod nodes;
pub mod priority;
pub mod quota;
pub mod services;
pub(crate) mod storage;
pub(crate) mod tolerations;

use serde_json::Value;

use crate::kinds::Kind;
use crate::strategies;

pub use services::{AddressRange, Claim, ServiceRanges};

/// Why something is not allowed: the end of a sentence.
pub type Denied = String;

/// Adds to a new object, stamped and named, what depends on no other object.
pub fn prepare_new(kind: &Kind, object: &mut Value) {
    (strategies::of(kind).admit)(None, object);
}

/// Adds to a changed object what depends on no other object.
pub fn prepare_changed(kind: &Kind, stored: &Value, object: &mut Value) {
    (strategies::of(kind).admit)(Some(stored), object);
}
