//! How a value is walked when it is about ownership: what has parts that are owned by themselves, and their names.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{PathElement, Scalar};
use crate::schema::{MessageId, Owning, Type, schema};

/// What ownership sees in a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A number, a text, `true`; this may be one of several scalar types.
    Scalar(&'static Type),
    /// Something with parts that is owned as a whole.
    Atomic(&'static Type),
    /// An object with declared fields.
    Struct(MessageId),
    /// An object at the root: with `apiVersion` and `kind`, which the schema leaves out.
    Root(MessageId),
    /// A map from text.
    Map(&'static Type),
    /// A list of which each element has a name.
    Keyed {
        /// The fields that make the name.
        keys: &'static [&'static str],
        /// What an element is.
        element: &'static Type,
        /// Whether elements are owned as a whole.
        whole: bool,
    },
    /// A list of which each value is an element of a set.
    Set(&'static Type),
}

/// Why an element of a list has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nameless {
    /// It is `null`.
    Null,
    /// It is no object, where names are made of fields.
    NoObject,
    /// It lacks this key.
    Lacks(&'static str),
    /// It is an object, where names are values.
    Object,
    /// It is a list, where names are values.
    List,
    /// It is `null`, where names are values.
    NullValue,
}

static TEXT: Type = Type::String;
static OBJECT_META: LazyLock<Option<MessageId>> = LazyLock::new(|| schema().find("meta/v1.ObjectMeta"));

impl Shape {
    pub(crate) fn of(kind: &'static Type, owning: Owning) -> Self {
        match (kind, owning) {
            (Type::Message(id), Owning::Granular) => Self::Struct(*id),
            (Type::Map(value), Owning::Granular) => Self::Map(value),
            (Type::List(element), Owning::MapList(keys)) => Self::Keyed { keys, element, whole: false },
            (Type::List(element), Owning::AtomicMapList(keys)) => Self::Keyed { keys, element, whole: true },
            (Type::List(element), Owning::Set) => Self::Set(element),
            (
                Type::Message(_) | Type::Inline(_) | Type::Map(_) | Type::List(_) | Type::Raw | Type::Or(..),
                _,
            ) => Self::Atomic(kind),
            _ => Self::Scalar(kind),
        }
    }

    /// The shape of a field or a map's key; `None` if it is not declared.
    pub(crate) fn member(self, name: &str) -> Option<Self> {
        match self {
            Self::Root(_) if name == "apiVersion" || name == "kind" => Some(Self::Scalar(&TEXT)),
            Self::Root(id) | Self::Struct(id) => {
                schema().field(id, name).map(|field| Self::of(&field.kind, field.merging.owning))
            }
            Self::Map(value) => Some(Self::nested(value)),
            _ => None,
        }
    }

    /// The shape of an element of a list.
    pub(crate) fn element(self) -> Self {
        match self {
            Self::Keyed { element, whole: true, .. } => Self::Atomic(element),
            Self::Keyed { element, .. } | Self::Set(element) => Self::nested(element),
            other => other,
        }
    }

    /// The shape of something inside a list or a map, for which the schema has no rule.
    pub(crate) fn nested(kind: &'static Type) -> Self {
        let whole = matches!(kind, Type::List(_) | Type::Raw | Type::Or(..));
        Self::of(kind, if whole { Owning::Atomic } else { Owning::Granular })
    }

    /// Whether its members are declared fields, and not keys of a map.
    pub(crate) fn has_declared_fields(self) -> bool {
        matches!(self, Self::Root(_) | Self::Struct(_))
    }

    /// Whether this member is the record of ownership itself.
    pub(crate) fn is_record(self, member: &str) -> bool {
        member == "managedFields"
            && matches!(self, Self::Struct(id) | Self::Root(id) if Some(id) == *OBJECT_META)
    }

    /// What an element of a list is called.
    pub(crate) fn name_of(self, element: &Value) -> Result<PathElement, Nameless> {
        match self {
            Self::Keyed { keys, .. } => match element {
                Value::Object(fields) => key_of(keys, fields),
                Value::Null => Err(Nameless::Null),
                _ => Err(Nameless::NoObject),
            },
            _ => match element {
                Value::Object(_) => Err(Nameless::Object),
                Value::Array(_) => Err(Nameless::List),
                Value::Null => Err(Nameless::NullValue),
                value => Ok(PathElement::Value(Scalar::of(value))),
            },
        }
    }

    /// What the elements of a stored list are called; one without a name is known by its position.
    pub(crate) fn named(self, list: &[Value]) -> impl Iterator<Item = (PathElement, &Value)> {
        (0u64..).zip(list).map(move |(index, element)| {
            (self.name_of(element).unwrap_or(PathElement::Index(index)), element)
        })
    }
}

fn key_of(keys: &'static [&'static str], fields: &Map<String, Value>) -> Result<PathElement, Nameless> {
    let mut named = Vec::with_capacity(keys.len());
    for key in keys {
        let value = match fields.get(*key) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(default_of(key).ok_or(Nameless::Lacks(key))?),
        };
        named.push(((*key).into(), Scalar::of(&value)));
    }
    Ok(PathElement::key(named))
}

/// The only key with a default is the protocol of a port, for containers as for Services.
fn default_of(key: &str) -> Option<Value> {
    (key == "protocol").then(|| Value::from("TCP"))
}

/// Whether a granular value has no parts: absent, `null` or empty.
pub(crate) fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(elements)) => elements.is_empty(),
        Some(_) => false,
    }
}

pub(crate) fn as_object(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

pub(crate) fn as_list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
