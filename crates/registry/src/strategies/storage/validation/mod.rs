//! Validates the kinds of this family.

mod attachment;
mod claim;
mod class;
mod driver;
mod sources;
mod volume;

pub(crate) use attachment::attachment;
pub(crate) use claim::{claim, claim_changes, claim_status, claim_warnings};
pub(crate) use class::{attributes_class, attributes_class_changes, storage_class, storage_class_changes};
pub(crate) use driver::{
    capacity, capacity_changes, csi_driver, csi_driver_changes, csi_driver_warnings, csi_node,
    csi_node_changes,
};
pub(crate) use sources::{Holder, device};
pub(crate) use volume::{volume, volume_changes, volume_warnings};

use gantry_json::Value;

use crate::validation::error_list::{ErrorList, Path};

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
/// The annotation that `storageClassName` replaced.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// Reports access modes that are unknown, or that exclude each other.
fn access_modes(errors: &mut ErrorList, at: &Path<'_>, modes: &[Value]) {
    let known = |mode: &Value| mode.as_str().is_some_and(|mode| ACCESS_MODES.contains(&mode));
    for mode in modes.iter().filter(|mode| !known(mode)) {
        errors.unsupported(at, mode, &ACCESS_MODES);
    }
    let is_single = |mode: &Value| mode == "ReadWriteOncePod";
    if modes.iter().any(is_single) && modes.iter().any(|mode| known(mode) && !is_single(mode)) {
        errors.forbidden(at, "may not use ReadWriteOncePod with other access modes");
    }
}
