//! Reading an object for a cell: what is absent is empty, zero, or said in angle brackets.

use serde_json::Value;

use super::age::since;
use crate::Timestamp;
use crate::selector::LabelSelector;

/// The value at a dotted path, or null.
pub(crate) fn at<'o>(object: &'o Value, path: &str) -> &'o Value {
    path.split('.').fold(object, |value, member| &value[member])
}

/// The text at a path, or nothing.
pub(crate) fn text<'o>(object: &'o Value, path: &str) -> &'o str {
    at(object, path).as_str().unwrap_or("")
}

/// The text at a path, or a word for its absence.
pub(crate) fn text_or<'o>(object: &'o Value, path: &str, absent: &'static str) -> &'o str {
    at(object, path).as_str().filter(|text| !text.is_empty()).unwrap_or(absent)
}

/// The number at a path, or zero.
pub(crate) fn number(object: &Value, path: &str) -> i64 {
    at(object, path).as_i64().unwrap_or(0)
}

/// The elements of the list at a path, or none.
pub(crate) fn list<'o>(object: &'o Value, path: &str) -> &'o [Value] {
    at(object, path).as_array().map_or(&[], Vec::as_slice)
}

/// How many members the map at a path has.
pub(crate) fn members(object: &Value, path: &str) -> usize {
    at(object, path).as_object().map_or(0, serde_json::Map::len)
}

/// The object's name.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "metadata.name")
}

/// How old the object is.
pub(crate) fn age(object: &Value, now: Timestamp) -> String {
    since(now, at(object, "metadata.creationTimestamp"))
}

/// When the object was created; the zero time if that is not known.
pub(crate) fn created(object: &Value) -> &str {
    text_or(object, "metadata.creationTimestamp", "0001-01-01T00:00:00Z")
}

/// A member of each element, joined by commas.
pub(crate) fn joined(elements: &[Value], member: &str) -> String {
    elements.iter().map(|element| text(element, member)).collect::<Vec<_>>().join(",")
}

/// A list of which only the first few are shown.
pub(crate) fn few(all: &[String], most: usize, separator: &str) -> String {
    match all.get(..most).filter(|_| all.len() > most) {
        None => all.join(separator),
        Some(first) => format!("{} + {} more...", first.join(separator), all.len() - most),
    }
}

/// The selector object at a path in canonical form.
pub(crate) fn selector(object: &Value, path: &str) -> String {
    printed(LabelSelector::from_object(at(object, path)).ok())
}

/// The plain map of labels at a path; its values are not judged.
pub(crate) fn labels(object: &Value, path: &str) -> String {
    let pairs = at(object, path).as_object().into_iter().flatten();
    let pairs: Vec<_> = pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
    if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") }
}

/// A number or a text.
pub(crate) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Access modes in short, in the order of their names' usefulness.
pub(crate) fn access_modes(granted: &[Value]) -> String {
    let modes = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |mode: &str| granted.iter().any(|granted| granted == mode);
    modes.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

/// Whether a condition of this type has this status.
pub(crate) fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    let mut conditions = list(object, "status.conditions").iter();
    conditions.any(|condition| condition["type"] == kind && condition["status"] == status)
}

fn printed(selector: Option<LabelSelector>) -> String {
    match selector.map(|selector| selector.to_string()) {
        None => "<error>".to_owned(),
        Some(text) if text.is_empty() => "<none>".to_owned(),
        Some(text) => text,
    }
}
