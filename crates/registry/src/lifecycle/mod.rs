//! The life of an object: what the server itself writes into it when it is created, changed and deleted.
//!
//! Values in, values out; which uid, which moment and which kind of object is passed in. Validation and defaults come
//! before, storage comes after. The resource version belongs to the store and is not touched here.

mod create;
pub(crate) mod definition;
mod deletion;
pub(crate) mod disabled_fields;
mod expiry;
pub(crate) mod namespace;
mod options;
mod update;

pub use create::{Stamp, create, disown, forget_link, generated_name};
pub use deletion::{Deletion, delete};
pub(crate) use deletion::{delete_at_once, delete_gracefully};
pub use expiry::is_expired;
pub use options::{DeleteOptions, Propagation};
pub use update::{Part, Updated, update};
pub(crate) use update::{keep, keep_all_but_managed_fields, keep_metadata};

use serde_json::{Map, Value};

/// The finalizer of an object that goes after its dependents.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents stay.
const ORPHAN: &str = "orphan";

fn metadata(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata").and_then(Value::as_object)
}

/// The metadata to write to; an object without any gets some.
fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
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

fn text<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    metadata(object)?.get(field)?.as_str()
}

fn finalizers(object: &Value) -> Vec<&str> {
    let list = metadata(object).and_then(|metadata| metadata.get("finalizers")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn generation(object: &Value) -> i64 {
    metadata(object).and_then(|metadata| metadata.get("generation")).and_then(Value::as_i64).unwrap_or(0)
}

/// Everything but metadata, status, kind and apiVersion: what the user asked for.
fn asked_for(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(field, _)| !matches!(field.as_str(), "metadata" | "status" | "kind" | "apiVersion"))
}
