//! A new node takes no pods until somebody has seen that it is ready.

use serde_json::{Value, json};

use crate::defaults::setting::{default, ensure, object};

/// Taints a new node as not ready.
pub(crate) fn keep_pods_away(node: &mut Value) {
    let Some(spec) = object(node).and_then(|node| ensure(node, "spec")) else { return };
    default(spec, "taints", json!([]));
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let same = |other: &Value| other["key"] == taint["key"] && other["effect"] == taint["effect"];
    if let Some(Value::Array(taints)) = spec.get_mut("taints")
        && !taints.iter().any(same)
    {
        taints.push(taint);
    }
}
