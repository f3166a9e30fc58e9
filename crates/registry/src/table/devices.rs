//! Rows of devices, the claims on them and the classes of them.

use serde_json::{Value, json};

use super::column::{AGE, Column, NAME, text as column};
use super::field::{age, at, list, name, text};
use crate::Timestamp;

pub(crate) const NAMED: &[Column] = &[NAME, AGE];
pub(crate) const CLAIM: &[Column] = &[NAME, column("State"), AGE];
pub(crate) const SLICE: &[Column] = &[NAME, column("Node"), column("Driver"), column("Pool"), AGE];

pub(crate) fn named(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(age(object, now))]
}

pub(crate) fn claim(object: &Value, now: Timestamp) -> Vec<Value> {
    let is_deleted = !at(object, "metadata.deletionTimestamp").is_null();
    let is_allocated = !at(object, "status.allocation").is_null();
    let is_reserved = is_allocated && !list(object, "status.reservedFor").is_empty();
    let states = [
        (is_deleted, "deleted"),
        (!is_deleted && !is_allocated, "pending"),
        (is_allocated, "allocated"),
        (is_reserved, "reserved"),
    ];
    let states: Vec<_> = states.iter().filter(|(holds, _)| *holds).map(|(_, state)| *state).collect();
    vec![json!(name(object)), json!(states.join(",")), json!(age(object, now))]
}

pub(crate) fn slice(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(text(object, "spec.nodeName")),
        json!(text(object, "spec.driver")),
        json!(text(object, "spec.pool.name")),
        json!(age(object, now)),
    ]
}
