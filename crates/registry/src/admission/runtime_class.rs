//! The runtime class of a new pod.

use gantry_json::Value;

use super::Denied;

/// Returns the error for a pod that names a runtime class. RuntimeClasses are not served, so none exists.
pub fn missing(pod: &Value) -> Option<Denied> {
    let class = pod["spec"]["runtimeClassName"].as_str()?;
    Some(format!("pod rejected: RuntimeClass \"{class}\" not found"))
}
