//! A pod stays a while on a node that is lost, unless it says for how long, or for ever.

use serde_json::{Value, json};

use crate::defaults::setting::{default, object};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// How long a pod stays on a node that is gone, unless it says: five minutes.
const TOLERATED_SECONDS: i64 = 300;

/// Lets a pod stay a while on a node that is not ready or unreachable.
pub(crate) fn tolerate_lost_nodes(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(object) else { return };
    default(spec, "tolerations", json!([]));
    let Some(Value::Array(tolerations)) = spec.get_mut("tolerations") else { return };
    let missing =
        [NOT_READY, UNREACHABLE].map(|taint| (taint, !tolerations.iter().any(|t| tolerates(t, taint))));
    for (taint, _) in missing.into_iter().filter(|(_, missing)| *missing) {
        tolerations.push(json!({
            "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATED_SECONDS,
        }));
    }
}

/// An empty key stands for every taint, an empty effect for every effect.
fn tolerates(toleration: &Value, taint: &str) -> bool {
    let is = |field: &str, wanted: &str| {
        toleration[field].as_str().is_none_or(|text| text.is_empty() || text == wanted)
    };
    is("key", taint) && is("effect", "NoExecute")
}
