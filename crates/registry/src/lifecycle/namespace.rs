//! Namespaces: they are emptied before they go.
//!
//! ```text
//! Active ── first DELETE ──► Terminating ── finalize, or DELETE once nothing holds it ──► gone
//! ```

use serde_json::{Value, json};

use super::deletion::set_finalizers;
use super::{is_namespace, metadata_mut};
use crate::kinds::Kind;
use crate::moment::Moment;

/// Whether its own finalizers hold a namespace: somebody has still to empty it.
pub(super) fn is_held(object: &Value, kind: &Kind) -> bool {
    let own = object.pointer("/spec/finalizers").and_then(Value::as_array);
    is_namespace(kind) && own.is_some_and(|own| !own.is_empty())
}

/// The namespace as the first request to delete it leaves it. It has no time to end in, and nothing new was asked for.
pub(super) fn begin_deletion(stored: &Value, finalizers: &[String], now: Moment) -> Value {
    let mut object = stored.clone();
    set_finalizers(&mut object, finalizers);
    metadata_mut(&mut object).insert("deletionTimestamp".to_owned(), json!(now.to_string()));
    if let Value::Object(whole) = &mut object {
        let status = whole.entry("status").or_insert_with(|| json!({}));
        if let Value::Object(status) = status {
            status.insert("phase".to_owned(), json!("Terminating"));
        }
    }
    object
}
