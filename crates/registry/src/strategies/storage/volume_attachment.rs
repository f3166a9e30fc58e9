//! The strategy of VolumeAttachments.

use gantry_json::json;

use super::validation;
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::named("Attacher").text_at("spec.attacher"),
    column::text("PV").text_at("spec.source.persistentVolumeName"),
    column::text("Node").text_at("spec.nodeName"),
    column::boolean("Attached").computed(|object, _| json!(cell::at(object, "status.attached") == true)),
    column::AGE,
];

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| validation::attachment(errors, old, new),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};
