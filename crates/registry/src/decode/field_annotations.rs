//! Annotations that are fields inside Kubernetes: they hold numbers, and an object in which one does not is refused.

use serde_json::{Map, Value, json};

use crate::schema::{MessageId, schema};

const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Brings such annotations of an object of this message into normal form; the error is the text of Go's reader.
pub(super) fn normalize(id: MessageId, object: &mut Map<String, Value>) -> Result<(), String> {
    let name = match schema().message(id).name {
        "apps/v1.Deployment" => ROLLBACK_TO,
        "apps/v1.DaemonSet" => TEMPLATE_GENERATION,
        _ => return Ok(()),
    };
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
        ROLLBACK_TO => format!("failed to parse annotation[{ROLLBACK_TO}]={written} as int64: {why}"),
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
