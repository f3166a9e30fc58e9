//! Namespaces.

use serde_json::{Value, json};

use super::Strategy;
use crate::defaults::cluster::{finalized_namespace, namespace};
use crate::defaults::setting::object;
use crate::lifecycle::{self, Part, keep};
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, text};
use crate::table::{Rows, cluster};
use crate::validation::error_list::{ErrorList, Path, is_set, list};
use crate::validation::metadata;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: namespace,
    initial_status: |_| Some(json!({"phase": "Active"})),
    prepare: |part, old, new| {
        if let (Part::Main, Some(old)) = (part, old) {
            keep(old, new, "spec");
        }
    },
    admit: |old, new| {
        if let (None, Some(new)) = (old, object(new)) {
            namespace(new);
            finalized_namespace(new);
        }
    },
    validate: |errors, _, _, new| {
        let at = Path::new("spec");
        metadata::finalizer_names(errors, &at.child("finalizers"), list(&new["spec"], "finalizers"));
    },
    validate_status: |errors, _, _, new| validate_phase(errors, new),
    delete: lifecycle::namespace::delete,
    is_held: lifecycle::namespace::is_held,
    rows: Rows::new(cluster::NAMESPACE, cluster::namespace),
    selectable: SelectableFields::new(&[NAME, NAMESPACE, text("status.phase")]),
    ..Strategy::DEFAULT
};

/// A namespace is on its way out exactly when it is being deleted.
fn validate_phase(errors: &mut ErrorList, namespace: &Value) {
    let (phase, at) = (&namespace["status"]["phase"], Path::new("status"));
    let (is_allowed, why) = if is_set(&namespace["metadata"], "deletionTimestamp") {
        (phase == "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    } else {
        (phase == "Active", "may only be 'Active' if `deletionTimestamp` is empty")
    };
    if !is_allowed {
        // The name of the field is upstream's.
        errors.invalid(&at.child("Phase"), &json!(phase.as_str().unwrap_or_default()), why);
    }
}
