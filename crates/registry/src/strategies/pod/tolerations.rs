//! Default tolerations of the taints of lost nodes.

use gantry_json::{Value, json};

use crate::defaults::setting::{default, object};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// The default toleration: five minutes.
const TOLERATED_SECONDS: i64 = 300;

/// Adds tolerations of nodes that are not ready or unreachable, unless the pod has some.
pub(crate) fn add_default_tolerations(pod: &mut Value) {
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

/// Whether a toleration matches a taint. An empty key matches all taints, an empty effect all effects.
fn tolerates(toleration: &Value, taint: &str) -> bool {
    let is = |field: &str, wanted: &str| {
        toleration[field].as_str().is_none_or(|text| text.is_empty() || text == wanted)
    };
    is("key", taint) && is("effect", "NoExecute")
}
