//! The strategy of VolumeAttributesClasses.

use gantry_json::{Value, json};

use super::{add_finalizer, validation};
use crate::Timestamp;
use crate::strategies::KindStrategy;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[column::NAME, column::text("DriverName"), column::AGE];
const PROTECTION: &str = "kubernetes.io/vac-protection";

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    admit: |old, new| {
        if old.is_none() {
            add_finalizer(new, PROTECTION);
        }
    },
    validate: |errors, _, old, new| match old {
        None => validation::attributes_class(errors, new),
        Some(old) => validation::attributes_class_changes(errors, old, new),
    },
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(cell::name(object)), json!(cell::text(object, "driverName")), json!(cell::age(object, now))]
}
