//! The shape of values for ownership: which parts are owned separately, and how they are named.

use std::sync::LazyLock;

use gantry_json::{Map, Value};

use super::described::Described;
use super::{PathElement, Scalar};
use gantry_schema::empties::is_omitted_if_empty;
use gantry_schema::kinds::Nature;
use gantry_schema::schema::{MessageId, Owning, Type, schema};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'a> {
    /// A scalar, of one or several types.
    Scalar(&'static Type),
    /// A list or object that is owned as a whole.
    Atomic(&'static Type),
    /// An object with declared fields.
    Struct(MessageId),
    /// The root object: with `apiVersion` and `kind`, which the schema does not list.
    Root(MessageId),
    /// A map with string keys.
    Map(&'static Type),
    /// A list whose elements have keys.
    Keyed {
        /// The key fields.
        keys: &'static [&'static str],
        /// The type of an element.
        element: &'static Type,
        /// Whether elements are owned as a whole.
        whole: bool,
    },
    /// A list that is a set of values.
    Set(&'static Type),
    /// A value with the schema of a custom kind.
    Described(Described<'a>),
    /// A value without a schema: its shape is deduced from the value.
    Free,
}

/// The parts of a value that are owned separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// None: it is owned as a whole.
    None,
    /// Its members.
    Members,
    /// Its elements.
    Elements,
    /// Its members if it is an object, otherwise none.
    Deduced,
}

/// Why an element of a list has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingKeyReason {
    /// It is `null`.
    Null,
    /// It is not an object, although keys are fields.
    NotAnObject,
    /// It has none of the key fields.
    NoKeyFields,
    /// It is an object in a set.
    Object,
    /// It is a list in a set.
    List,
    /// It is `null` in a set.
    NullValue,
}

static TEXT: Type = Type::String;

/// The message of metadata.
pub(super) fn object_meta() -> Option<MessageId> {
    static OBJECT_META: LazyLock<Option<MessageId>> = LazyLock::new(|| schema().find("meta/v1.ObjectMeta"));
    *OBJECT_META
}

impl<'a> Shape<'a> {
    /// The shape of an object of a kind.
    pub(crate) fn root(nature: &'a Nature) -> Self {
        match nature {
            Nature::BuiltIn(message) => Self::Root(*message),
            Nature::Custom(custom) => Self::Described(Described::root(&custom.structural_schema)),
        }
    }

    pub(crate) fn of(kind: &'static Type, owning: Owning) -> Self {
        match (kind, owning) {
            // An object without declared fields has no known shape.
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

    /// The parts that are owned separately.
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

    /// The shape of a value inside a list or a map.
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

    /// The path element of a list element.
    pub(crate) fn name_of(self, element: &Value) -> Result<PathElement, MissingKeyReason> {
        match self {
            Self::Keyed { keys, element: kind, .. } => {
                named_by(keys.iter().map(|key| (*key, default_of(kind, key))), element)
            }
            Self::Described(list) if !list.keys().is_empty() => {
                let keys = list.keys().iter();
                named_by(keys.map(|key| (key.as_str(), list.default_of(key))), element)
            }
            _ => match element {
                Value::Object(_) => Err(MissingKeyReason::Object),
                Value::Array(_) => Err(MissingKeyReason::List),
                Value::Null => Err(MissingKeyReason::NullValue),
                value => Ok(PathElement::Value(Scalar::of(value))),
            },
        }
    }

    /// The key fields of an element; none for sets.
    pub(crate) fn keys(self) -> Vec<&'a str> {
        match self {
            Self::Keyed { keys, .. } => keys.to_vec(),
            Self::Described(list) => list.keys().iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The path elements of a stored list; an element without a key is identified by its index.
    pub(crate) fn named(self, list: &[Value]) -> impl Iterator<Item = (PathElement, &Value)> {
        (0u64..).zip(list).map(move |(index, element)| {
            (self.name_of(element).unwrap_or(PathElement::Index(index)), element)
        })
    }
}

/// The key of an element by these fields, each with its default; a field without either is left out.
fn named_by<'k>(
    keys: impl ExactSizeIterator<Item = (&'k str, Option<&'k Value>)>,
    element: &Value,
) -> Result<PathElement, MissingKeyReason> {
    let fields = match element {
        Value::Object(fields) => fields,
        Value::Null => return Err(MissingKeyReason::Null),
        _ => return Err(MissingKeyReason::NotAnObject),
    };
    let mut named = Vec::with_capacity(keys.len());
    for (key, default) in keys {
        if let Some(value) = fields.get(key).or(default) {
            named.push((key.into(), Scalar::of(value)));
        }
    }
    if named.is_empty() { Err(MissingKeyReason::NoKeyFields) } else { Ok(PathElement::key(named)) }
}

/// The default of a key field of a built-in kind: the protocol of a port is TCP, others are empty or zero. A reference
/// to an object may lack a name.
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

/// Whether a granular value is absent, `null` or empty.
pub(crate) fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(elements)) => elements.is_empty(),
        Some(_) => false,
    }
}

pub(crate) fn as_object(value: Option<&Value>) -> Option<&Map> {
    value.and_then(Value::as_object)
}

pub(crate) fn as_list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
