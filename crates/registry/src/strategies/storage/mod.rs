//! The strategies of volumes, claims, their classes, and CSI drivers.

pub(super) mod csi;
pub(super) mod persistent_volume;
pub(super) mod persistent_volume_claim;
pub(super) mod storage_class;
pub(crate) mod validation;
pub(super) mod volume_attachment;
pub(super) mod volume_attributes_class;

use gantry_json::{Value, json};

/// Adds a finalizer, unless the object has it.
fn add_finalizer(object: &mut Value, name: &str) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.iter().any(|finalizer| finalizer == name)
    {
        finalizers.push(json!(name));
    }
}
