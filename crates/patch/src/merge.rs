//! Merge patch (RFC 7386): objects merge, `null` removes, anything else replaces.

use gantry_json::{Map, Value};

use super::{not_json, unreadable};
use gantry_primitives::Refusal;

/// Merges a patch into an object. The patch must be an object, unlike in the RFC.
pub(super) fn apply(current: &Value, body: &Value) -> Result<Value, Refusal> {
    match body {
        Value::Object(patch) => {
            let mut merged = current.clone();
            merge(&mut merged, patch);
            Ok(merged)
        }
        Value::Null => Err(not_json()),
        other => {
            let why = unreadable(other, "value of type map[string]interface {}");
            Err(Refusal::bad_request(format!("error decoding patch: {why}")))
        }
    }
}

fn merge(target: &mut Value, patch: &Map) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else { return };
    for (name, value) in patch {
        match value {
            Value::Null => {
                members.remove(name);
            }
            Value::Object(inner) => merge(members.entry(name.clone()).or_insert(Value::Null), inner),
            other => {
                members.insert(name.clone(), other.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// A3.6: the examples of RFC 7386, appendix A, that have objects on both sides.
    #[test]
    fn objects_merge_null_removes_and_lists_replace() {
        for (current, patch, merged) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            assert_eq!(apply(&current, &patch), Ok(merged), "{current} with {patch}");
        }
    }

    /// A3.11: a patch that is not an object is a bad request.
    #[test]
    fn a_patch_that_is_not_an_object_is_a_bad_request() {
        let texts =
            [json!([]), json!("x"), json!(1), json!(null)].map(|body| apply(&json!({}), &body).unwrap_err());
        let texts = texts.map(|refusal| (refusal.reason.code(), refusal.message));
        let wanted = |found: &str| {
            let target = "into Go value of type map[string]interface {}";
            (400, format!("error decoding patch: json: cannot unmarshal {found} {target}"))
        };
        let null = (400, "invalid JSON patch".to_owned());
        assert_eq!(texts, [wanted("array"), wanted("string"), wanted("number"), null]);
    }
}
