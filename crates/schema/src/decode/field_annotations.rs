//! Annotations that are fields inside Kubernetes: they must be numbers.

use gantry_json::{Map, Value, json};

use crate::schema::{MessageId, schema};

/// The prefix of the error about the rollback annotation.
pub const UNREADABLE: &str = "failed to parse annotation[";

const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Brings such annotations of an object of this message into canonical form; the error is Go's.
pub(super) fn normalize(id: MessageId, object: &mut Map) -> Result<(), String> {
    let name = match schema().message(id).name {
        "apps/v1.Deployment" => ROLLBACK_TO,
        "apps/v1.DaemonSet" => TEMPLATE_GENERATION,
        _ => return Ok(()),
    };
    let is_there = |metadata: &Value| metadata["annotations"].get(name).is_some();
    if !object.get("metadata").is_some_and(is_there) {
        // An object that is shared with clones is not copied without need.
        return Ok(());
    }
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return Ok(()) };
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { return Ok(()) };
    let Some(written) = annotations.get(name).and_then(Value::as_str) else { return Ok(()) };
    if written.is_empty() && name == ROLLBACK_TO {
        annotations.remove(name);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
        return Ok(());
    }
    let number = number(written).map_err(|why| match name {
        ROLLBACK_TO => format!("{UNREADABLE}{ROLLBACK_TO}]={written} as int64: {why}"),
        _ => why,
    })?;
    annotations.insert(name.to_owned(), json!(number.to_string()));
    Ok(())
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        format!("strconv.ParseInt: parsing {text:?}: {why}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str, annotation: &str, value: &str) -> Result<Value, String> {
        let id = schema().find(message).ok_or("no such message")?;
        let mut object = json!({"metadata": {"annotations": {annotation: value}}});
        normalize(id, object.as_object_mut().ok_or("no object")?)?;
        Ok(object["metadata"]["annotations"][annotation].clone())
    }

    #[test]
    fn the_rollback_revision_is_a_number() {
        let read = |value: &str| read("apps/v1.Deployment", ROLLBACK_TO, value);
        assert_eq!(read("+3"), Ok(json!("3")));
        assert_eq!(read(""), Ok(Value::Null));
        let why = |value: &str, why: &str| {
            Err(format!(
                "failed to parse annotation[{ROLLBACK_TO}]={value} as int64: strconv.ParseInt: parsing \"{value}\": {why}"
            ))
        };
        assert_eq!(read("x"), why("x", "invalid syntax"));
        assert_eq!(read("9223372036854775808"), why("9223372036854775808", "value out of range"));
    }

    #[test]
    fn a_generation_of_templates_is_a_number() {
        let read = |value: &str| read("apps/v1.DaemonSet", TEMPLATE_GENERATION, value);
        assert_eq!(read("2"), Ok(json!("2")));
        assert_eq!(read("x"), Err("strconv.ParseInt: parsing \"x\": invalid syntax".to_owned()));
    }
}
