//! The static types of expressions.

use std::fmt;
use std::sync::Arc;

use super::data;
use super::identifiers;
use crate::schema::{SchemaType, ValueSchema};

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type<'a> {
    /// Any type, known only at evaluation.
    Dyn,
    /// A type parameter of a function.
    Same,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Duration,
    Timestamp,
    /// The type of types.
    OfTypes,
    List(Arc<Type<'a>>),
    Map(Arc<Type<'a>>, Arc<Type<'a>>),
    Optional(Arc<Type<'a>>),
    /// An object of this schema; whether it is a resource.
    Object(&'a dyn ValueSchema, bool),
    /// A type of a library.
    Named(&'static str),
}

/// Types by the names in function declarations.
const NAMES: [(&str, Type<'static>); 12] = [
    ("dyn", Type::Dyn),
    ("T", Type::Same),
    ("null", Type::Null),
    ("bool", Type::Bool),
    ("int", Type::Int),
    ("uint", Type::Uint),
    ("double", Type::Double),
    ("string", Type::Text),
    ("bytes", Type::Bytes),
    ("duration", Type::Duration),
    ("timestamp", Type::Timestamp),
    ("type", Type::OfTypes),
];

impl Type<'static> {
    /// Parses a type of a function declaration: `list<string>`.
    pub(super) fn read(text: &'static str) -> Option<Self> {
        if let Some((_, known)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Some(known.clone());
        }
        let inner = |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
        if let Some(element) = inner("list<") {
            return Some(Self::List(Arc::new(Self::read(element)?)));
        }
        if let Some(value) = inner("optional<") {
            return Some(Self::Optional(Arc::new(Self::read(value)?)));
        }
        if let Some((key, value)) = inner("map<").and_then(|inner| inner.split_once(',')) {
            return Some(Self::Map(Arc::new(Self::read(key)?), Arc::new(Self::read(value)?)));
        }
        let is_named = text.starts_with(|first: char| first.is_ascii_uppercase());
        is_named.then_some(Self::Named(text))
    }
}

impl<'a> Type<'a> {
    /// The type of a schema; `None` if expressions cannot see such values.
    pub(super) fn of(schema: &'a dyn ValueSchema, is_resource: bool) -> Option<Self> {
        Some(match schema.schema_type()? {
            SchemaType::IntOrString => Self::Dyn,
            SchemaType::Boolean => Self::Bool,
            SchemaType::Integer => Self::Int,
            SchemaType::Number => Self::Double,
            SchemaType::String => match schema.format() {
                "byte" => Self::Bytes,
                "duration" => Self::Duration,
                "date" | "date-time" => Self::Timestamp,
                _ => Self::Text,
            },
            SchemaType::Array => {
                let items = schema.elements()?;
                Self::List(Arc::new(Self::of(items, items.is_embedded_resource())?))
            }
            SchemaType::Object => match schema.additional() {
                Some(values) if !schema.has_properties() && !is_resource => {
                    let value = Self::of(values, values.is_embedded_resource())?;
                    Self::Map(Arc::new(Self::Text), Arc::new(value))
                }
                _ => Self::Object(schema, is_resource),
            },
        })
    }

    /// The type of a property, by its identifier.
    pub(super) fn member(schema: &'a dyn ValueSchema, is_resource: bool, name: &str) -> Option<Self> {
        let field = identifiers::unescape(name)?;
        let declared = data::declared(schema, is_resource, &field)?;
        // Some identifiers unescape to the same field; only the one that its name escapes to is accepted.
        let is_spelt = identifiers::escape(&field).is_some_and(|spelt| spelt == name);
        Self::of(declared, declared.is_embedded_resource()).filter(|_| is_spelt)
    }

    /// Whether a value of the other type is assignable to this one. `same` is the type that [`Type::Same`] stands for.
    pub(super) fn takes(&self, other: &Self, same: &mut Option<Self>) -> bool {
        match (self, other) {
            // Null is assignable to everything, and map literals to objects.
            (Self::Dyn | Self::Null, _)
            | (_, Self::Dyn | Self::Same | Self::Null)
            | (Self::Object(..), Self::Object(..) | Self::Map(..))
            | (Self::Map(..), Self::Object(..)) => true,
            (Self::Same, other) => match same.clone() {
                None => {
                    *same = Some(other.clone());
                    true
                }
                Some(known) => known.takes(other, &mut None),
            },
            (Self::List(one), Self::List(other)) | (Self::Optional(one), Self::Optional(other)) => {
                one.takes(other, same)
            }
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.takes(other_key, same) && value.takes(other_value, same)
            }
            (one, other) => one == other,
        }
    }

    /// This type with [`Type::Same`] substituted.
    pub(super) fn with(&self, same: Option<&Self>) -> Self {
        match self {
            Self::Same => same.cloned().unwrap_or(Self::Dyn),
            Self::List(inner) => Self::List(Arc::new(inner.with(same))),
            Self::Optional(inner) => Self::Optional(Arc::new(inner.with(same))),
            Self::Map(key, value) => Self::Map(Arc::new(key.with(same)), Arc::new(value.with(same))),
            other => other.clone(),
        }
    }

    /// The common type of both, or `Dyn`.
    pub(super) fn or(self, other: &Self) -> Self {
        if self == *other { self } else { Self::Dyn }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(inner) => write!(f, "list({inner})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Optional(inner) => write!(f, "optional_type({inner})"),
            Self::Object(..) => f.write_str("object"),
            Self::Named(name) => f.write_str(name),
            Self::Duration => f.write_str("google.protobuf.Duration"),
            Self::Timestamp => f.write_str("google.protobuf.Timestamp"),
            schema_type => {
                let name =
                    NAMES.iter().find(|(_, known)| known == schema_type).map_or("dyn", |(name, _)| name);
                f.write_str(name)
            }
        }
    }
}
