//! What an object means where it says nothing: the defaults of every kind.
//!
//! [`apply`] belongs to every decode (of requests, of patched objects, of stored ones) and may run any number of times.
//! [`on_create`] is what only a new object gets. What the server adds on its own account, mostly for the sake of other
//! objects (accounts, classes, quotas, addresses), is not here but in [`admission`](crate::admission).

pub(crate) mod autoscaling;
pub(crate) mod batch;
pub(crate) mod cluster;
pub(crate) mod container;
pub(crate) mod definition;
pub(crate) mod image;
pub(crate) mod network;
pub(crate) mod pod;
pub mod quality;
pub(crate) mod resources;
pub(crate) mod secret;
pub(crate) mod setting;
pub(crate) mod volume;
pub(crate) mod workload;

use serde_json::Value;

use crate::kinds::{Kind, Nature};
use crate::{decode, strategies};
use setting::object;

/// Sets absent fields to their defaults.
pub fn apply(kind: &Kind, value: &mut Value) {
    match &kind.nature {
        Nature::Custom(custom) => {
            custom.structural_schema.set_defaults(value);
            decode::custom::drop_unknown_metadata(&custom.structural_schema, value);
        }
        Nature::BuiltIn(_) => apply_built_in(kind, value),
    }
}

/// Sets absent fields of the result of server-side apply to their defaults: `null` is kept in custom resources.
pub fn apply_to_applied(kind: &Kind, value: &mut Value) {
    match &kind.nature {
        Nature::Custom(custom) => {
            custom.structural_schema.set_applied_defaults(value);
            decode::custom::drop_unknown_metadata(&custom.structural_schema, value);
        }
        Nature::BuiltIn(_) => apply_built_in(kind, value),
    }
}

fn apply_built_in(kind: &Kind, value: &mut Value) {
    if let Some(object) = object(value) {
        (strategies::of(kind).defaults)(object);
    }
}

/// Gives a new object its initial status. A status that came with the request is dropped, unless the kind keeps it.
pub fn on_create(kind: &Kind, value: &mut Value) {
    let strategy = strategies::of(kind);
    let Some(object) = object(value) else { return };
    if kind.has_status() && !strategy.keeps_sent_status {
        match (strategy.initial_status)(object) {
            Some(status) => object.insert("status".to_owned(), status),
            None => object.remove("status"),
        };
    }
}
