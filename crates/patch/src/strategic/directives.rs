//! What a strategic merge patch says besides values: members whose names begin with a dollar sign.

use serde_json::{Map, Value};

use super::Object;
use gantry_primitives::Refusal;

/// In an object or an element of a list: what is done instead of merging.
pub(super) const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

/// What a member of a patch is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member<'a> {
    /// A field of the object, or a key of the map.
    Field(&'a str),
    /// The only keys the object may keep.
    RetainKeys,
    /// In which order this list is to be.
    SetElementOrder(&'a str),
    /// Which values this list is to lose.
    DeleteFromPrimitiveList(&'a str),
}

/// Takes away what the patch does not retain. A patch that sets what it does not retain contradicts itself.
pub(super) fn retain_keys(current: &mut Object, patch: &Object) -> Result<(), Refusal> {
    let Some(retained) = patch.get(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || Refusal::bad_request("invalid patch format of retainKeys");
    let retained = retained.as_array().ok_or_else(malformed)?;
    let retains = |key: &str| retained.iter().any(|name| name == key);
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

/// What is left of the patch's value where there is nothing to merge it with.
///
/// Directives have nothing to direct and `null` nothing to take away, so both go. `None` if the value itself is only
/// there to be deleted.
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
    /// Reads a member's name. A directive about a list that does not say which is malformed.
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

/// `$setElementOrder` that is no list, or about none.
pub(super) fn malformed_order() -> Refusal {
    Refusal::bad_request("invalid patch format of setElementOrder list")
}

/// `$deleteFromPrimitiveList` that is no list, or about none.
pub(super) fn malformed_deletion() -> Refusal {
    Refusal::bad_request("invalid patch format of primitive list")
}
