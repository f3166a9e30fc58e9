//! DeviceClasses, DeviceTaintRules, ResourceClaims, ResourceClaimTemplates and ResourceSlices.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::selector::fields::{self, SelectableFields};
use crate::table::age::since;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const NAMED_COLUMNS: &[TableColumn] = &[column::NAME, column::AGE];
const CLAIM_COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("State").computed(state_cell), column::AGE];
const SLICE_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Node").text_at("spec.nodeName"),
    column::text("Driver").text_at("spec.driver"),
    column::text("Pool").text_at("spec.pool.name"),
    column::AGE,
];

const TAINT_RULE_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Key").text_at("spec.taint.key"),
    column::text("Value").text_at("spec.taint.value"),
    column::text("Effect").text_at("spec.taint.effect"),
    column::text("TimeAdded").computed(|object, now| match cell::at(object, "spec.taint.timeAdded") {
        Value::Null => json!(""),
        added => json!(since(now, added)),
    }),
    column::AGE,
];

pub(super) const NAMED: KindStrategy =
    KindStrategy { rows: Rows::new(NAMED_COLUMNS), ..KindStrategy::DEFAULT };

pub(super) const CLAIM: KindStrategy =
    KindStrategy { rows: Rows::new(CLAIM_COLUMNS), ..KindStrategy::DEFAULT };

pub(super) const TAINT_RULE: KindStrategy =
    KindStrategy { rows: Rows::new(TAINT_RULE_COLUMNS), ..KindStrategy::DEFAULT };

pub(super) const SLICE: KindStrategy = KindStrategy {
    rows: Rows::new(SLICE_COLUMNS),
    selectable: SelectableFields::new(&[
        fields::NAME,
        fields::text("spec.driver"),
        fields::text("spec.nodeName"),
        fields::text("spec.pool.name"),
    ]),
    ..KindStrategy::DEFAULT
};

fn state_cell(object: &Value, _: Timestamp) -> Value {
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
    json!(states.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix C: the row of a DeviceTaintRule has its taint.
    #[test]
    fn a_taint_rule_is_shown_with_its_taint() {
        let now = Timestamp::parse("2026-01-01T00:10:00Z").unwrap();
        let taint = json!({"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:05:00Z"});
        let rule = json!({"metadata": {"name": "r"}, "spec": {"taint": taint}});
        let cells = TAINT_RULE.rows.cells(&rule, now);
        assert_eq!(
            cells,
            [json!("r"), json!("k"), json!(""), json!("NoSchedule"), json!("5m"), json!("<unknown>")]
        );
    }
}
