//! The strategy of ComponentStatuses.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] =
    &[column::NAME, column::text("Status"), column::text("Message"), column::text("Error")];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    rows: Rows::new(COLUMNS, cells),
    deprecation: |_| Some("v1 ComponentStatus is deprecated in v1.19+"),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, _: Timestamp) -> Vec<Value> {
    let mut conditions = cell::list(object, "conditions").iter();
    let healthy = conditions.find(|condition| condition["type"] == "Healthy");
    let said = |member: &str| healthy.map_or("", |condition| cell::text(condition, member));
    let is_well = said("status") == "True" || cell::has_condition(object, "Healthy", "True");
    vec![
        json!(cell::name(object)),
        json!(if is_well { "Healthy" } else { "Unhealthy" }),
        json!(said("message")),
        json!(said("error")),
    ]
}
