//! The fields that the server sets when objects are created, updated and deleted.
//!
//! Pure functions: uid and time are passed in. Defaults come before, validation and storage come after. The resource
//! version belongs to the store and is not touched here.

mod create;
mod deletion;
pub(crate) mod disabled_fields;
mod expiry;
mod options;
mod update;

pub use create::{ServerAssignedMetadata, create, drop_self_link, drop_server_metadata, generated_name};
pub use deletion::{Deletion, delete, is_removed_at_once};
pub(crate) use deletion::{delete_at_once, delete_gracefully, finalizers_after, set_finalizers};
pub use expiry::is_expired;
pub use options::{DeleteOptions, Propagation};
pub use update::{Part, Updated, is_deletion_due, update};
pub(crate) use update::{keep, keep_all_but_managed_fields, keep_metadata};

use gantry_json::{Map, SmolStr, Value};

/// The finalizer of an object whose dependents are deleted first.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are orphaned.
const ORPHAN: &str = "orphan";

fn metadata(object: &Value) -> Option<&Map> {
    object.get("metadata").and_then(Value::as_object)
}

/// Returns the metadata, inserting it if it is absent.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map {
    let whole = match object {
        Value::Object(whole) => whole,
        other => {
            *other = Value::Object(Map::new());
            return metadata_mut(other);
        }
    };
    let metadata = whole.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    match metadata {
        Value::Object(metadata) => metadata,
        _ => unreachable!("it was just made an object"),
    }
}

pub(crate) fn text<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    metadata(object)?.get(field)?.as_str()
}

pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    let list = metadata(object).and_then(|metadata| metadata.get("finalizers")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn generation(object: &Value) -> i64 {
    metadata(object).and_then(|metadata| metadata.get("generation")).and_then(Value::as_i64).unwrap_or(0)
}

/// Returns all fields but metadata, status, kind and apiVersion.
fn content_fields(object: &Value) -> impl Iterator<Item = (&SmolStr, &Value)> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(field, _)| !matches!(field.as_str(), "metadata" | "status" | "kind" | "apiVersion"))
}
