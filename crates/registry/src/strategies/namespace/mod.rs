//! The strategy of Namespaces.

mod deletion;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::defaults::setting;
use crate::defaults::setting::{Object, child, default, ensure, object};
use crate::lifecycle::{Part, keep};
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, text};
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path, is_set, list};
use crate::validation::metadata;

const COLUMNS: &[TableColumn] = &[column::NAME, column::text("Status").text_at("status.phase"), column::AGE];
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    initial_status: |_| Some(json!({"phase": "Active"})),
    prepare: |part, old, new| {
        if let (Part::Main, Some(old)) = (part, old) {
            keep(old, new, "spec");
        }
    },
    admit: |old, new| {
        if let (None, Some(new)) = (old, object(new)) {
            set_defaults(new);
            add_finalizer(new);
        }
    },
    validate: |errors, _, _, new| {
        let at = Path::new("spec");
        metadata::finalizer_names(errors, &at.child("finalizers"), list(&new["spec"], "finalizers"));
    },
    validate_status: |errors, _, _, new| validate_phase(errors, new),
    delete: Some(deletion::delete),
    is_held: deletion::is_held,
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[NAME, NAMESPACE, text("status.phase")]),
    ..KindStrategy::DEFAULT
};

/// Validates that the phase is `Terminating` exactly if the namespace is being deleted.
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

/// Sets the label with the name of the namespace.
fn set_defaults(namespace: &mut Object) {
    let Some(metadata) = child(namespace, "metadata") else { return };
    let name = setting::text(metadata, "name").to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = ensure(metadata, "labels") {
        labels.insert(NAME_LABEL.to_owned(), json!(name));
    }
}

/// Adds the finalizer `kubernetes` to the spec.
fn add_finalizer(namespace: &mut Object) {
    let Some(spec) = ensure(namespace, "spec") else { return };
    default(spec, "finalizers", json!([]));
    if let Some(Value::Array(finalizers)) = spec.get_mut("finalizers")
        && !finalizers.contains(&json!("kubernetes"))
    {
        finalizers.push(json!("kubernetes"));
    }
}
