//! PersistentVolumes.

use serde_json::json;

use super::Strategy;
use crate::admission;
use crate::defaults::volume;
use crate::table::{self, Rows};
use crate::validation::storage;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: volume::persistent_volume,
    initial_status: |volume| {
        let created = volume.get("metadata").map(|metadata| &metadata["creationTimestamp"]);
        Some(json!({"phase": "Pending", "lastPhaseTransitionTime": created}))
    },
    admit: |old, new| {
        if old.is_none() {
            admission::storage::protect_volume(new);
        }
    },
    validate: |errors, _, old, new| {
        storage::volume(errors, new);
        if let Some(old) = old {
            storage::volume_changes(errors, old, new);
        }
    },
    warnings: |warnings, _, new| storage::volume_warnings(warnings, new),
    rows: Rows::new(table::storage::VOLUME, table::storage::volume),
    ..Strategy::DEFAULT
};
