//! Which aggregated roles a change enqueues.

use gantry_model::{ClusterRole, Name};

/// A role was added, changed or deleted: every aggregated role may have selected it before, or may select it now.
pub fn on_role<'a>(all: impl IntoIterator<Item = &'a ClusterRole>) -> Vec<Name> {
    let aggregated = all.into_iter().filter(|role| role.aggregates.is_some());
    aggregated.map(|role| role.name.clone()).collect()
}
