//! Conditions without a transition time.
//!
//! The API allows `lastTransitionTime: null`, which is Go's zero time, and servers store it. The type of conditions
//! that is decoded requires a time: without this, a Service or budget with such a condition could not be read at all.

use gantry_json::{Value, json};

/// Go's zero time.
const ZERO: &str = "0001-01-01T00:00:00Z";

/// Returns the JSON of an object or a list with the zero time in conditions that have none; `None` if there are no such
/// conditions. It is called only after a failure to decode, so that other objects cost nothing.
pub(crate) fn fill_in(json: &[u8]) -> Option<Vec<u8>> {
    let mut value: Value = gantry_json::from_slice(json).ok()?;
    let mut is_changed = fill_in_object(&mut value);
    for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        is_changed |= fill_in_object(item);
    }
    if is_changed { gantry_json::to_vec(&value).ok() } else { None }
}

fn fill_in_object(object: &mut Value) -> bool {
    let conditions = object.get_mut("status").and_then(|status| status.get_mut("conditions"));
    let mut is_changed = false;
    for condition in conditions.and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(condition) = condition.as_object_mut() else { continue };
        if condition.get("lastTransitionTime").is_none_or(Value::is_null) {
            condition.insert("lastTransitionTime", json!(ZERO));
            is_changed = true;
        }
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Service;

    use crate::wire::{Decode as _, Wire as _};

    const SERVICE: &str = r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"status":{"conditions":[
        {"type":"Ready","status":"True","reason":"Up","message":"","lastTransitionTime":null},
        {"type":"Old","status":"True","reason":"Up","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}"#;

    #[test]
    fn a_service_is_read_although_a_condition_has_no_transition_time() {
        let conditions = |service: &Service| {
            let conditions = service.status.clone().unwrap().conditions.unwrap();
            conditions
                .into_iter()
                .map(|it| (it.type_, it.last_transition_time.0.to_string()))
                .collect::<Vec<_>>()
        };
        let expected = [
            ("Ready".to_owned(), "0001-01-01T00:00:00Z".to_owned()),
            ("Old".to_owned(), "2026-01-01T00:00:00Z".to_owned()),
        ];
        assert_eq!(conditions(&Service::decode(SERVICE.as_bytes()).unwrap()), expected);
        let list = format!(r#"{{"metadata":{{}},"items":[{SERVICE}]}}"#);
        assert_eq!(conditions(&Service::decode_list(list.as_bytes()).unwrap().items[0]), expected);
    }

    #[test]
    fn other_decoding_errors_are_returned() {
        assert!(Service::decode(br#"{"spec":{"ports":3}}"#).is_err());
    }
}
