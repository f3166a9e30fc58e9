//! Conditions that the server writes.

use gantry_json::{Value, json};

use crate::Timestamp;

/// Sets a pod's condition; `why` is its reason and message.
pub(super) fn set(pod: &mut Value, name: &str, status: &str, why: Option<(&str, &str)>, now: Timestamp) {
    let mut condition = json!({
        "type": name, "status": status, "lastProbeTime": null, "lastTransitionTime": now.to_string(),
    });
    if let Some((reason, message)) = why {
        condition["reason"] = json!(reason);
        condition["message"] = json!(message);
    }
    put(&mut pod["status"]["conditions"], condition);
}

/// Adds a condition, or replaces the one of its type. Its transition time changes only with its status.
pub(super) fn put(conditions: &mut Value, mut condition: Value) {
    let Value::Array(all) = conditions else {
        *conditions = json!([condition]);
        return;
    };
    match all.iter_mut().find(|existing| existing["type"] == condition["type"]) {
        Some(existing) => {
            if existing["status"] == condition["status"] {
                condition["lastTransitionTime"] = existing["lastTransitionTime"].clone();
            }
            *existing = condition;
        }
        None => all.push(condition),
    }
}
