//! Accessors for untyped JSON objects: missing values read as empty.

use gantry_json::{Map, Value};

static NOTHING: Value = Value::Null;

/// The value at a JSON pointer; null if there is none.
pub(crate) fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&NOTHING)
}

/// The text at a JSON pointer.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    at(value, pointer).as_str().unwrap_or_default()
}

/// The whole number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> i64 {
    at(value, pointer).as_i64().unwrap_or_default()
}

/// The list at a JSON pointer.
pub(crate) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    at(value, pointer).as_array().map_or(&[], Vec::as_slice)
}

/// The members of the object at a JSON pointer, sorted by name.
pub(crate) fn members<'v>(value: &'v Value, pointer: &str) -> Vec<(&'v str, &'v Value)> {
    let members = at(value, pointer).as_object().into_iter().flatten();
    let mut members: Vec<_> = members.map(|(key, value)| (key.as_str(), value)).collect();
    members.sort_by_key(|(key, _)| *key);
    members
}

/// The object at a chain of names; missing ones are created.
pub(crate) fn object_mut<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut Map {
    let mut here = value;
    for name in path {
        if !here.is_object() {
            *here = Value::Object(Map::new());
        }
        here = &mut here[*name];
    }
    if !here.is_object() {
        *here = Value::Object(Map::new());
    }
    match here {
        Value::Object(members) => members,
        _ => unreachable!("it was just made an object"),
    }
}

/// A scalar as it is printed in a cell or a line.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A map as `k=v,k2=v2`, sorted; empty if there is nothing in it.
pub(crate) fn pairs(value: &Value, pointer: &str) -> String {
    let pairs = members(value, pointer).into_iter().map(|(key, value)| format!("{key}={}", shown(value)));
    let mut pairs: Vec<String> = pairs.collect();
    // By the whole text: `o2=x` sorts before `o=x`.
    pairs.sort();
    pairs.join(",")
}

/// A selector of a workload in kubectl's syntax: `app=web,tier in (a,b),!canary`; `<none>` selects nothing.
pub(crate) fn selector(value: &Value, pointer: &str) -> String {
    let selector = at(value, pointer);
    let mut parts: Vec<String> = members(selector, "/matchLabels")
        .into_iter()
        .map(|(key, value)| format!("{key}={}", shown(value)))
        .collect();
    for expression in list(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let mut values: Vec<String> = list(expression, "/values").iter().map(shown).collect();
        values.sort();
        let values = values.join(",");
        parts.push(match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    parts.sort();
    if parts.is_empty() { "<none>".to_owned() } else { parts.join(",") }
}
