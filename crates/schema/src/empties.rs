//! Empty lists and maps, and when they are dropped.
//!
//! As in Go, an empty list is not an absent one: defaults, validation and error messages distinguish them. JSON omits
//! an empty list if its field is omitted when empty, so ownership sees only the others; stored objects have none.

use std::borrow::Cow;

use gantry_json::{Map, Value};

use crate::decode::complete::{absent, is_unset};
use crate::encode::TextParts;
use crate::kinds::Nature;
use crate::schema::{Field, MessageId, Omit, Other, Type, schema};

/// A form of an object in which some or all empty lists and maps are absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As JSON: without lists and maps whose fields are omitted when empty.
    Written,
    /// As read from the store: without any.
    Stored,
}

/// The object in this form; it is only cloned if something is dropped.
///
/// Objects of custom kinds keep their empty lists and maps.
pub fn in_form<'a>(form: Form, nature: &Nature, object: &'a Value) -> Cow<'a, Value> {
    match nature {
        Nature::BuiltIn(id) if message_has_any(form, *id, object, &TextParts::default()) => {
            let mut copy = object.clone();
            drop_from_message(form, *id, &mut copy);
            Cow::Owned(copy)
        }
        _ => Cow::Borrowed(object),
    }
}

/// Brings an object into this form.
pub fn drop_empties(form: Form, nature: &Nature, object: &mut Value) {
    drop_empties_except(form, nature, object, &TextParts::default());
}

/// Brings an object into this form; the given parts are in this form already.
pub fn drop_empties_except(form: Form, nature: &Nature, object: &mut Value, done: &TextParts) {
    // Most objects have none and are not changed: parts that clones share would be copied.
    if let Nature::BuiltIn(id) = nature
        && message_has_any(form, *id, object, done)
    {
        drop_from_message(form, *id, object);
    }
}

/// The members of an object of this message in this form.
pub(crate) fn without_empties(form: Form, id: MessageId, mut members: Map) -> Map {
    drop_from_members(form, id, &mut members);
    members
}

/// Whether JSON omits the field if it has this value.
pub fn is_omitted(field: &Field, value: &Value) -> bool {
    is_unset(field, value) || is_omitted_if_empty(field, value)
}

/// Whether JSON omits the field because its list or map is empty.
pub fn is_omitted_if_empty(field: &Field, value: &Value) -> bool {
    is_dropped(Form::Written, field, value)
}

/// Whether the field has an empty list or map that is absent in this form.
fn is_dropped(form: Form, field: &Field, value: &Value) -> bool {
    let is_empty = match (value, &field.kind) {
        (Value::Array(elements), Type::List(_)) => elements.is_empty(),
        (Value::Object(entries), Type::Map(_)) => entries.is_empty(),
        _ => false,
    };
    is_empty && (form == Form::Stored || field.omit != Omit::Never)
}

fn message_has_any(form: Form, id: MessageId, value: &Value, done: &TextParts) -> bool {
    let members = value.as_object().filter(|_| !done.contains(value));
    members.into_iter().flatten().any(|(name, member)| {
        // Other values cannot be dropped, so their fields are not looked up.
        matches!(member, Value::Array(_) | Value::Object(_))
            && schema().field(id, name).is_some_and(|field| {
                is_dropped(form, field, member) || typed_has_any(form, &field.kind, member, done)
            })
    })
}

fn typed_has_any(form: Form, kind: &Type, value: &Value, done: &TextParts) -> bool {
    match (kind, value) {
        (Type::Message(id) | Type::Inline(id) | Type::Or(_, id), Value::Object(_)) => {
            message_has_any(form, *id, value, done)
        }
        (Type::List(element), Value::Array(list)) => {
            list.iter().any(|one| typed_has_any(form, element, one, done))
        }
        (Type::Or(Other::List, id), Value::Array(list)) => {
            list.iter().any(|one| message_has_any(form, *id, one, done))
        }
        (Type::Map(kind), Value::Object(map)) => map.values().any(|one| typed_has_any(form, kind, one, done)),
        _ => false,
    }
}

fn drop_from_message(form: Form, id: MessageId, value: &mut Value) {
    if let Value::Object(members) = value {
        drop_from_members(form, id, members);
    }
}

fn drop_from_members(form: Form, id: MessageId, members: &mut Map) {
    members.retain(|name, member| {
        let Some(field) = schema().field(id, name) else { return true };
        if !is_dropped(form, field, member) {
            drop_from_typed(form, &field.kind, member);
            return true;
        }
        let Some(value) = absent(field) else { return false };
        *member = value;
        true
    });
}

fn drop_from_typed(form: Form, kind: &Type, value: &mut Value) {
    match (kind, value) {
        (Type::Message(id) | Type::Inline(id) | Type::Or(_, id), value @ Value::Object(_)) => {
            drop_from_message(form, *id, value);
        }
        (Type::List(element), Value::Array(list)) => {
            for one in list {
                drop_from_typed(form, element, one);
            }
        }
        (Type::Or(Other::List, id), Value::Array(list)) => {
            for one in list {
                drop_from_message(form, *id, one);
            }
        }
        (Type::Map(kind), Value::Object(map)) => {
            map.values_mut().for_each(|one| drop_from_typed(form, kind, one));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn nature(message: &str) -> Nature {
        schema().find(message).unwrap().into()
    }

    /// A2.7: JSON has the empty rules of a role, which are never omitted; once stored they are `null`.
    #[test]
    fn an_empty_list_that_is_never_omitted_is_written_until_it_is_stored() {
        let role = json!({"metadata": {"labels": {}}, "rules": []});
        let in_form = |form| in_form(form, &nature("rbac/v1.ClusterRole"), &role).into_owned();
        assert_eq!(in_form(Form::Written), json!({"metadata": {}, "rules": []}));
        assert_eq!(in_form(Form::Stored), json!({"metadata": {}, "rules": null}));
    }

    /// A2.7: structs behind pointers are kept although they are empty.
    #[test]
    fn empty_structs_stay_within_lists_and_maps() {
        let pod = json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"args": []}], "nodeSelector": {}}});
        let expected = json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{}]}});
        assert_eq!(*in_form(Form::Stored, &nature("core/v1.Pod"), &pod), expected);
    }

    /// A2.7: `items` of a schema may be a list of schemas, whose empty lists are dropped as anywhere else.
    #[test]
    fn empty_lists_are_dropped_from_lists_of_schemas() {
        let schema = json!({"items": [{"type": "string", "anyOf": []}, {"not": {"enum": []}}]});
        let expected = json!({"items": [{"type": "string"}, {"not": {}}]});
        assert_eq!(*in_form(Form::Written, &nature("apiextensions/v1.JSONSchemaProps"), &schema), expected);
    }

    #[test]
    fn an_object_without_empties_is_not_copied() {
        let map = json!({"metadata": {"labels": {"a": ""}}, "data": {"k": ""}});
        assert!(matches!(in_form(Form::Stored, &nature("core/v1.ConfigMap"), &map), Cow::Borrowed(_)));
    }
}
