//! The directives of a strategic merge patch: members whose names begin with a dollar sign.

use std::collections::BTreeSet;

use gantry_json::{Map, Value};

use super::Object;
use gantry_primitives::Refusal;

/// In an object or an element of a list: replace or delete instead of merging.
pub(super) const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

/// The meaning of a member of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member<'a> {
    /// A field of the object, or a key of the map.
    Field(&'a str),
    /// `$retainKeys`.
    RetainKeys,
    /// The order of this list.
    SetElementOrder(&'a str),
    /// The values to remove from this list.
    DeleteFromPrimitiveList(&'a str),
}

/// Removes the keys that the patch does not retain. Setting a key that is not retained is an error.
pub(super) fn retain_keys(current: &mut Object, patch: &Object) -> Result<(), Refusal> {
    let Some(retained) = patch.get(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || Refusal::bad_request("invalid patch format of retainKeys");
    let retained = retained.as_array().ok_or_else(malformed)?;
    let retained: BTreeSet<_> = retained.iter().filter_map(Value::as_str).collect();
    let retains = |key: &str| retained.contains(key);
    for (key, value) in patch {
        if let Member::Field(name) = Member::named(key)?
            && !value.is_null()
            && !retains(name)
        {
            return Err(malformed());
        }
    }
    current.retain(|key, _| retains(key));
    Ok(())
}

/// The value of the patch, if there is no value to merge it with.
///
/// In this case directives and `null` have no effect and are dropped. `None` if the value itself is a deletion.
pub(super) fn taken(value: &Value) -> Option<Value> {
    match value {
        Value::Object(members) => taken_object(members).map(Value::Object),
        Value::Array(elements) => Some(elements.iter().filter_map(taken).collect()),
        scalar => Some(scalar.clone()),
    }
}

/// As [`taken`], for an object.
pub(super) fn taken_object(members: &Object) -> Option<Object> {
    let directive = members.get(PATCH);
    if directive.is_some_and(|directive| directive == "delete" || members.len() == 1) {
        return None;
    }
    let mut left = Map::new();
    for (key, value) in members {
        if key == PATCH || value.is_null() || !matches!(Member::named(key), Ok(Member::Field(_))) {
            continue;
        }
        if let Some(value) = taken(value) {
            left.insert(key.clone(), value);
        }
    }
    Some(left)
}

impl<'a> Member<'a> {
    /// Parses the name of a member. A list directive without the name of its list is malformed.
    pub(super) fn named(key: &'a str) -> Result<Self, Refusal> {
        let about_list = |directive: &str| key.strip_prefix(directive).map(|rest| rest.strip_prefix('/'));
        if let Some(list) = about_list(SET_ELEMENT_ORDER) {
            return list.map(Self::SetElementOrder).ok_or_else(malformed_order);
        }
        if let Some(list) = about_list(DELETE_FROM_PRIMITIVE_LIST) {
            return list.map(Self::DeleteFromPrimitiveList).ok_or_else(malformed_deletion);
        }
        Ok(if key == RETAIN_KEYS { Self::RetainKeys } else { Self::Field(key) })
    }
}

/// The error about a `$setElementOrder` that is not a list or has no list.
pub(super) fn malformed_order() -> Refusal {
    Refusal::bad_request("invalid patch format of setElementOrder list")
}

/// The error about a `$deleteFromPrimitiveList` that is not a list or has no list.
pub(super) fn malformed_deletion() -> Refusal {
    Refusal::bad_request("invalid patch format of primitive list")
}
