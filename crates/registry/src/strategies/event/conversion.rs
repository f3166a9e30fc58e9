//! Converts Events between the two groups, which name the same fields differently.

use gantry_json::Value;

/// Names in the core group and in `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Converts to the core group.
pub(crate) fn to_core(event: Value) -> Value {
    renamed(event, |(core, new)| (new, core))
}

/// Converts to `events.k8s.io`.
pub(crate) fn from_core(event: Value) -> Value {
    renamed(event, |(core, new)| (core, new))
}

fn renamed(
    mut event: Value,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    if let Value::Object(members) = &mut event {
        for (from, to) in NAMES.map(direction) {
            if let Some(value) = members.remove(from) {
                members.insert(to.to_owned(), value);
            }
        }
    }
    event
}
