//! StorageClasses.

use super::Strategy;
use crate::defaults::cluster;
use crate::table::{self, Rows};
use crate::validation::{storage, warnings};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: cluster::storage_class,
    validate: |errors, _, old, new| {
        storage::storage_class(errors, new);
        if let Some(old) = old {
            storage::storage_class_changes(errors, old, new);
        }
    },
    warnings: |warnings, _, new| warnings::topology_labels(warnings, new),
    rows: Rows::new(table::storage::STORAGE_CLASS, table::storage::storage_class),
    ..Strategy::DEFAULT
};
