//! ResourceQuotas.

use super::Strategy;
use crate::table::{Rows, cluster};
use crate::validation::quota;

pub(super) const STRATEGY: Strategy = Strategy {
    validate: |errors, _, old, new| {
        quota::quota(errors, new);
        if let Some(old) = old {
            quota::changes(errors, old, new);
        }
    },
    validate_status: |errors, _, _, new| quota::status(errors, new),
    warnings: |warnings, old, new| {
        if old.is_none() {
            quota::warnings(warnings, &new["spec"]);
        }
    },
    quota_usage: |usage, _| usage.count("resourcequotas"),
    rows: Rows::new(cluster::RESOURCE_QUOTA, cluster::resource_quota),
    ..Strategy::DEFAULT
};
