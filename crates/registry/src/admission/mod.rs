//! Admission: sets fields of objects and rejects objects, depending on other objects.
//!
//! The functions take the object, and others that the caller looked up: accounts, classes, quotas. They run after field
//! ownership is recorded, because no manager owns the fields they add. Errors complete a sentence that begins with
//! `pods "web" is forbidden:`.
//!
//! [`admit_create`] and [`admit_update`] are the parts that need no other objects; each other file is one rule.

pub mod accounts;
pub mod limits;
pub mod priority;
pub mod quota;
pub mod runtime_class;
pub mod services;

use gantry_json::Value;

use crate::kinds::Kind;
use crate::strategies;

pub use services::{AddressRange, Claim, ServiceRanges};

/// The reason why a request is forbidden; it completes a sentence.
pub type Denied = String;

/// A check of an object that depends on more than the object: on others, which the caller looks up, on its user, or on a parser of
/// certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionCheck {
    /// [`accounts`]: the service account of a pod exists and is mounted.
    ServiceAccount,
    /// [`priority`]: a pod has the priority of its class.
    Priority,
    /// [`priority`]: at most one class is the default.
    OneDefaultClass,
    /// [`limits`]: resources are within the LimitRanges of the namespace.
    Limits,
    /// [`runtime_class`]: a pod has the overhead, nodes and tolerations of its runtime class.
    RuntimeClass,
    /// A request for a certificate is valid, and its user may make, approve or sign it.
    SigningRequest,
    /// A bundle has valid certificates, and its user may attest for the signer.
    TrustBundle,
}

/// Sets fields of a new object that depend on no other object; its name, uid and times are set.
pub fn admit_create(kind: &Kind, object: &mut Value) {
    (strategies::of(kind).admit)(None, object);
}

/// Sets fields of a changed object that depend on no other object.
pub fn admit_update(kind: &Kind, stored: &Value, object: &mut Value) {
    (strategies::of(kind).admit)(Some(stored), object);
}
