//! Fields of a pod's status that a write may leave out.

use gantry_json::Value;

/// Restores the fields that a kubelet left out of a status.
pub(crate) fn keep(stored: &Value, object: &mut Value) {
    let (before, after) = (&stored["status"], &mut object["status"]);
    if after.is_null() {
        return;
    }
    keep_text(before, after, "qosClass");
    keep_number(before, after, "observedGeneration");
    let earlier = before["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    // Not by index, which would insert a missing field.
    let conditions = after.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        if let Some(before) = earlier.iter().find(|before| before["type"] == condition["type"]) {
            keep_number(before, condition, "observedGeneration");
        }
    }
}

fn keep_text(before: &Value, after: &mut Value, field: &str) {
    let is_unset = after[field].as_str().unwrap_or_default().is_empty();
    if is_unset && before[field].is_string() {
        after[field] = before[field].clone();
    }
}

fn keep_number(before: &Value, after: &mut Value, field: &str) {
    let is_unset = after[field].as_i64().unwrap_or(0) == 0;
    if is_unset && before[field].is_i64() {
        after[field] = before[field].clone();
    }
}
