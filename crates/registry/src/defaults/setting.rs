//! Setting defaults in JSON values; values of unexpected types are left as they are.

use gantry_json::{Map, Value, json};

/// A JSON object.
pub(crate) type Object = Map;

/// Returns the value as an object, if it is one.
pub(crate) fn object(value: &mut Value) -> Option<&mut Object> {
    value.as_object_mut()
}

/// Sets a field that is absent or null.
pub(crate) fn default(object: &mut Object, field: &str, value: impl Into<Value>) {
    if is_unset(object, field) {
        object.insert(field.to_owned(), value.into());
    }
}

/// Sets a field that is absent, null or an empty string.
pub(crate) fn default_text(object: &mut Object, field: &str, value: &str) {
    if is_unset(object, field) || object[field].as_str() == Some("") {
        object.insert(field.to_owned(), json!(value));
    }
}

/// Sets a field that is absent, null or zero.
pub(crate) fn default_number(object: &mut Object, field: &str, value: i64) {
    if is_unset(object, field) || object[field].as_i64() == Some(0) {
        object.insert(field.to_owned(), json!(value));
    }
}

/// Whether the field is absent or null.
pub(crate) fn is_unset(object: &Object, field: &str) -> bool {
    object.get(field).is_none_or(Value::is_null)
}

/// Returns the string in a field, or an empty one.
pub(crate) fn text<'a>(object: &'a Object, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or("")
}

/// Returns the object in a field, if there is one.
pub(crate) fn child<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    object.get_mut(field).and_then(Value::as_object_mut)
}

/// Returns the object in a field, inserting an empty one if it is absent; `None` if the field holds something else.
pub(crate) fn ensure<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    default(object, field, json!({}));
    child(object, field)
}

/// Returns the objects of the list in a field.
pub(crate) fn each<'a>(object: &'a mut Object, field: &str) -> impl Iterator<Item = &'a mut Object> {
    let list = object.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Whether the list or map in a field is empty or absent.
pub(crate) fn is_empty(object: &Object, field: &str) -> bool {
    match object.get(field) {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Null) | None => true,
        Some(_) => false,
    }
}
