//! Type mismatches after a strategic merge patch.
//!
//! Other patches result in JSON that is decoded, with the decoder's errors. The result of a strategic merge patch is
//! converted by reflection in Kubernetes, which has other errors, without the path.

use gantry_json::{SmolStr, Value};

use super::{base64, go_types, json_word};
use crate::kinds::Nature;
use crate::schema::{MessageId, Type, schema};

/// Converts the result of a strategic merge patch to its types; the error is about the first value that does not fit.
///
/// Kind and version are those of the current object: the patch is applied to an object of that kind, whatever it names.
pub fn typed(mut patched: Value, current: &Value, nature: &Nature) -> Result<Value, String> {
    if let Some(why) = type_mismatch(&patched, nature) {
        return Err(why);
    }
    for field in ["kind", "apiVersion"].into_iter().filter(|field| !current[*field].is_null()) {
        patched[field] = current[field].clone();
    }
    Ok(wrap_int32(patched, nature))
}

/// The error about the first value that does not have the type of its field, in the order of the fields.
pub fn type_mismatch(patched: &Value, nature: &Nature) -> Option<String> {
    nature.message().and_then(|message| of_message(patched, message))
}

fn of_message(value: &Value, id: MessageId) -> Option<String> {
    match value {
        Value::Null => None,
        // The members are checked in any order; only the first error depends on the order of the fields.
        Value::Object(members) if members.iter().all(|(name, value)| fits(value, id, name)) => None,
        Value::Object(members) => schema()
            .each_field(id)
            .find_map(|field| of_type(members.get(field.json)?, &field.kind, (id, field.json))),
        other => Some(format!("cannot restore struct from: {}", go_kind(other))),
    }
}

/// Whether a member has the type of its field, or has none.
fn fits(value: &Value, id: MessageId, name: &str) -> bool {
    schema().field(id, name).is_none_or(|field| of_type(value, &field.kind, (id, field.json)).is_none())
}

/// The error about a value in this field of this message.
fn of_type(value: &Value, kind: &Type, place: (MessageId, &str)) -> Option<String> {
    let scalar = |fits: bool, name: &str| (!fits).then(|| format!("unrecognized type: {name}"));
    match (kind, value) {
        // `null` has every type, and some types have decoders with errors of their own.
        (Type::Bytes, Value::String(text)) => base64::decode(text)
            .err()
            .map(|at| format!("error decoding from json: illegal base64 data at input byte {at}")),
        (_, Value::Null)
        | (Type::Quantity | Type::Raw | Type::Or(..), _)
        | (Type::Time | Type::MicroTime | Type::Duration | Type::IntOrString, Value::String(_)) => None,
        (Type::Time | Type::MicroTime | Type::Duration, other) => Some(unread(json_word(other), "string")),
        (Type::IntOrString, Value::Number(number)) => {
            let fits = number.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
            (!fits).then(|| unread(&format!("number {number}"), "int32"))
        }
        (Type::IntOrString, other) => Some(unread(json_word(other), "int32")),
        (Type::Message(id) | Type::Inline(id), _) => of_message(value, *id),
        (Type::List(element), Value::Array(list)) => {
            list.iter().find_map(|value| of_type(value, element, place))
        }
        (Type::List(_) | Type::Bytes, other) => Some(format!("cannot restore slice from {}", go_kind(other))),
        (Type::Map(inner), Value::Object(map)) => map.values().find_map(|value| of_type(value, inner, place)),
        (Type::Map(_), other) => Some(format!("cannot restore map from {}", go_kind(other))),
        (Type::String, Value::Number(number)) if !number.is_f64() => {
            let (message, field) = place;
            let name = go_types::name(schema().message(message).name, field, kind);
            Some(format!("cannot convert int64 to {name}"))
        }
        (Type::String, _) => scalar(value.is_string(), "string"),
        (Type::Bool, _) => scalar(value.is_boolean(), "bool"),
        (Type::Int32, _) => whole(value, "int32"),
        (Type::Int64, _) => whole(value, "int64"),
        (Type::Float64, _) => scalar(value.is_number(), "float64"),
    }
}

/// The error of a type with a decoder of its own.
fn unread(noun: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal {noun} into Go value of type {wanted}")
}

/// The object with integers truncated to the 32 bits of their fields.
pub fn wrap_int32(object: Value, nature: &Nature) -> Value {
    match nature.message() {
        // Most objects have none, and stay shared with the stored object.
        Some(message) if has_wide_int32(&object, message) => wrapped_message(object, message),
        _ => object,
    }
}

fn has_wide_int32(value: &Value, id: MessageId) -> bool {
    let is_wide = |(name, value): (&SmolStr, &Value)| {
        matches!(value, Value::Number(_) | Value::Array(_) | Value::Object(_))
            && schema().field(id, name).is_some_and(|field| is_wide_int32(value, &field.kind))
    };
    value.as_object().is_some_and(|members| members.iter().any(is_wide))
}

fn is_wide_int32(value: &Value, kind: &Type) -> bool {
    match (kind, value) {
        (Type::Message(id) | Type::Inline(id), value) => has_wide_int32(value, *id),
        (Type::List(element), Value::Array(list)) => list.iter().any(|value| is_wide_int32(value, element)),
        (Type::Int32, Value::Number(number)) => {
            number.as_i64().is_some_and(|number| i32::try_from(number).is_err())
        }
        _ => false,
    }
}

fn wrapped_message(mut value: Value, id: MessageId) -> Value {
    if let Value::Object(members) = &mut value {
        for (name, member) in members.iter_mut() {
            if let Some(field) = schema().field(id, name) {
                *member = wrapped_type(member.take(), &field.kind);
            }
        }
    }
    value
}

fn wrapped_type(value: Value, kind: &Type) -> Value {
    match (kind, value) {
        (Type::Message(id) | Type::Inline(id), value) => wrapped_message(value, *id),
        (Type::List(element), Value::Array(list)) => {
            list.into_iter().map(|value| wrapped_type(value, element)).collect()
        }
        (Type::Int32, Value::Number(number)) => match number.as_i64() {
            Some(number) if i32::try_from(number).is_err() => Value::from(lower_half(number)),
            _ => Value::Number(number),
        },
        (_, value) => value,
    }
}

fn lower_half(number: i64) -> i32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn whole(value: &Value, name: &str) -> Option<String> {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => None,
        Value::Number(_) => Some(format!("cannot convert float64 to {name}")),
        _ => Some(format!("unrecognized type: {name}")),
    }
}

fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// A3.4: each mismatch has its message.
    #[test]
    fn mismatches_are_reported_without_a_path() {
        let deployment = schema().find("apps/v1.Deployment").unwrap();
        let spec = |spec: Value| type_mismatch(&json!({"spec": spec}), &deployment.into());
        let message = |text: &str| Some(text.to_owned());
        assert_eq!(
            spec(json!({"template": {"spec": {"containers": "x"}}})),
            message("cannot restore slice from string")
        );
        assert_eq!(spec(json!({"replicas": "x"})), message("unrecognized type: int32"));
        assert_eq!(
            spec(json!({"strategy": {"type": 1}})),
            message("cannot convert int64 to v1.DeploymentStrategyType")
        );
        let rolling = |limit: Value| spec(json!({"strategy": {"rollingUpdate": {"maxSurge": limit}}}));
        assert_eq!(rolling(json!("1%")).or(rolling(json!(1))), None);
        assert_eq!(rolling(json!([])), message("json: cannot unmarshal array into Go value of type int32"));
        assert_eq!(
            type_mismatch(&json!({"metadata": {"deletionTimestamp": []}}), &deployment.into()),
            message("json: cannot unmarshal array into Go value of type string")
        );
        assert_eq!(spec(json!({"replicas": 1.5})), message("cannot convert float64 to int32"));
        assert_eq!(
            spec(json!({"selector": {"matchLabels": ["x"]}})),
            message("cannot restore map from slice")
        );
        assert_eq!(
            spec(json!({"selector": {"matchLabels": {"x": 1}}})),
            message("cannot convert int64 to string")
        );
        assert_eq!(spec(json!({"selector": true})), message("cannot restore struct from: bool"));
        assert_eq!(spec(json!({"replicas": 2, "paused": null, "strategy": {"type": "Recreate"}})), None);
    }
}
