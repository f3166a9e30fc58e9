//! Masks the values of Secrets in diffs: only whether they differ is shown. Pure.

use gantry_json::Value;

const SAME: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

/// Both forms of a Secret with their values hidden.
pub(super) fn masked(live: &Value, merged: &Value) -> (Value, Value) {
    (hidden(live, merged, BEFORE), hidden(merged, live, AFTER))
}

fn hidden(own: &Value, other: &Value, changed: &str) -> Value {
    let mut own = own.clone();
    let Some(data) = own.get_mut("data").and_then(Value::as_object_mut) else { return own };
    for (key, value) in data {
        let is_changed = other["data"].get(key).is_some_and(|other| other != value);
        *value = Value::from(if is_changed { changed } else { SAME });
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn only_values_that_differ_are_distinguished() {
        let live = json!({"kind": "Secret", "data": {"a": "MQ==", "b": "Mg==", "z": "eg=="}});
        let merged = json!({"kind": "Secret", "data": {"a": "Mg==", "c": "Mg==", "z": "eg=="}});
        assert_eq!(
            masked(&live, &merged),
            (
                json!({"kind": "Secret", "data": {"a": "*** (before)", "b": "***", "z": "***"}}),
                json!({"kind": "Secret", "data": {"a": "*** (after)", "c": "***", "z": "***"}})
            )
        );
        assert_eq!(masked(&Value::Null, &merged).0, Value::Null, "a missing object is not masked");
    }
}
