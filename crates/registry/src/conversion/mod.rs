//! Conversion between served versions and the stored one.
//!
//! Events of both groups are the same objects, and so are autoscalers of both versions. Each is stored in one of its
//! forms; [`to_storage`] and [`from_storage`] convert. All other kinds are stored as they are served.

use gantry_json::{Value, json};

use crate::kinds::{GroupVersion, Kind, kinds};
use crate::strategies;

/// The form in which objects of a kind are stored.
pub(crate) struct StorageForm {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) to_storage: fn(Value) -> Value,
    pub(crate) from_storage: fn(Value) -> Value,
}

/// The kind as which objects of this kind are stored, if that is another one. Errors use its name.
pub fn stored_kind(kind: &Kind) -> Option<&'static Kind> {
    let form = strategies::of(kind).storage.as_ref()?;
    kinds().kind(form.group, form.version, form.kind)
}

/// Converts an object of this kind to the form in which it is stored.
pub fn to_storage(kind: &Kind, object: Value) -> Value {
    match &strategies::of(kind).storage {
        Some(form) => {
            named((form.to_storage)(object), GroupVersion { group: form.group, version: form.version })
        }
        None => object,
    }
}

/// Converts a stored object to this kind.
pub fn from_storage(kind: &Kind, object: Value) -> Value {
    match &strategies::of(kind).storage {
        Some(form) => {
            named((form.from_storage)(object), GroupVersion { group: kind.group, version: kind.version })
        }
        None => object,
    }
}

fn named(mut object: Value, version: GroupVersion) -> Value {
    if let Value::Object(members) = &mut object {
        members.insert("apiVersion", json!(version.to_string()));
    }
    object
}
