//! Definitions of custom kinds: their objects go before they do, and what was ever stored is remembered.
//!
//! ```text
//! Established ── first DELETE ──► Terminating ── no objects left, finalizer taken off ──► gone
//! ```

use serde_json::{Value, json};

use super::deletion::{Deletion, delete_at_once, set_finalizers};
use super::options::DeleteOptions;
use super::{finalizers, metadata_mut, text};
use crate::Timestamp;
use crate::custom::condition::{DefinitionCondition, Truth};
use crate::custom::{CLEANUP, condition, storage_version};
use crate::kinds::Kind;

/// Decides on a request to delete a definition.
pub(crate) fn delete(stored: &Value, options: &DeleteOptions, kind: &Kind, now: Timestamp) -> Deletion {
    if text(stored, "deletionTimestamp").is_none() {
        return Deletion::Linger(begin_deletion(stored, now));
    }
    delete_at_once(stored, options, kind, now)
}

/// The definition as the first request to delete it leaves it, whatever was said about dependents.
fn begin_deletion(stored: &Value, now: Timestamp) -> Value {
    let mut object = stored.clone();
    let mut held: Vec<String> = finalizers(stored).into_iter().map(str::to_owned).collect();
    if !held.iter().any(|finalizer| finalizer == CLEANUP) {
        held.push(CLEANUP.to_owned());
    }
    set_finalizers(&mut object, &held);
    metadata_mut(&mut object).insert("deletionTimestamp".to_owned(), json!(now.to_string()));
    let pending = DefinitionCondition {
        name: condition::TERMINATING,
        truth: Truth::True,
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
            .into(),
    };
    condition::set(&mut object["status"], &pending, now);
    object
}

/// Adds the version in which objects are stored from now on to those in which some may be.
pub(crate) fn remember_stored_version(object: &mut Value) {
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
