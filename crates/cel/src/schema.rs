//! The schema of a value, as far as expressions depend on it.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use gantry_json::Value as Json;

/// The schema of a value, as far as the types of expressions depend on it.
pub trait ValueSchema: Any + Debug + Send + Sync {
    /// The type, if the schema has one.
    fn schema_type(&self) -> Option<SchemaType>;
    /// The format of a string; empty if there is none.
    fn format(&self) -> &str;
    /// Whether the value may be `null`.
    fn is_nullable(&self) -> bool;
    /// Whether the value is an object with `kind`, `apiVersion` and `metadata` of its own.
    fn is_embedded_resource(&self) -> bool;
    /// The schema of a declared property.
    fn property(&self, name: &str) -> Option<&dyn ValueSchema>;
    /// Whether any property is declared.
    fn has_properties(&self) -> bool;
    /// The schema of all other properties, `additionalProperties`.
    fn additional(&self) -> Option<&dyn ValueSchema>;
    /// The schema of the elements of a list.
    fn elements(&self) -> Option<&dyn ValueSchema>;
    /// How lists compare and merge.
    fn list_type(&self) -> &ListType;
    /// Whether the other schema is of the same implementation and equal.
    fn equals(&self, other: &dyn ValueSchema) -> bool;
}

gantry_formats::text_enum! {
    /// The types of JSON Schema, and int-or-string.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the words of JSON Schema")]
    pub enum SchemaType {
        IntOrString = "integer,string",
        Object = "object",
        Array = "array",
        String = "string",
        Integer = "integer",
        Number = "number",
        Boolean = "boolean",
    }

    /// The name in a schema.
    pub fn name(self) -> &'static str;
}

/// `x-kubernetes-list-type`: how lists compare and merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    /// As a whole.
    #[default]
    Atomic,
    /// As a set of values.
    Set,
    /// As a map; the values of these properties are the key of an element.
    Map(Vec<String>),
}

impl SchemaType {
    /// The type that a schema names.
    pub fn read(schema: &Json) -> Option<Self> {
        if schema["x-kubernetes-int-or-string"] == true {
            return Some(Self::IntOrString);
        }
        Some(match schema["type"].as_str()? {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }
}

impl ListType {
    /// The list type that a schema names.
    pub fn read(schema: &Json) -> Self {
        match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Self::Set,
            Some("map") => {
                let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
                Self::Map(keys.filter_map(Json::as_str).map(str::to_owned).collect())
            }
            _ => Self::Atomic,
        }
    }
}

impl PartialEq for dyn ValueSchema {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

/// A schema with only the parts that expressions depend on.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PlainSchema {
    pub(crate) schema_type: Option<SchemaType>,
    pub(crate) format: String,
    pub(crate) nullable: bool,
    pub(crate) embedded: bool,
    pub(crate) properties: BTreeMap<String, PlainSchema>,
    pub(crate) additional: Option<Box<PlainSchema>>,
    pub(crate) items: Option<Box<PlainSchema>>,
    pub(crate) lists: ListType,
}

impl PlainSchema {
    /// The schema of a string.
    pub(crate) fn string() -> Self {
        Self { schema_type: Some(SchemaType::String), ..Self::default() }
    }

    /// The schema of an object with these properties, all of them strings.
    pub(crate) fn object_of_strings(names: &[&str]) -> Self {
        let properties = names.iter().map(|name| ((*name).to_owned(), Self::string())).collect();
        Self { schema_type: Some(SchemaType::Object), properties, ..Self::default() }
    }
}

impl ValueSchema for PlainSchema {
    fn schema_type(&self) -> Option<SchemaType> {
        self.schema_type
    }

    fn format(&self) -> &str {
        &self.format
    }

    fn is_nullable(&self) -> bool {
        self.nullable
    }

    fn is_embedded_resource(&self) -> bool {
        self.embedded
    }

    fn property(&self, name: &str) -> Option<&dyn ValueSchema> {
        self.properties.get(name).map(|property| property as &dyn ValueSchema)
    }

    fn has_properties(&self) -> bool {
        !self.properties.is_empty()
    }

    fn additional(&self) -> Option<&dyn ValueSchema> {
        self.additional.as_deref().map(|schema| schema as &dyn ValueSchema)
    }

    fn elements(&self) -> Option<&dyn ValueSchema> {
        self.items.as_deref().map(|schema| schema as &dyn ValueSchema)
    }

    fn list_type(&self) -> &ListType {
        &self.lists
    }

    fn equals(&self, other: &dyn ValueSchema) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}
