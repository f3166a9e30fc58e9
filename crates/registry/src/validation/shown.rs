//! Objects as error messages show them: fields in the order of the schema, or by their Go names.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::schema::{MessageId, Type, schema};

/// The value as JSON with the fields of this message in the order of the schema.
pub(super) fn in_order(message: &str, value: &Value) -> String {
    let mut out = String::new();
    match schema().find(message) {
        Some(id) => write_message(&mut out, id, value),
        None => write_plain(&mut out, value),
    }
    out
}

/// A list of values of this message.
pub(super) fn list_in_order(message: &str, values: &[Value]) -> String {
    let shown: Vec<_> = values.iter().map(|value| in_order(message, value)).collect();
    format!("[{}]", shown.join(","))
}

/// The value as JSON with field names as Go has them, `Volumes` first in a pod's spec.
pub(super) fn with_go_names(value: &Value) -> String {
    match value {
        Value::Object(map) => object_with_go_names(map),
        Value::Array(list) => {
            let shown: Vec<_> = list.iter().map(with_go_names).collect();
            format!("[{}]", shown.join(","))
        }
        other => other.to_string(),
    }
}

fn object_with_go_names(map: &Map<String, Value>) -> String {
    let mut shown = Vec::with_capacity(map.len() + 1);
    if map.contains_key("containers") {
        let volumes = map.get("volumes").map_or_else(|| "null".to_owned(), with_go_names);
        shown.push(format!("\"Volumes\":{volumes}"));
    }
    for (name, value) in map.iter().filter(|(name, _)| *name != "volumes") {
        let mut letters = name.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        shown.push(format!("\"{first}{}\":{}", letters.as_str(), with_go_names(value)));
    }
    format!("{{{}}}", shown.join(","))
}

fn write_message(out: &mut String, id: MessageId, value: &Value) {
    let Value::Object(map) = value else { return write_plain(out, value) };
    out.push('{');
    let mut separator = "";
    for field in schema().fields(id) {
        let Some(member) = map.get(field.json).filter(|member| !member.is_null()) else { continue };
        let _ = write!(out, "{separator}\"{}\":", field.json);
        separator = ",";
        write_typed(out, &field.kind, member);
    }
    out.push('}');
}

fn write_typed(out: &mut String, kind: &Type, value: &Value) {
    match (kind, value) {
        (Type::Message(id) | Type::Inline(id) | Type::Or(_, id), _) => write_message(out, *id, value),
        (Type::List(element), Value::Array(list)) => {
            out.push('[');
            for (index, member) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_typed(out, element, member);
            }
            out.push(']');
        }
        _ => write_plain(out, value),
    }
}

fn write_plain(out: &mut String, value: &Value) {
    let _ = write!(out, "{value}");
}
