//! Recordings of only a part of a response: a field, some names.
//!
//! The position of the part was not recorded, so it must be found somewhere in the response. Names of a list must be
//! complete.

use gantry_json::Value;

use super::mask::Marks;

/// Whether the recorded part is in the response.
pub(crate) fn is_in(marks: &mut Marks, part: &Value, whole: &Value) -> Result<(), String> {
    let missing = || Err(format!("the response does not contain {part}: {whole}"));
    let mut tried = marks.clone();
    if tried.fits(part, whole, "body").is_ok() || found(&mut tried, part, whole) {
        *marks = tried;
        return Ok(());
    }
    match part {
        Value::Array(parts) => {
            let names: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            if let (Some(wanted), Some(items)) = (names, whole["items"].as_array()) {
                let names: Vec<_> =
                    items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect();
                if wanted.iter().map(|name| super::mask::named(name)).eq(names.iter().copied()) {
                    return Ok(());
                }
                if wanted.iter().all(|wanted| names.contains(wanted)) {
                    return Err(format!("the list has {names:?}, recorded was {part}"));
                }
            }
            parts.iter().try_for_each(|part| is_in(marks, part, whole))
        }
        Value::Object(parts) => parts.values().try_for_each(|part| is_in(marks, part, whole)),
        // A fact about the response, such as the number of items.
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) if has_key(whole, text) => Ok(()),
        Value::String(text) if whole.as_str().is_some_and(|whole| whole.contains(text.as_str())) => Ok(()),
        Value::String(_) => missing(),
    }
}

fn found(marks: &mut Marks, part: &Value, whole: &Value) -> bool {
    let mut tried = marks.clone();
    if covers(&mut tried, part, whole) {
        *marks = tried;
        return true;
    }
    match whole {
        Value::Array(items) => items.iter().any(|item| found(marks, part, item)),
        // The metadata of a list has the same fields as the metadata of its items: the nearest match counts.
        Value::Object(fields) => {
            let metadata = fields.get("metadata").into_iter();
            metadata.chain(fields.values()).any(|field| found(marks, part, field))
        }
        _ => false,
    }
}

/// Whether a value equals the part, or is an object with all fields of the part.
fn covers(marks: &mut Marks, part: &Value, whole: &Value) -> bool {
    if let (Value::Object(wanted), Value::Object(fields)) = (part, whole) {
        let kept = fields.iter().filter(|(key, _)| wanted.contains_key(key));
        let kept: Value =
            kept.map(|(key, value)| (key.clone(), value.clone())).collect::<gantry_json::Map>().into();
        return !wanted.is_empty() && marks.fits(part, &kept, "").is_ok();
    }
    marks.fits(part, whole, "").is_ok()
}

fn has_key(whole: &Value, key: &str) -> bool {
    match whole {
        Value::Array(items) => items.iter().any(|item| has_key(item, key)),
        Value::Object(fields) => fields.contains_key(key) || fields.values().any(|field| has_key(field, key)),
        _ => false,
    }
}
