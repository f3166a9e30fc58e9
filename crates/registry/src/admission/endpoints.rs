//! EndpointSlices: fields of older versions that clients of this one may not write.

use serde_json::{Value, json};

use crate::validation::same;

/// Drops the topology of endpoints, which only older versions could write, unless the endpoints stay as they are.
pub(crate) fn drop_topology(slice: &mut Value, stored: Option<&Value>) {
    let endpoints = |slice: &Value| json!({"endpoints": slice["endpoints"]});
    let is_kept = |stored: &Value| same("discovery/v1.EndpointSlice", &endpoints(stored), &endpoints(slice));
    if stored.is_some_and(is_kept) {
        return;
    }
    let all = slice.get_mut("endpoints").and_then(Value::as_array_mut).into_iter().flatten();
    for endpoint in all.filter_map(Value::as_object_mut) {
        endpoint.remove("deprecatedTopology");
    }
}
