//! Deletion of namespaces, after their contents.
//!
//! ```text
//! Active ── first DELETE ──► Terminating ── finalize, or DELETE without finalizers ──► removed
//! ```

use gantry_json::{Value, json};

use crate::Timestamp;
use crate::kinds::Kind;
use crate::lifecycle::DeleteOptions;
use crate::lifecycle::{Deletion, delete_at_once, finalizers_after, set_finalizers};
use crate::lifecycle::{metadata_mut, text};

/// Decides on a request to delete a namespace.
pub(crate) fn delete(stored: &Value, options: &DeleteOptions, kind: &Kind, now: Timestamp) -> Deletion {
    if text(stored, "deletionTimestamp").is_none() {
        return Deletion::Linger(begin_deletion(stored, &finalizers_after(stored, options, kind), now));
    }
    if is_held(stored) {
        return Deletion::Unchanged;
    }
    delete_at_once(stored, options, kind, now)
}

/// Whether the finalizers of its spec hold a namespace: it has not been emptied.
pub(crate) fn is_held(namespace: &Value) -> bool {
    let own = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
    own.is_some_and(|own| !own.is_empty())
}

/// Returns the namespace after the first request to delete it, with neither grace period nor a new generation.
fn begin_deletion(stored: &Value, finalizers: &[String], now: Timestamp) -> Value {
    let mut object = stored.clone();
    set_finalizers(&mut object, finalizers);
    metadata_mut(&mut object).insert("deletionTimestamp", json!(now.to_string()));
    if let Value::Object(whole) = &mut object {
        let status = whole.entry("status").or_insert_with(|| json!({}));
        if let Value::Object(status) = status {
            status.insert("phase", json!("Terminating"));
        }
    }
    object
}
