//! CSIDrivers, CSINodes and CSIStorageCapacities.

use super::Strategy;
use crate::defaults::cluster;
use crate::table::{self, Rows};
use crate::validation::{storage, warnings};

pub(super) const DRIVER: Strategy = Strategy {
    defaults: cluster::csi_driver,
    validate: |errors, _, old, new| {
        storage::csi_driver(errors, new);
        if let Some(old) = old {
            storage::csi_driver_changes(errors, old, new);
        }
    },
    warnings: |warnings, old, new| {
        let same_requests =
            |old: &&serde_json::Value| old["spec"]["tokenRequests"] == new["spec"]["tokenRequests"];
        warnings::new_only(warnings, old.filter(same_requests), new, storage::csi_driver_warnings);
    },
    rows: Rows::new(table::storage::STORAGE_DRIVER, table::storage::storage_driver),
    ..Strategy::DEFAULT
};

pub(super) const NODE: Strategy = Strategy {
    validate: |errors, _, old, new| {
        storage::csi_node(errors, new);
        if let Some(old) = old {
            storage::csi_node_changes(errors, old, new);
        }
    },
    rows: Rows::new(table::storage::STORAGE_NODE, table::storage::storage_node),
    ..Strategy::DEFAULT
};

pub(super) const CAPACITY: Strategy = Strategy {
    validate: |errors, _, old, new| {
        storage::capacity(errors, new);
        if let Some(old) = old {
            storage::capacity_changes(errors, old, new);
        }
    },
    ..Strategy::DEFAULT
};
