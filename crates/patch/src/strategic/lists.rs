//! Lists in a strategic merge patch: which elements are merged, added and removed. [`order`] sorts them.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{SmolStr, Value};

use super::directives::{PATCH, malformed_deletion, malformed_order, taken, taken_object};
use super::order::{self, Places};
use super::{Known, Object, Shape, unknown_directive};
use crate::does_not_apply;
use gantry_primitives::Refusal;
use gantry_primitives::go_print::{as_go_prints, list_as_go_prints, type_as_go_prints};
use gantry_schema::schema::StrategicMerge;

/// How elements of a list are identified.
#[derive(Clone, Copy)]
pub(super) enum ElementIdentity {
    /// By the value of this member.
    Key(&'static str),
    /// By all of the value.
    Value,
}

/// The identity of an element of a list; different values have different ones.
pub(super) type Identity = SmolStr;

/// The identity of a value: its JSON, or a quotation mark and the text of a string, which most are.
fn identity_of(value: &Value) -> Identity {
    match value {
        Value::String(text) => ["\"", text].into_iter().collect(),
        other => other.to_string().into(),
    }
}

/// The elements of a patch for a list that merges by key.
struct Changes<'a> {
    merged: Vec<(Identity, &'a Object)>,
    deleted: BTreeSet<Identity>,
    replaces: bool,
}

/// Merges or replaces a list, depending on the strategy of the field.
pub(super) fn merge(elements: &mut Vec<Value>, patch: &[Value], known: Known) -> Result<(), Refusal> {
    let by = match known.strategy {
        StrategicMerge::ByKey { .. } | StrategicMerge::Primitives => ElementIdentity::under(known.strategy),
        // A replaced list has the order of the patch.
        _ => return combine(elements, patch, known).map(drop),
    };
    let places = Places::of(elements, by);
    match combine(elements, patch, known)? {
        Some(named) => order::arrange(elements, by, &named, &places),
        None => Ok(()),
    }
}

/// As [`merge`], in the order of `$setElementOrder`; without a list in the patch, only the order changes.
pub(super) fn merge_ordered(
    current: &mut Object,
    name: &str,
    patch: Option<&Value>,
    order: &Value,
    shape: Shape,
) -> Result<(), Refusal> {
    let order = order.as_array().ok_or_else(malformed_order)?;
    let known = shape.member(name)?;
    let by = ElementIdentity::under(known.strategy);
    if let Some(patch) = patch {
        let patch = patch.as_array().ok_or_else(malformed_order)?;
        order::check(patch, order, by)?;
        let absent = current.get(name).is_none_or(Value::is_null);
        if absent {
            current.insert(name.to_owned(), Value::Array(Vec::new()));
        }
    }
    let elements = match current.get_mut(name) {
        Some(Value::Array(elements)) => elements,
        None | Some(Value::Null) => return Ok(()),
        Some(other) => return Err(wrong_type("[]interface {}", other)),
    };
    let places = Places::of(elements, by);
    if let Some(patch) = patch.and_then(Value::as_array) {
        combine(elements, patch, known)?;
    }
    let named: Vec<_> = order.iter().filter_map(|element| by.identity(element)).collect();
    order::arrange(elements, by, &named, &places)
}

/// `$deleteFromPrimitiveList`: removes values from a list, whatever its strategy.
pub(super) fn delete_values(current: &mut Object, name: &str, values: &Value) -> Result<(), Refusal> {
    let values = values.as_array().ok_or_else(malformed_deletion)?;
    if let Some(Value::Array(elements)) = current.get_mut(name) {
        let deleted: BTreeSet<_> = values.iter().map(Value::to_string).collect();
        elements.retain(|element| !deleted.contains(&element.to_string()));
    }
    Ok(())
}

/// Merges without regard to order. Returns the elements that the patch names, or none if the list was replaced.
fn combine(
    elements: &mut Vec<Value>,
    patch: &[Value],
    known: Known,
) -> Result<Option<Vec<Identity>>, Refusal> {
    match known.strategy {
        StrategicMerge::ByKey { key, .. } => {
            check_types(elements, patch)?;
            merge_by_key(elements, patch, key, known.shape)
        }
        StrategicMerge::Primitives => {
            check_types(elements, patch)?;
            if patch.iter().any(Value::is_object) {
                return Err(Refusal::server_error("cannot merge lists without merge key for string"));
            }
            Ok(Some(add_values(elements, patch)))
        }
        StrategicMerge::Default | StrategicMerge::RetainKeys | StrategicMerge::Replace => {
            *elements = patch.iter().filter_map(taken).collect();
            Ok(None)
        }
    }
}

fn merge_by_key(
    elements: &mut Vec<Value>,
    patch: &[Value],
    key: &'static str,
    shape: Shape,
) -> Result<Option<Vec<Identity>>, Refusal> {
    let changes = Changes::read(patch, key)?;
    let taken = |object| Value::Object(taken_object(object).unwrap_or_default());
    if changes.replaces {
        *elements = changes.merged.iter().map(|(_, object)| taken(object)).collect();
        return Ok(None);
    }
    let by = ElementIdentity::Key(key);
    elements
        .retain(|element| by.identity(element).is_none_or(|identity| !changes.deleted.contains(&identity)));
    let mut places = BTreeMap::new();
    for (place, element) in elements.iter().enumerate() {
        if let Some(identity) = by.identity(element) {
            places.entry(identity).or_insert(place);
        }
    }
    let mut named = Vec::with_capacity(changes.merged.len());
    for (identity, object) in changes.merged {
        let there = places.get(&identity).and_then(|place| elements.get_mut(*place));
        if let Some(Value::Object(members)) = there {
            super::merge(members, object, shape)?;
        } else {
            places.insert(identity.clone(), elements.len());
            elements.push(taken(object));
        }
        named.push(identity);
    }
    Ok(Some(named))
}

/// Adds missing values, and drops duplicates.
fn add_values(elements: &mut Vec<Value>, patch: &[Value]) -> Vec<Identity> {
    let named: Vec<_> = patch.iter().map(identity_of).collect();
    elements.extend(patch.iter().cloned());
    let mut seen = BTreeSet::new();
    elements.retain(|element| seen.insert(identity_of(element)));
    named
}

/// Checks that a list that merges has elements of one type, and no lists.
fn check_types(elements: &[Value], patch: &[Value]) -> Result<(), Refusal> {
    let mut types = elements.iter().chain(patch).map(type_as_go_prints);
    let Some(first) = types.next() else { return Ok(()) };
    if first == "[]interface {}" {
        return Err(does_not_apply());
    }
    if types.all(|other| other == first) {
        return Ok(());
    }
    let lists = format!("[{} {}]", list_as_go_prints(elements), list_as_go_prints(patch));
    Err(Refusal::server_error(format!("list element types are not identical: {lists}")))
}

/// The error about a value of the wrong type.
fn wrong_type(wanted: &str, found: &Value) -> Refusal {
    Refusal::server_error(format!("expected a {wanted}, but received a {}", type_as_go_prints(found)))
}

/// The error about an element without its merge key.
fn no_merge_key(element: &Value, key: &str) -> Refusal {
    match element {
        Value::Object(_) => {
            let element = as_go_prints(element);
            Refusal::server_error(format!("map: {element} does not contain declared merge key: {key}"))
        }
        other => wrong_type("map[string]interface {}", other),
    }
}

impl<'a> Changes<'a> {
    fn read(patch: &'a [Value], key: &'static str) -> Result<Self, Refusal> {
        let mut changes = Self { merged: Vec::new(), deleted: BTreeSet::new(), replaces: false };
        for element in patch {
            let identity = || ElementIdentity::Key(key).identified(element);
            let Value::Object(members) = element else { return Err(no_merge_key(element, key)) };
            let Some(directive) = members.get(PATCH) else {
                changes.merged.push((identity()?, members));
                continue;
            };
            match directive.as_str() {
                Some("delete") => {
                    changes.deleted.insert(identity()?);
                }
                Some("replace") => changes.replaces = true,
                Some("merge") => {
                    return Err(Refusal::server_error("merging lists cannot yet be specified in the patch"));
                }
                _ => return Err(unknown_directive(directive, members)),
            }
        }
        Ok(changes)
    }
}

impl ElementIdentity {
    /// How elements are identified in a field of this strategy.
    pub(super) fn under(strategy: StrategicMerge) -> Self {
        match strategy {
            StrategicMerge::ByKey { key, .. } => Self::Key(key),
            _ => Self::Value,
        }
    }

    /// The identity of an element; `None` without the merge key.
    pub(super) fn identity(self, element: &Value) -> Option<Identity> {
        match self {
            Self::Key(key) => element.get(key).map(identity_of),
            Self::Value => Some(identity_of(element)),
        }
    }

    /// As [`Self::identity`], with an error if the merge key is missing.
    pub(super) fn identified(self, element: &Value) -> Result<Identity, Refusal> {
        match self {
            Self::Key(key) => self.identity(element).ok_or_else(|| no_merge_key(element, key)),
            Self::Value => Ok(identity_of(element)),
        }
    }
}
