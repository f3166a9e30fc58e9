//! Runtime values of expressions.
//!
//! Lists, maps and objects of the input are borrowed, and read on access.

use std::collections::BTreeMap;
use std::rc::Rc;

use gantry_json::{Map as Members, Value as Json};

use super::cost::{CostMeter, EvaluationError};
use super::library::{Address, Network, Url, Version};
use super::text::{Bytes, Text};
use super::{data, time};
use crate::schema::{ListType, ValueSchema};
use gantry_formats::quantity::Quantity;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'a>),
    Bytes(Bytes<'a>),
    /// In nanoseconds.
    Duration(i64),
    /// In nanoseconds since the epoch.
    Timestamp(i128),
    List(List<'a>),
    Map(Map<'a>),
    Object(Object<'a>),
    Optional(Option<Rc<Value<'a>>>),
    Type(&'static str),
    Quantity(Quantity),
    Address(Address),
    Network(Network),
    Url(Rc<Url>),
    Version(Rc<Version>),
    Format(&'static str),
    /// A value without a schema: it can only be compared.
    Unknown(&'a Json),
}

/// A computed list, or one of the input.
#[derive(Clone, Debug)]
pub(super) enum List<'a> {
    Made(Rc<Vec<Value<'a>>>),
    Stored { elements: &'a [Json], items: &'a dyn ValueSchema, lists: &'a ListType },
}

/// A computed map, or an object of the input without declared properties.
#[derive(Clone, Debug)]
pub(super) enum Map<'a> {
    Made(Rc<BTreeMap<Key<'a>, Value<'a>>>),
    Stored { members: &'a Members, values: &'a dyn ValueSchema },
}

/// An object with declared properties; others are not visible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'a> {
    pub(super) members: &'a Members,
    pub(super) schema: &'a dyn ValueSchema,
    /// Whether its `kind`, `apiVersion` and name are visible without being declared.
    pub(super) is_resource: bool,
}

/// The key of a map; equal numbers of different types are the same key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<'a> {
    Bool(bool),
    Number(i128),
    Text(Text<'a>),
}

impl<'a> Value<'a> {
    pub(super) fn text(text: impl Into<Text<'a>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list(elements: Vec<Self>) -> Self {
        Self::List(List::Made(Rc::new(elements)))
    }

    pub(super) fn map(entries: BTreeMap<Key<'a>, Self>) -> Self {
        Self::Map(Map::Made(Rc::new(entries)))
    }

    pub(super) fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    /// A length as an integer.
    pub(super) fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// The name of its type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Object(_) => "object",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Address(_) => "net.IP",
            Self::Network(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Version(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Whether it is the zero value of its type.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(boolean) => !boolean,
            Self::Int(number) => *number == 0,
            Self::Uint(number) => *number == 0,
            Self::Double(number) => *number == 0.0,
            Self::Text(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Duration(nanos) => *nanos == 0,
            Self::Timestamp(nanos) => *nanos == time::FIRST,
            Self::List(list) => list.len() == 0,
            Self::Map(map) => map.len() == 0,
            Self::Object(object) => object.members.is_empty(),
            Self::Optional(inner) => inner.is_none(),
            _ => false,
        }
    }

    /// The value as the key of a map, if it can be one; the cost is its length.
    pub(super) fn key(&self, meter: &mut CostMeter) -> Result<Option<Key<'a>>, EvaluationError> {
        if let Self::Text(text) = self {
            meter.traverse(text.len())?;
        }
        Ok(Some(match self {
            Self::Bool(boolean) => Key::Bool(*boolean),
            Self::Int(number) => Key::Number(i128::from(*number)),
            Self::Uint(number) => Key::Number(i128::from(*number)),
            #[expect(clippy::cast_possible_truncation, reason = "it has no fraction, and casts saturate")]
            Self::Double(number) if number.fract() == 0.0 => Key::Number(*number as i128),
            Self::Text(text) => Key::Text(text.clone()),
            _ => return Ok(None),
        }))
    }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Made(elements) => elements.len(),
            Self::Stored { elements, .. } => elements.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Result<Value<'a>, EvaluationError>> {
        match self {
            Self::Made(elements) => elements.get(index).cloned().map(Ok),
            Self::Stored { elements, items, .. } => elements.get(index).map(|json| data::read(json, *items)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Result<Value<'a>, EvaluationError>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn all(&self) -> Result<Vec<Value<'a>>, EvaluationError> {
        self.iter().collect()
    }
}

impl<'a> Map<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Made(entries) => entries.len(),
            Self::Stored { members, .. } => members.len(),
        }
    }

    pub(super) fn get(&self, key: &Key<'a>) -> Option<Result<Value<'a>, EvaluationError>> {
        match (self, key) {
            (Self::Made(entries), _) => entries.get(key).cloned().map(Ok),
            (Self::Stored { members, values }, Key::Text(name)) => {
                members.get(name).map(|json| data::read(json, *values))
            }
            (Self::Stored { .. }, _) => None,
        }
    }

    pub(super) fn keys(&self) -> Vec<Key<'a>> {
        match self {
            Self::Made(entries) => entries.keys().cloned().collect(),
            Self::Stored { members, .. } => {
                members.keys().map(|name| Key::Text(name.as_str().into())).collect()
            }
        }
    }
}

impl<'a> Key<'a> {
    pub(super) fn value(self) -> Value<'a> {
        match self {
            Self::Bool(boolean) => Value::Bool(boolean),
            Self::Number(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => Value::Int(number),
                (_, Ok(number)) => Value::Uint(number),
                _ => Value::Null,
            },
            Self::Text(text) => Value::Text(text),
        }
    }

    /// The key in error messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Bool(boolean) => boolean.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.to_string(),
        }
    }
}
