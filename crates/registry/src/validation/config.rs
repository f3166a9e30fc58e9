//! Rules that ConfigMaps and Secrets share.

use gantry_json::Value;

use super::error_list::{ErrorList, Path};

pub(crate) const MAX_BYTES: usize = 1_048_576;
const FROZEN: &str = "field is immutable when `immutable` is set";

/// Validates a change to a ConfigMap or Secret that may be marked as immutable.
pub(crate) fn immutable(errors: &mut ErrorList, old: &Value, new: &Value) {
    if old["immutable"].as_bool() != Some(true) {
        return;
    }
    if new["immutable"].as_bool() != Some(true) {
        errors.forbidden(&Path::new("immutable"), FROZEN);
    }
    for field in ["data", "binaryData"] {
        let no_members = |value: &Value| value.as_object().is_none_or(gantry_json::Map::is_empty);
        let is_same = old[field] == new[field] || no_members(&old[field]) && no_members(&new[field]);
        if !is_same {
            errors.forbidden(&Path::new(field), FROZEN);
        }
    }
}

/// Returns the number of bytes that a base64 string encodes.
pub(crate) fn decoded(value: &Value) -> usize {
    let text = value.as_str().unwrap_or("").trim_end_matches('=');
    text.len() / 4 * 3 + (text.len() % 4).saturating_sub(1)
}
