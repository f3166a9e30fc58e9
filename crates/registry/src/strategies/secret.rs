//! Secrets.

use super::Strategy;
use crate::defaults;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, text};
use crate::table::{Rows, cluster};
use crate::validation::config;
use crate::validation::error_list::Path;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::secret::secret,
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            errors.immutable(&Path::new("type"), old["type"] == new["type"], &new["type"]);
            config::immutable(errors, old, new);
        }
        config::secret(errors, new);
    },
    quota_usage: |usage, _| usage.count("secrets"),
    rows: Rows::new(cluster::SECRET, cluster::secret),
    selectable: SelectableFields::new(&[NAME, NAMESPACE, text("type")]),
    ..Strategy::DEFAULT
};
