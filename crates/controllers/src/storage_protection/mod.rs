//! Protects claims in use, bound volumes and classes of volumes in use from deletion.
//!
//! The API server adds a finalizer when it creates them; these controllers remove it. They run where Gantry runs the
//! API server. Elsewhere kube-controller-manager does the same.

mod attributes_classes;
mod claims;
mod volumes;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

pub(crate) use attributes_classes::assemble as assemble_attributes_classes;
pub(crate) use claims::assemble as assemble_claims;
pub(crate) use volumes::assemble as assemble_volumes;

/// Few objects are deleted at a time.
const WORKERS: usize = 1;

/// Whether the object is being deleted and still has the finalizer.
fn is_held(metadata: &ObjectMeta, finalizer: &str) -> bool {
    let finalizers = metadata.finalizers.as_deref().unwrap_or_default();
    metadata.deletion_timestamp.is_some() && finalizers.iter().any(|held| held == finalizer)
}

/// Removes the finalizer.
fn release(metadata: &mut ObjectMeta, finalizer: &str) {
    if let Some(finalizers) = &mut metadata.finalizers {
        finalizers.retain(|held| held != finalizer);
    }
}
