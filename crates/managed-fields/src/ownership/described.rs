//! The shape of values of custom kinds.

use gantry_json::Value;

use super::shape::{Parts, Shape, object_meta};
use gantry_schema::custom::{AdditionalProperties, ListType, MapType, SchemaType, StructuralSchema};
use gantry_schema::schema::Type;

/// A value with a [`StructuralSchema`], somewhere in an object of a custom kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<'a> {
    structure: &'a StructuralSchema,
    /// Whether it has kind, version and metadata, which the schema need not declare.
    is_object: bool,
    /// Whether undeclared members may be applied: below any schema that preserves unknown fields.
    is_lenient: bool,
}

static TEXT: Type = Type::String;
static INTEGER: Type = Type::Int64;
static NUMBER: Type = Type::Float64;
static BOOLEAN: Type = Type::Bool;
static ANY_SCALAR: Type = Type::IntOrString;
static ANYTHING: Type = Type::Raw;

impl<'a> Described<'a> {
    /// The shape of an object of a custom kind.
    pub(super) fn root(structure: &'a StructuralSchema) -> Self {
        Self { structure, is_object: true, is_lenient: structure.preserves_unknown }
    }

    /// The type, if the schema has one.
    pub(crate) fn schema_type(self) -> Option<SchemaType> {
        self.structure.schema_type
    }

    /// The parts that are owned separately.
    pub(super) fn parts(self) -> Parts {
        match (self.structure.schema_type, &self.structure.lists) {
            (Some(SchemaType::Object), _) if self.structure.maps == MapType::Atomic => Parts::None,
            (Some(SchemaType::Object), _) => Parts::Members,
            (Some(SchemaType::Array), ListType::Set | ListType::Map(_)) => Parts::Elements,
            (Some(SchemaType::Array), ListType::Atomic) => Parts::None,
            _ => Parts::Deduced,
        }
    }

    /// The shape of a member; `None` if there is no such member.
    pub(super) fn member(self, name: &str) -> Option<Shape<'a>> {
        if self.is_object {
            match name {
                "apiVersion" | "kind" => return Some(Shape::Scalar(&TEXT)),
                "metadata" => return Some(object_meta().map_or(Shape::Free, Shape::Struct)),
                _ => {}
            }
        }
        if let Some(declared) = self.structure.properties.get(name) {
            return Some(self.inner(declared));
        }
        match &self.structure.values {
            AdditionalProperties::Schema(values) => Some(self.inner(values)),
            AdditionalProperties::Any => Some(Shape::Free),
            AdditionalProperties::None if self.is_lenient || self.is_free_form() => Some(Shape::Free),
            AdditionalProperties::None => None,
        }
    }

    /// Whether this member is a declared field, and not the key of a map.
    pub(super) fn declares(self, name: &str) -> bool {
        self.is_object && matches!(name, "apiVersion" | "kind" | "metadata")
            || self.structure.properties.contains_key(name)
    }

    /// The shape of an element of a list.
    pub(super) fn element(self) -> Shape<'a> {
        match &self.structure.items {
            Some(items) => self.inner(items),
            None => Shape::Atomic(&ANYTHING),
        }
    }

    /// The key fields of an element of a list; none for sets.
    pub(super) fn keys(self) -> &'a [String] {
        match &self.structure.lists {
            ListType::Map(keys) => keys,
            ListType::Atomic | ListType::Set => &[],
        }
    }

    /// The default of a key field.
    pub(super) fn default_of(self, key: &str) -> Option<&'a Value> {
        self.structure.items.as_ref()?.properties.get(key)?.default.as_ref()
    }

    fn inner(self, structure: &'a StructuralSchema) -> Shape<'a> {
        match structure.schema_type {
            Some(SchemaType::String) if structure.is_formatted_text() => Shape::Scalar(&ANY_SCALAR),
            Some(SchemaType::String) => Shape::Scalar(&TEXT),
            Some(SchemaType::Integer) => Shape::Scalar(&INTEGER),
            Some(SchemaType::Number) => Shape::Scalar(&NUMBER),
            Some(SchemaType::Boolean) => Shape::Scalar(&BOOLEAN),
            Some(SchemaType::Object | SchemaType::Array | SchemaType::IntOrString) | None => {
                Shape::Described(Self {
                    structure,
                    is_object: structure.embedded,
                    is_lenient: self.is_lenient || structure.preserves_unknown,
                })
            }
        }
    }

    /// Whether an object has no declarations, so that it may have any members.
    fn is_free_form(self) -> bool {
        !self.is_object && self.structure.properties.is_empty()
    }
}
