//! PersistentVolumeClaims.

use serde_json::json;

use super::Strategy;
use crate::admission;
use crate::defaults::volume;
use crate::table::{Rows, cluster};
use crate::validation::error_list::Path;
use crate::validation::storage;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: volume::claim,
    initial_status: |_| Some(json!({"phase": "Pending"})),
    admit: |old, new| {
        if old.is_none() {
            admission::storage::protect_claim(new);
        }
        admission::storage::unify_data_sources(new, old);
    },
    validate: |errors, _, old, new| {
        storage::claim(errors, &Path::new("spec"), old, &new["spec"]);
        if let Some(old) = old {
            storage::claim_changes(errors, old, new);
        }
    },
    validate_status: |errors, _, _, new| storage::claim_status(errors, new),
    warnings: |warnings, _, new| storage::claim_warnings(warnings, new),
    quota_usage: |usage, claim| usage.add_claim(claim),
    rows: Rows::new(cluster::VOLUME_CLAIM, cluster::volume_claim),
    ..Strategy::DEFAULT
};
