//! The strategy of VolumeAttributesClasses.

use super::{add_finalizer, validation};
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};

const COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("DriverName").text_at("driverName"), column::AGE];
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
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};
