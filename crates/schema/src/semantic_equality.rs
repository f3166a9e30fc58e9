//! Semantic equality of objects: empty lists and zeros equal absent ones, except for pointers.

use gantry_json::{Map, Value};

use crate::schema::{Field, MessageId, Type, schema};

/// Whether two values of this message are semantically equal.
pub fn semantically_equal(message: &str, old: &Value, new: &Value) -> bool {
    match schema().find(message) {
        Some(id) => same_message(id, old, new),
        None => old == new,
    }
}

fn same_message(id: MessageId, old: &Value, new: &Value) -> bool {
    let empty = Map::new();
    let (old, new) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(name)));
    let (absent, mut all_same) = (Value::Null, true);
    for name in names {
        let (before, after) = (old.get(name).unwrap_or(&absent), new.get(name).unwrap_or(&absent));
        all_same &= match schema().field(id, name) {
            Some(field) => same_field(field, before, after),
            None => before == after,
        };
    }
    all_same
}

fn same_field(field: &Field, old: &Value, new: &Value) -> bool {
    let both = !old.is_null() && !new.is_null();
    match &field.kind {
        Type::Message(id) | Type::Inline(id) if both || !field.pointer => same_message(*id, old, new),
        Type::List(_) | Type::Map(_) if is_zero(old) && is_zero(new) => true,
        kind if both => same_typed(kind, old, new),
        _ if field.pointer => old == new,
        _ => is_zero(old) && is_zero(new),
    }
}

fn same_typed(kind: &Type, old: &Value, new: &Value) -> bool {
    match (kind, old, new) {
        (Type::Message(id) | Type::Inline(id), _, _) => same_message(*id, old, new),
        (Type::List(element), Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same_typed(element, old, new))
        }
        _ => old == new,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// O4.1: empty and absent are equal, except for pointers.
    #[test]
    fn empty_is_absent_unless_it_is_a_pointer() {
        let spec = "core/v1.PodSpec";
        assert!(semantically_equal(
            spec,
            &json!({}),
            &json!({"volumes": [], "hostNetwork": false, "nodeName": ""})
        ));
        assert!(!semantically_equal(spec, &json!({}), &json!({"activeDeadlineSeconds": 0})));
        assert!(!semantically_equal(spec, &json!({}), &json!({"nodeName": "n"})));
        let nested = |container: Value| json!({"containers": [container]});
        assert!(semantically_equal(
            spec,
            &nested(json!({"name": "c"})),
            &nested(json!({"name": "c", "resources": {}}))
        ));
        assert!(!semantically_equal(spec, &nested(json!({"name": "c"})), &nested(json!({"name": "d"}))));
    }
}
