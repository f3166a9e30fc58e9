//! How a value is walked when it is about ownership: what has parts that are owned by themselves, and their names.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::described::Described;
use super::{PathElement, Scalar};
use gantry_schema::empties::is_omitted_if_empty;
use gantry_schema::kinds::Nature;
use gantry_schema::schema::{MessageId, Owning, Type, schema};

/// What ownership sees in a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'a> {
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
    /// Something that the definition of a custom kind describes.
    Described(Described<'a>),
    /// Something of which nothing is known: what it is, is deduced from the value.
    Free,
}

/// What parts of a value are owned by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// None: it is owned as a whole.
    None,
    /// Its members.
    Members,
    /// Its elements.
    Elements,
    /// Its members if it turns out to be an object, else none.
    Deduced,
}

/// Why an element of a list has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nameless {
    /// It is `null`.
    Null,
    /// It is no object, where names are made of fields.
    NoObject,
    /// It lacks every key.
    LacksKeys,
    /// It is an object, where names are values.
    Object,
    /// It is a list, where names are values.
    List,
    /// It is `null`, where names are values.
    NullValue,
}

static TEXT: Type = Type::String;

/// What metadata is.
pub(super) fn object_meta() -> Option<MessageId> {
    static OBJECT_META: LazyLock<Option<MessageId>> = LazyLock::new(|| schema().find("meta/v1.ObjectMeta"));
    *OBJECT_META
}

impl<'a> Shape<'a> {
    /// What ownership sees in an object.
    pub(crate) fn root(nature: &'a Nature) -> Self {
        match nature {
            Nature::BuiltIn(message) => Self::Root(*message),
            Nature::Custom(custom) => Self::Described(Described::root(&custom.structure)),
        }
    }

    pub(crate) fn of(kind: &'static Type, owning: Owning) -> Self {
        match (kind, owning) {
            // Of an object that declares no fields nothing is known.
            (Type::Message(id), Owning::Granular) if schema().message(*id).fields.is_empty() => Self::Free,
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

    /// What parts it has that are owned by themselves.
    pub(crate) fn parts(self) -> Parts {
        match self {
            Self::Scalar(_) | Self::Atomic(_) => Parts::None,
            Self::Struct(_) | Self::Root(_) | Self::Map(_) => Parts::Members,
            Self::Keyed { .. } | Self::Set(_) => Parts::Elements,
            Self::Described(described) => described.parts(),
            Self::Free => Parts::Deduced,
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
            Self::Described(described) => described.member(name),
            Self::Free => Some(Self::Free),
            _ => None,
        }
    }

    /// The shape of an element of a list.
    pub(crate) fn element(self) -> Self {
        match self {
            Self::Keyed { element, whole: true, .. } => Self::Atomic(element),
            Self::Keyed { element, .. } | Self::Set(element) => Self::nested(element),
            Self::Described(described) => described.element(),
            other => other,
        }
    }

    /// The shape of something inside a list or a map, for which the schema has no rule.
    pub(crate) fn nested(kind: &'static Type) -> Self {
        let whole = matches!(kind, Type::List(_) | Type::Raw | Type::Or(..));
        Self::of(kind, if whole { Owning::Atomic } else { Owning::Granular })
    }

    /// Whether this member is a declared field, and not the key of a map.
    pub(crate) fn declares(self, name: &str) -> bool {
        match self {
            Self::Root(_) | Self::Struct(_) => true,
            Self::Described(described) => described.declares(name),
            _ => false,
        }
    }

    /// Whether JSON omits this member because it is an empty list or map.
    pub(crate) fn omits(self, name: &str, value: &Value) -> bool {
        match self {
            Self::Root(id) | Self::Struct(id) => {
                schema().field(id, name).is_some_and(|field| is_omitted_if_empty(field, value))
            }
            _ => false,
        }
    }

    /// Whether this member is the record of ownership itself.
    pub(crate) fn is_record(self, member: &str) -> bool {
        member == "managedFields"
            && matches!(self, Self::Struct(id) | Self::Root(id) if Some(id) == object_meta())
    }

    /// What an element of a list is called.
    pub(crate) fn name_of(self, element: &Value) -> Result<PathElement, Nameless> {
        match self {
            Self::Keyed { keys, element: kind, .. } => {
                named_by(keys.iter().map(|key| (*key, default_of(kind, key))), element)
            }
            Self::Described(list) if !list.keys().is_empty() => {
                let keys = list.keys().iter();
                named_by(keys.map(|key| (key.as_str(), list.default_of(key))), element)
            }
            _ => match element {
                Value::Object(_) => Err(Nameless::Object),
                Value::Array(_) => Err(Nameless::List),
                Value::Null => Err(Nameless::NullValue),
                value => Ok(PathElement::Value(Scalar::of(value))),
            },
        }
    }

    /// The fields that make the name of an element; none where names are values.
    pub(crate) fn keys(self) -> Vec<&'a str> {
        match self {
            Self::Keyed { keys, .. } => keys.to_vec(),
            Self::Described(list) => list.keys().iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// What the elements of a stored list are called; one without a name is known by its position.
    pub(crate) fn named(self, list: &[Value]) -> impl Iterator<Item = (PathElement, &Value)> {
        (0u64..).zip(list).map(move |(index, element)| {
            (self.name_of(element).unwrap_or(PathElement::Index(index)), element)
        })
    }
}

/// The name that these keys, each with its default, give an element; one that is left out is no part of it.
fn named_by<'k>(
    keys: impl ExactSizeIterator<Item = (&'k str, Option<&'k Value>)>,
    element: &Value,
) -> Result<PathElement, Nameless> {
    let fields = match element {
        Value::Object(fields) => fields,
        Value::Null => return Err(Nameless::Null),
        _ => return Err(Nameless::NoObject),
    };
    let mut named = Vec::with_capacity(keys.len());
    for (key, default) in keys {
        if let Some(value) = fields.get(key).or(default) {
            named.push((key.into(), Scalar::of(value)));
        }
    }
    if named.is_empty() { Err(Nameless::LacksKeys) } else { Ok(PathElement::key(named)) }
}

/// What a key of a built-in kind is if it is left out: the protocol of a port is TCP, anything else is empty or zero.
/// A reference to an object may be without a name.
fn default_of(element: &Type, key: &str) -> Option<&'static Value> {
    static TCP: LazyLock<Value> = LazyLock::new(|| Value::from("TCP"));
    static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::from(""));
    static ZERO: LazyLock<Value> = LazyLock::new(|| Value::from(0));
    let (Type::Message(id) | Type::Inline(id)) = element else { return None };
    let field = schema().field(*id, key)?;
    match &field.kind {
        _ if key == "protocol" => Some(&*TCP),
        _ if field.pointer || schema().message(*id).name == "core/v1.ObjectReference" => None,
        Type::String => Some(&*EMPTY),
        Type::Int32 | Type::Int64 => Some(&*ZERO),
        _ => None,
    }
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
