//! The nesting limit of objects: stored objects are read by a parser with a limit of 127 levels.
//!
//! Kubernetes allows ten thousand levels; objects of real kinds have far fewer than this limit.

use gantry_json::{Map, SmolStr, Value};

/// The maximum number of levels of an object.
pub(super) const DEEPEST: usize = 120;
/// The additional levels of managed fields, which repeat the structure of the fields they describe.
const RECORD: usize = 5;
/// The error about an object that is nested too deeply.
pub const TOO_DEEP: &str = "exceeded max depth";

/// Returns an error for an object that could be stored, but not parsed again.
pub(super) fn check(object: &Map) -> Result<(), String> {
    let fits = |(name, member): (&SmolStr, &Value)| {
        let levels = if name == "metadata" { DEEPEST + RECORD } else { DEEPEST };
        is_within(member, levels - 1)
    };
    if object.iter().all(fits) { Ok(()) } else { Err(TOO_DEEP.to_owned()) }
}

/// Whether a value has no more than this many levels, without visiting deeper ones.
fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => false,
        Value::Array(elements) => elements.iter().all(|element| is_within(element, levels - 1)),
        Value::Object(members) => members.values().all(|member| is_within(member, levels - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (1..levels).fold(json!({}), |inner, _| json!({"a": inner}))
    }

    /// A0.11: the deepest accepted object can be read back, and so can its managed fields.
    #[test]
    fn the_deepest_accepted_object_can_be_read_back() {
        let check = |object: &Value| check(object.as_object().unwrap());
        assert_eq!(check(&nested(DEEPEST)), Ok(()));
        assert_eq!(check(&nested(DEEPEST + 1)), Err(TOO_DEEP.to_owned()));
        let owned = |levels| json!({"metadata": nested(levels - 1)});
        let deepest = owned(DEEPEST + RECORD);
        assert_eq!(check(&deepest), Ok(()));
        assert_eq!(check(&owned(DEEPEST + RECORD + 1)), Err(TOO_DEEP.to_owned()));
        assert_eq!(gantry_json::from_str::<Value>(&deepest.to_string()).unwrap(), deepest);
    }
}
