//! Formats values for error messages: as JSON with fields in the order of the schema, or as Go marshals its internal types.

use std::fmt::Write;

use gantry_json::{Map, Value};

use super::go_names::go_name;
use crate::empties::is_omitted;
use crate::schema::{MessageId, Type, schema};

/// Formats a value as JSON with the fields of this message in the order of the schema.
pub(crate) fn ordered_json(message: &str, value: &Value) -> String {
    let mut out = String::new();
    match schema().find(message) {
        Some(id) => write_message(&mut out, id, value),
        None => write_plain(&mut out, value),
    }
    out
}

/// Formats a list of values as [`ordered_json`] does.
pub(crate) fn ordered_json_list(message: &str, values: &[Value]) -> String {
    let shown: Vec<_> = values.iter().map(|value| ordered_json(message, value)).collect();
    format!("[{}]", shown.join(","))
}

/// Formats a value as Go marshals its internal type: every field under its Go name, `null` or zero if it is not set.
///
/// Types of `meta/v1` keep their JSON names, and the metadata of an object is inlined.
pub(crate) fn with_go_names(message: &str, value: &Value) -> String {
    let mut out = String::new();
    match schema().find(message) {
        Some(id) => write_structure(&mut out, id, value),
        None => write_plain(&mut out, value),
    }
    out
}

/// Formats a list of values as [`with_go_names`] does; `null` if there is no list.
pub(crate) fn list_with_go_names(message: &str, values: &Value) -> String {
    let Value::Array(values) = values else { return "null".to_owned() };
    let shown: Vec<_> = values.iter().map(|value| with_go_names(message, value)).collect();
    format!("[{}]", shown.join(","))
}

fn write_structure(out: &mut String, id: MessageId, value: &Value) {
    if schema().message(id).name.starts_with("meta/v1.") {
        return write_message(out, id, value);
    }
    let mut members = Vec::new();
    for field in schema().fields(id) {
        let member = &value[field.json];
        match &field.kind {
            Type::Message(inner) if schema().message(*inner).name == "meta/v1.ObjectMeta" => {
                let mut metadata = String::new();
                write_message(&mut metadata, *inner, member);
                let inner = metadata.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                    members.push(inner.to_owned());
                }
            }
            _ if matches!(field.json, "kind" | "apiVersion") && value.get("metadata").is_some() => {}
            kind => {
                let mut shown = String::new();
                let is_pointer = field.pointer && !is_plain_in_go(id, field.json);
                write_member(&mut shown, kind, is_pointer, member);
                members.push(format!("\"{}\":{shown}", go_name(schema().message(id).name, field.json)));
            }
        }
    }
    let _ = write!(out, "{{{}}}", members.join(","));
}

/// Fields that are pointers in the versioned type, but not in the internal one.
fn is_plain_in_go(id: MessageId, field: &str) -> bool {
    match schema().message(id).name {
        "apps/v1.RollingUpdateDeployment" | "apps/v1.RollingUpdateDaemonSet" => true,
        "apps/v1.RollingUpdateStatefulSetStrategy" => field == "partition",
        "flowcontrol/v1.LimitedPriorityLevelConfiguration" => field == "nominalConcurrencyShares",
        _ => false,
    }
}

fn write_member(out: &mut String, kind: &Type, is_pointer: bool, value: &Value) {
    match (kind, value) {
        (Type::Message(id) | Type::Inline(id), Value::Null) if !is_pointer => {
            write_structure(out, *id, &Value::Object(Map::new()));
        }
        (Type::Message(id) | Type::Inline(id), Value::Object(_)) => write_structure(out, *id, value),
        (Type::List(element), Value::Array(list)) => {
            out.push('[');
            for (index, member) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_member(out, element, false, member);
            }
            out.push(']');
        }
        (kind, Value::Null) if !is_pointer => out.push_str(zero(kind)),
        _ => write_plain(out, value),
    }
}

/// Returns the zero value of a field that is not a pointer.
fn zero(kind: &Type) -> &'static str {
    match kind {
        Type::String => "\"\"",
        Type::Bool => "false",
        Type::Int32 | Type::Int64 | Type::Float64 | Type::IntOrString => "0",
        Type::Quantity => "\"0\"",
        _ => "null",
    }
}

fn write_message(out: &mut String, id: MessageId, value: &Value) {
    let Value::Object(map) = value else { return write_plain(out, value) };
    out.push('{');
    let mut separator = "";
    for field in schema().fields(id) {
        let Some(member) = map.get(field.json).filter(|member| !is_omitted(field, member)) else { continue };
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
