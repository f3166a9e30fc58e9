//! ConfigMaps.

use super::Strategy;
use crate::table::{Rows, cluster};
use crate::validation::config;

pub(super) const STRATEGY: Strategy = Strategy {
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            config::immutable(errors, old, new);
        }
        config::config_map(errors, new);
    },
    quota_usage: |usage, _| usage.count("configmaps"),
    rows: Rows::new(cluster::CONFIG_MAP, cluster::config_map),
    ..Strategy::DEFAULT
};
