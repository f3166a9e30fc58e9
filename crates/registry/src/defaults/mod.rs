//! Defaults of absent fields, and the initial status of new objects.
//!
//! [`apply`] is part of every decode (of requests, patched objects, stored objects) and idempotent. Defaults of one kind are
//! in its [strategy](crate::strategies); here are those that several kinds share. Values that depend on other objects
//! (accounts, classes, quotas, addresses) are set by [`admission`](crate::admission).

pub(crate) mod container;
pub(crate) mod image;
pub(crate) mod pod;
pub(crate) mod qos;
pub(crate) mod resources;
pub(crate) mod setting;
pub(crate) mod volume;
pub(crate) mod workload;

use gantry_json::Value;

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
pub fn set_initial_status(kind: &Kind, value: &mut Value) {
    let strategy = strategies::of(kind);
    let Some(object) = object(value) else { return };
    if kind.has_status() && !strategy.keeps_sent_status {
        match (strategy.initial_status)(object) {
            Some(status) => object.insert("status", status),
            None => object.remove("status"),
        };
    }
}
