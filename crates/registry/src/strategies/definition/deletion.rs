//! Deletion of CustomResourceDefinitions, after their objects, and their list of stored versions.
//!
//! ```text
//! Established ── first DELETE ──► Terminating ── no objects left, finalizer removed ──► removed
//! ```

use gantry_json::{Value, json};

use crate::Timestamp;
use crate::custom::condition::{ConditionStatus, DefinitionCondition};
use crate::custom::{CLEANUP, condition, storage_version};
use crate::kinds::Kind;
use crate::lifecycle::DeleteOptions;
use crate::lifecycle::{Deletion, delete_at_once, set_finalizers};
use crate::lifecycle::{finalizers, metadata_mut, text};

/// Decides on a request to delete a definition.
pub(crate) fn delete(stored: &Value, options: &DeleteOptions, kind: &Kind, now: Timestamp) -> Deletion {
    if text(stored, "deletionTimestamp").is_none() {
        return Deletion::Linger(begin_deletion(stored, now));
    }
    delete_at_once(stored, options, kind, now)
}

/// Returns the definition after the first request to delete it, which ignores the propagation policy.
fn begin_deletion(stored: &Value, now: Timestamp) -> Value {
    let mut object = stored.clone();
    let mut held: Vec<String> = finalizers(stored).into_iter().map(str::to_owned).collect();
    if !held.iter().any(|finalizer| finalizer == CLEANUP) {
        held.push(CLEANUP.to_owned());
    }
    set_finalizers(&mut object, &held);
    metadata_mut(&mut object).insert("deletionTimestamp", json!(now.to_string()));
    let pending = DefinitionCondition {
        name: condition::TERMINATING,
        status: ConditionStatus::True,
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
            .into(),
    };
    condition::set(&mut object["status"], &pending, now);
    object
}

/// Adds the storage version to the list of stored versions.
pub(crate) fn add_stored_version(object: &mut Value) {
    let storage = storage_version(&object["spec"]);
    let Some(name) = storage.and_then(|version| version["name"].as_str()).map(str::to_owned) else { return };
    if !object["status"].is_object() {
        object["status"] = json!({});
    }
    match &mut object["status"]["storedVersions"] {
        Value::Array(stored) if stored.iter().any(|stored| *stored == name) => {}
        Value::Array(stored) => stored.push(json!(name)),
        none => *none = json!([name]),
    }
}
