//! Reads values for cells; absent values are empty, zero, or a word in angle brackets.

use std::collections::BTreeSet;

use gantry_json::Value;

use crate::Timestamp;
use crate::selector::LabelSelector;
use crate::table::age::since;

/// The maximum number of addresses, ports or hosts in a cell.
pub(crate) const MOST: usize = 3;

/// Returns the value at a dotted path, or null.
pub(crate) fn at<'o>(object: &'o Value, path: &str) -> &'o Value {
    path.split('.').fold(object, |value, member| &value[member])
}

/// Returns the string at a path, or an empty one.
pub(crate) fn text<'o>(object: &'o Value, path: &str) -> &'o str {
    at(object, path).as_str().unwrap_or("")
}

/// Returns the string at a path, or this word if it is absent.
pub(crate) fn text_or<'o>(object: &'o Value, path: &str, absent: &'static str) -> &'o str {
    at(object, path).as_str().filter(|text| !text.is_empty()).unwrap_or(absent)
}

/// Returns the number at a path, or zero.
pub(crate) fn number(object: &Value, path: &str) -> i64 {
    at(object, path).as_i64().unwrap_or(0)
}

/// Returns the elements of the list at a path.
pub(crate) fn list<'o>(object: &'o Value, path: &str) -> &'o [Value] {
    at(object, path).as_array().map_or(&[], Vec::as_slice)
}

/// Returns the number of members of the map at a path.
pub(crate) fn members(object: &Value, path: &str) -> usize {
    at(object, path).as_object().map_or(0, gantry_json::Map::len)
}

/// Returns the object's name.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "metadata.name")
}

/// Returns the age of the object.
pub(crate) fn age(object: &Value, now: Timestamp) -> String {
    since(now, at(object, "metadata.creationTimestamp"))
}

/// Joins a member of each element by commas.
pub(crate) fn joined(elements: &[Value], member: &str) -> String {
    elements.iter().map(|element| text(element, member)).collect::<Vec<_>>().join(",")
}

/// Joins the first few, and says how many more there are.
pub(crate) fn few(all: &[String], most: usize, separator: &str) -> String {
    match all.get(..most).filter(|_| all.len() > most) {
        None => all.join(separator),
        Some(first) => format!("{} + {} more...", first.join(separator), all.len() - most),
    }
}

/// Formats the selector at a path.
pub(crate) fn selector(object: &Value, path: &str) -> String {
    printed(LabelSelector::from_object(at(object, path)).ok())
}

/// Formats the map of labels at a path, without validating it.
pub(crate) fn labels(object: &Value, path: &str) -> String {
    let pairs = at(object, path).as_object().into_iter().flatten();
    let pairs: Vec<_> = pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
    if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") }
}

/// Formats a number or a string.
pub(crate) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Formats access modes in Kubernetes' short forms and order.
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

pub(crate) fn ready_replicas(object: &Value) -> String {
    format!("{}/{}", number(object, "status.readyReplicas"), number(object, "spec.replicas"))
}

pub(crate) fn name_of(part: &Value) -> &str {
    text(part, "name")
}

pub(crate) fn load_balancer(object: &Value) -> String {
    let address = |ingress: &'_ Value| {
        let address = text_or(ingress, "ip", "");
        if address.is_empty() { text(ingress, "hostname") } else { address }.to_owned()
    };
    let addresses = list(object, "status.loadBalancer.ingress").iter().map(address);
    let addresses: BTreeSet<_> = addresses.filter(|address| !address.is_empty()).collect();
    addresses.into_iter().collect::<Vec<_>>().join(",")
}

pub(crate) fn or(text: String, empty: &str) -> String {
    if text.is_empty() { empty.to_owned() } else { text }
}
