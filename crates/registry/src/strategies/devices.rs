//! DeviceClasses, ResourceClaims, ResourceClaimTemplates and ResourceSlices.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::selector::fields::{self, SelectableFields};
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const NAMED_COLUMNS: &[Column] = &[column::NAME, column::AGE];
const CLAIM_COLUMNS: &[Column] = &[column::NAME, column::text("State"), column::AGE];
const SLICE_COLUMNS: &[Column] =
    &[column::NAME, column::text("Node"), column::text("Driver"), column::text("Pool"), column::AGE];

pub(super) const NAMED: KindStrategy =
    KindStrategy { rows: Rows::new(NAMED_COLUMNS, named_cells), ..KindStrategy::DEFAULT };

pub(super) const CLAIM: KindStrategy =
    KindStrategy { rows: Rows::new(CLAIM_COLUMNS, claim_cells), ..KindStrategy::DEFAULT };

pub(super) const SLICE: KindStrategy = KindStrategy {
    rows: Rows::new(SLICE_COLUMNS, slice_cells),
    selectable: SelectableFields::new(&[
        fields::NAME,
        fields::text("spec.driver"),
        fields::text("spec.nodeName"),
        fields::text("spec.pool.name"),
    ]),
    ..KindStrategy::DEFAULT
};

fn named_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(cell::name(object)), json!(cell::age(object, now))]
}

fn claim_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let is_deleted = !cell::at(object, "metadata.deletionTimestamp").is_null();
    let is_allocated = !cell::at(object, "status.allocation").is_null();
    let is_reserved = is_allocated && !cell::list(object, "status.reservedFor").is_empty();
    let states = [
        (is_deleted, "deleted"),
        (!is_deleted && !is_allocated, "pending"),
        (is_allocated, "allocated"),
        (is_reserved, "reserved"),
    ];
    let states: Vec<_> = states.iter().filter(|(holds, _)| *holds).map(|(_, state)| *state).collect();
    vec![json!(cell::name(object)), json!(states.join(",")), json!(cell::age(object, now))]
}

fn slice_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(cell::name(object)),
        json!(cell::text(object, "spec.nodeName")),
        json!(cell::text(object, "spec.driver")),
        json!(cell::text(object, "spec.pool.name")),
        json!(cell::age(object, now)),
    ]
}
