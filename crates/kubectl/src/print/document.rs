//! Whole objects, as they are shown to people.

use serde_json::{Value, json};

/// Objects as one list.
pub(crate) fn as_list(objects: &[Value]) -> Value {
    json!({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}})
}

/// The object without the record of who wrote what, which nobody wants to read.
pub(crate) fn without_managed_fields(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}
