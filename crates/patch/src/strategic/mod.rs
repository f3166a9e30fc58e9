//! Strategic merge patch: objects merge, and so do lists with a merge key in the schema.
//!
//! The patch is merged along the object. Where the object has no value, or one of another type, the value of the patch
//! is [taken](directives::taken) without its directives.

mod directives;
mod lists;
mod order;

use std::collections::BTreeSet;

use gantry_json::{Map, Value};

use self::directives::{Member, retain_keys, taken, taken_object};
use super::unreadable;
use gantry_primitives::Refusal;
use gantry_primitives::go_print::as_go_prints;
use gantry_schema::schema::{MessageId, StrategicMerge, Type, schema};

/// The members of a JSON object.
type Object = Map;

/// The schema of an object's members.
#[derive(Clone, Copy)]
enum Shape {
    /// Fields of a message.
    Message(MessageId),
    /// Entries of a map with values of one type.
    Map(&'static Type),
    /// Unknown.
    Unknown,
}

/// The schema of one member.
#[derive(Clone, Copy)]
struct Known {
    shape: Shape,
    strategy: StrategicMerge,
}

/// Merges a patch into an object.
pub(super) fn apply(current: &Value, message: MessageId, body: &Value) -> Result<Value, Refusal> {
    let mut merged = current.clone();
    match (&mut merged, body) {
        (_, Value::Null) => {}
        (Value::Object(members), Value::Object(patch)) => merge(members, patch, Shape::Message(message))?,
        (_, Value::Object(_)) => return Err(Refusal::bad_request("invalid JSON document")),
        (_, other) => {
            return Err(Refusal::bad_request(unreadable(other, "value of type map[string]interface {}")));
        }
    }
    Ok(merged)
}

/// Merges an object of the patch into an existing one.
fn merge(current: &mut Object, patch: &Object, shape: Shape) -> Result<(), Refusal> {
    if let Some(directive) = patch.get(directives::PATCH) {
        return instead_of_merging(current, patch, directive);
    }
    retain_keys(current, patch)?;
    let mut done = BTreeSet::new();
    for (key, order) in patch {
        if let Member::SetElementOrder(name) = Member::named(key)? {
            lists::merge_ordered(current, name, patch.get(name), order, shape)?;
            done.insert(name);
        }
    }
    for (key, value) in patch {
        match Member::named(key)? {
            Member::DeleteFromPrimitiveList(name) => lists::delete_values(current, name, value)?,
            Member::Field(name) if !done.contains(name) => merge_member(current, name, value, shape)?,
            Member::Field(_) | Member::SetElementOrder(_) | Member::RetainKeys => {}
        }
    }
    Ok(())
}

fn merge_member(current: &mut Object, name: &str, value: &Value, shape: Shape) -> Result<(), Refusal> {
    let is_scalar = matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_));
    if is_scalar && current.get(name) == Some(value) {
        // An object that does not change stays a clone of the stored one, so that it is not decoded again.
        return Ok(());
    }
    match (current.get_mut(name), value) {
        (_, Value::Null) => {
            current.remove(name);
        }
        (Some(Value::Object(members)), Value::Object(patch)) => {
            let known = shape.member(name)?;
            if known.strategy == StrategicMerge::Replace {
                take(current, name, value);
            } else {
                merge(members, patch, known.shape)?;
            }
        }
        (Some(Value::Array(elements)), Value::Array(patch)) => {
            let known = shape.member(name)?;
            lists::merge(elements, patch, known)?;
        }
        _ => take(current, name, value),
    }
    Ok(())
}

/// `$patch` in an object: replaces or empties it.
fn instead_of_merging(current: &mut Object, patch: &Object, directive: &Value) -> Result<(), Refusal> {
    match directive.as_str() {
        Some("replace") => *current = taken_object(patch).unwrap_or_default(),
        Some("delete") => current.clear(),
        _ => return Err(unknown_directive(directive, patch)),
    }
    Ok(())
}

/// Sets the value of the patch if there was none, or one of another type.
fn take(current: &mut Object, name: &str, value: &Value) {
    match taken(value) {
        Some(value) => current.insert(name.to_owned(), value),
        None => current.remove(name),
    };
}

fn unknown_directive(directive: &Value, patch: &Object) -> Refusal {
    let patch = as_go_prints(&Value::Object(patch.clone()));
    Refusal::server_error(format!("unknown patch type: {} in map: {patch}", as_go_prints(directive)))
}

impl Shape {
    fn of(kind: &'static Type) -> Self {
        match kind {
            Type::Message(id) | Type::Inline(id) => Self::Message(*id),
            Type::Map(values) => Self::Map(values),
            Type::List(elements) => Self::of(elements),
            _ => Self::Unknown,
        }
    }

    /// The schema of a member; an unknown field of a message is an error.
    fn member(self, name: &str) -> Result<Known, Refusal> {
        let message = match self {
            Self::Map(values) => {
                return Ok(Known { shape: Self::of(values), strategy: StrategicMerge::Default });
            }
            Self::Message(id) => match schema().field(id, name) {
                Some(field) => {
                    return Ok(Known { shape: Self::of(&field.kind), strategy: field.merging.strategic });
                }
                None => schema().message(id).short_name(),
            },
            Self::Unknown => "RawExtension",
        };
        Err(Refusal::server_error(format!(
            "unable to find api field in struct {message} for the json field {name:?}"
        )))
    }
}
