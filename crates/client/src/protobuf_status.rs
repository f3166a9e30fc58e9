//! `Status` objects in protobuf, decoded to the same values as their JSON.

use gantry_formats::protobuf::{FieldValue, MalformedMessage, fields};
use gantry_json::{Map, Value};

/// The names of the members of a message by their numbers; the types follow from the values.
type Members = &'static [(u32, &'static str)];

const STATUS: Members = &[(2, "status"), (3, "message"), (4, "reason"), (6, "code")];
const DETAILS: Members = &[(1, "name"), (2, "group"), (3, "kind"), (6, "uid"), (5, "retryAfterSeconds")];
const CAUSE: Members = &[(1, "reason"), (2, "message"), (3, "field")];
/// The number of the details in a status, and of the causes in the details.
const DETAILS_NUMBER: u32 = 5;
const CAUSES_NUMBER: u32 = 4;

/// Decodes a `Status`.
pub(crate) fn decode(message: &[u8]) -> Result<Value, MalformedMessage> {
    let mut status = members(message, STATUS)?;
    status.insert("kind", Value::from("Status"));
    for field in fields(message) {
        let field = field?;
        if field.number == DETAILS_NUMBER {
            status.insert("details", Value::Object(details(field.value.bytes())?));
        }
    }
    Ok(Value::Object(status))
}

fn details(message: &[u8]) -> Result<Map, MalformedMessage> {
    let mut details = members(message, DETAILS)?;
    let mut causes = Vec::new();
    for field in fields(message) {
        let field = field?;
        if field.number == CAUSES_NUMBER {
            causes.push(Value::Object(members(field.value.bytes(), CAUSE)?));
        }
    }
    if !causes.is_empty() {
        details.insert("causes", Value::Array(causes));
    }
    Ok(details)
}

/// The members of a message that are neither empty nor zero.
fn members(message: &[u8], names: Members) -> Result<Map, MalformedMessage> {
    let mut members = Map::new();
    for field in fields(message) {
        let field = field?;
        let Some((_, name)) = names.iter().find(|(number, _)| *number == field.number) else { continue };
        match field.value {
            FieldValue::Bytes([]) | FieldValue::Varint(0) => {}
            FieldValue::Bytes(_) => {
                members.insert(*name, Value::from(field.value.text()));
            }
            _ => {
                members.insert(*name, Value::from(field.value.int32()));
            }
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use gantry_formats::protobuf::MessageWriter;
    use gantry_json::json;

    use super::*;

    #[test]
    fn a_protobuf_status_equals_its_json() {
        let mut status = MessageWriter::default();
        status.message(1, |list| list.text(2, ""));
        status.text(2, "Failure");
        status.text(3, "no");
        status.text(4, "Forbidden");
        status.message(5, |details| {
            details.text(1, "web");
            details.text(2, "apps");
            details.text(3, "");
            details.message(4, |cause| {
                cause.text(1, "NamespaceTerminating");
                cause.text(2, "it is");
                cause.text(3, "metadata.namespace");
            });
            details.int32(5, 3);
        });
        status.int32(6, 403);
        let cause =
            json!({"reason": "NamespaceTerminating", "message": "it is", "field": "metadata.namespace"});
        let want = json!({
            "kind": "Status", "status": "Failure", "message": "no", "reason": "Forbidden", "code": 403,
            "details": {"name": "web", "group": "apps", "retryAfterSeconds": 3, "causes": [cause]},
        });
        assert_eq!(decode(&status.into_bytes()), Ok(want));
    }
}
