//! The strategy of VolumeAttachments.

use gantry_json::{Value, json};

use super::validation;
use crate::Timestamp;
use crate::strategies::KindStrategy;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[
    column::NAME,
    column::named("Attacher"),
    column::text("PV"),
    column::text("Node"),
    column::truth("Attached"),
    column::AGE,
];

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| validation::attachment(errors, old, new),
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(cell::name(object)),
        json!(cell::text(object, "spec.attacher")),
        json!(cell::text(object, "spec.source.persistentVolumeName")),
        json!(cell::text(object, "spec.nodeName")),
        json!(cell::at(object, "status.attached") == true),
        json!(cell::age(object, now)),
    ]
}
