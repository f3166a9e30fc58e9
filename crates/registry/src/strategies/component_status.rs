//! The strategy of ComponentStatuses.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Status").computed(|object, _| {
        let is_healthy =
            healthy(object, "status") == "True" || cell::has_condition(object, "Healthy", "True");
        json!(if is_healthy { "Healthy" } else { "Unhealthy" })
    }),
    column::text("Message").computed(|object, _| json!(healthy(object, "message"))),
    column::text("Error").computed(|object, _| json!(healthy(object, "error"))),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    rows: Rows::new(COLUMNS),
    deprecation: |_| Some("v1 ComponentStatus is deprecated in v1.19+"),
    ..KindStrategy::DEFAULT
};

/// Returns a member of the condition `Healthy`.
fn healthy<'s>(status: &'s Value, member: &str) -> &'s str {
    let mut conditions = cell::list(status, "conditions").iter();
    let healthy = conditions.find(|condition| condition["type"] == "Healthy");
    healthy.map_or("", |condition| cell::text(condition, member))
}
