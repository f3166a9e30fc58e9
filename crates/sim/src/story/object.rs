//! Reads fields of objects as the API sends them.

use gantry_json::Value;
use gantry_model::keys;

pub(super) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

pub(super) fn creation(object: &Value) -> &str {
    object["metadata"]["creationTimestamp"].as_str().unwrap_or_default()
}

pub(super) fn revision(object: &Value) -> u64 {
    let written = object["metadata"]["annotations"][keys::REVISION].as_str();
    written.and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

pub(super) fn is_deleting(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// The uid of the controller of an object.
pub(super) fn controller(object: &Value) -> Option<&str> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)?["uid"].as_str()
}

/// Whether a pod is ready.
pub fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True"))
}
