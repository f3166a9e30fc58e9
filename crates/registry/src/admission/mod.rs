//! What the server itself adds to objects on their way in, and on whose account it turns them away.
//!
//! Everything here is decided from the object and from what the server has looked up: accounts, classes, quotas. What
//! is added belongs to no manager, so it is added after owners are known. Refusals are the end of a sentence that
//! begins with `pods "web" is forbidden:`.
//!
//! [`prepare_new`] and [`prepare_changed`] need nothing but the object; the rest is one file a rule.

pub mod accounts;
mod daemon_sets;
mod endpoints;
mod jobs;
pub mod limits;
mod nodes;
pub mod priority;
pub mod quota;
pub mod services;
mod storage;
mod tolerations;

use serde_json::Value;

use crate::kinds::Kind;

pub use services::{AddressRange, Claim, ServiceRanges};

/// Why something is not allowed: the end of a sentence.
pub type Denied = String;

/// Adds to a new object, stamped and named, what needs no look at others.
pub fn prepare_new(kind: &Kind, object: &mut Value) {
    match (kind.group, kind.kind) {
        ("", "Pod") => tolerations::tolerate_lost_nodes(object),
        ("", "Node") => nodes::keep_pods_away(object),
        ("", "Service") => services::complete(object, None),
        ("apps", "DaemonSet") => daemon_sets::count_template(object, None),
        ("batch", "Job") => jobs::select_own_pods(object),
        ("", "PersistentVolume") => storage::protect_volume(object),
        ("", "PersistentVolumeClaim") => {
            storage::protect_claim(object);
            storage::unify_data_sources(object, None);
        }
        ("discovery.k8s.io", "EndpointSlice") => endpoints::drop_topology(object, None),
        _ => {}
    }
}

/// Adds to a changed object what needs no look at others.
pub fn prepare_changed(kind: &Kind, stored: &Value, object: &mut Value) {
    match (kind.group, kind.kind) {
        ("", "Pod") => {
            tolerations::tolerate_lost_nodes(object);
            priority::keep(stored, object);
        }
        ("", "Service") => services::complete(object, Some(stored)),
        ("apps", "DaemonSet") => daemon_sets::count_template(object, Some(stored)),
        ("", "PersistentVolumeClaim") => storage::unify_data_sources(object, Some(stored)),
        ("discovery.k8s.io", "EndpointSlice") => endpoints::drop_topology(object, Some(stored)),
        _ => {}
    }
}
