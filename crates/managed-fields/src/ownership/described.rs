//! What ownership sees in a value that a definition describes: the shape of a custom kind.

use serde_json::Value;

use super::shape::{Parts, Shape, object_meta};
use gantry_schema::custom::{Basic, Lists, Maps, Structure, Values};
use gantry_schema::schema::Type;

/// A value with a [`Structure`], somewhere in an object of a custom kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<'a> {
    structure: &'a Structure,
    /// Whether it has kind, version and metadata, which a definition need not mention.
    is_object: bool,
    /// Whether members that are not declared may be stated: from here on down, once a structure keeps unknown ones.
    is_lenient: bool,
}

static TEXT: Type = Type::String;
static INTEGER: Type = Type::Int64;
static NUMBER: Type = Type::Float64;
static BOOLEAN: Type = Type::Bool;
static ANY_SCALAR: Type = Type::IntOrString;
static ANYTHING: Type = Type::Raw;

impl<'a> Described<'a> {
    /// An object of a custom kind.
    pub(super) fn root(structure: &'a Structure) -> Self {
        Self { structure, is_object: true, is_lenient: structure.preserves_unknown }
    }

    /// The type it must have; `None` where anything goes.
    pub(crate) fn basic(self) -> Option<Basic> {
        self.structure.basic
    }

    /// What parts it has that are owned by themselves.
    pub(super) fn parts(self) -> Parts {
        match (self.structure.basic, &self.structure.lists) {
            (Some(Basic::Object), _) if self.structure.maps == Maps::Atomic => Parts::None,
            (Some(Basic::Object), _) => Parts::Members,
            (Some(Basic::Array), Lists::Set | Lists::Map(_)) => Parts::Elements,
            (Some(Basic::Array), Lists::Atomic) => Parts::None,
            _ => Parts::Deduced,
        }
    }

    /// The shape of a member; `None` if there can be none of this name.
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
            Values::Like(values) => Some(self.inner(values)),
            Values::Any => Some(Shape::Free),
            Values::None if self.is_lenient || self.is_free_form() => Some(Shape::Free),
            Values::None => None,
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

    /// The members that make the name of an element of a list; none for sets.
    pub(super) fn keys(self) -> &'a [String] {
        match &self.structure.lists {
            Lists::Map(keys) => keys,
            Lists::Atomic | Lists::Set => &[],
        }
    }

    /// What a key of an element is when it is left out.
    pub(super) fn default_of(self, key: &str) -> Option<&'a Value> {
        self.structure.items.as_ref()?.properties.get(key)?.default.as_ref()
    }

    fn inner(self, structure: &'a Structure) -> Shape<'a> {
        match structure.basic {
            Some(Basic::String) if structure.is_formatted_text() => Shape::Scalar(&ANY_SCALAR),
            Some(Basic::String) => Shape::Scalar(&TEXT),
            Some(Basic::Integer) => Shape::Scalar(&INTEGER),
            Some(Basic::Number) => Shape::Scalar(&NUMBER),
            Some(Basic::Boolean) => Shape::Scalar(&BOOLEAN),
            Some(Basic::Object | Basic::Array | Basic::IntOrString) | None => Shape::Described(Self {
                structure,
                is_object: structure.embedded,
                is_lenient: self.is_lenient || structure.preserves_unknown,
            }),
        }
    }

    /// An object of which nothing is declared may have anything in it.
    fn is_free_form(self) -> bool {
        !self.is_object && self.structure.properties.is_empty()
    }
}
