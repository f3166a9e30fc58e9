//! The structural schema of a custom kind, as data.
//!
//! Reading one never fails: definitions with an invalid schema are rejected when they are written.

mod alternatives;
mod constraints;
mod defaults;
mod evaluation;
mod expressions;
mod formats;
mod lists;
mod numbers;
mod outcome;
mod prune;
mod schema_path;
mod validate;

use std::any::Any;
use std::collections::BTreeMap;

use gantry_json::Value;

use gantry_cel::ValueSchema;
use gantry_primitives::Patterns;

pub use constraints::Constraints;
pub use expressions::before_of;
pub use gantry_cel::{ListType, SchemaType};
pub use schema_path::{Brackets, resolve};
pub use validate::ValidationResult;

use formats::Format;

/// The schema of a value and of everything in it.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct StructuralSchema {
    /// The type, if the schema has one.
    pub schema_type: Option<SchemaType>,
    /// The declared properties of an object.
    pub properties: BTreeMap<String, StructuralSchema>,
    /// The other properties that an object may have.
    pub values: AdditionalProperties,
    /// The elements of a list.
    pub items: Option<Box<StructuralSchema>>,
    /// The default; never `null`.
    pub default: Option<Value>,
    /// Whether it may be `null`.
    pub nullable: bool,
    /// Whether undeclared properties are kept.
    pub preserves_unknown: bool,
    /// Whether it is an object with `apiVersion`, `kind` and `metadata` of its own.
    pub embedded: bool,
    /// Whether it or any part of it is an embedded resource.
    pub has_embedded: bool,
    /// How lists merge.
    pub lists: ListType,
    /// How objects merge.
    pub maps: MapType,
    /// The constraints on a value; `None` if there are none.
    pub constraints: Option<Box<Constraints>>,
    /// Whether it or any part of it has rules.
    pub has_rules: bool,
}

/// Which properties an object may have besides those that are declared: `additionalProperties`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AdditionalProperties {
    /// None.
    #[default]
    None,
    /// Any.
    Any,
    /// Any whose value has this schema.
    Schema(Box<StructuralSchema>),
}

/// `x-kubernetes-map-type`: how objects merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapType {
    /// Property by property.
    #[default]
    Granular,
    /// As a whole.
    Atomic,
}

impl StructuralSchema {
    /// Reads a schema, such as `spec.versions[0].schema.openAPIV3Schema`.
    pub fn read(schema: &Value) -> Self {
        Self::read_with(schema, &mut Patterns::default())
    }

    /// Whether it is a string with a format. Ownership accepts any scalar for it; validation comes later.
    pub fn is_formatted_text(&self) -> bool {
        self.schema_type == Some(SchemaType::String)
            && self.constraints.as_ref().is_some_and(|constraints| constraints.is_formatted)
    }

    fn read_with(schema: &Value, patterns: &mut Patterns) -> Self {
        let is = |key: &str| schema[key] == true;
        let properties = schema["properties"].as_object().into_iter().flatten();
        let properties: BTreeMap<_, _> =
            properties.map(|(name, inner)| (name.to_string(), Self::read_with(inner, patterns))).collect();
        let values = AdditionalProperties::read(&schema["additionalProperties"], patterns);
        let items = schema.get("items").filter(|items| items.is_object());
        let items = items.map(|items| Box::new(Self::read_with(items, patterns)));
        let schema_type = SchemaType::read(schema);
        let embedded = is("x-kubernetes-embedded-resource");
        let has_embedded = embedded
            || items.as_ref().is_some_and(|items| items.has_embedded)
            || matches!(&values, AdditionalProperties::Schema(values) if values.has_embedded)
            || properties.values().any(|declared| declared.has_embedded);
        let mut structure = Self {
            schema_type,
            properties,
            values,
            items,
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            nullable: is("nullable"),
            preserves_unknown: is("x-kubernetes-preserve-unknown-fields"),
            embedded,
            has_embedded,
            lists: ListType::read(schema),
            maps: match schema["x-kubernetes-map-type"].as_str() {
                Some("atomic") => MapType::Atomic,
                _ => MapType::Granular,
            },
            constraints: Constraints::read(schema, schema_type, patterns),
            has_rules: false,
        };
        structure.has_rules = structure.contains_rules();
        structure
    }

    /// Whether it or any part of it has rules; the flags of its parts are set.
    fn contains_rules(&self) -> bool {
        let own = self.constraints.as_ref().is_some_and(|constraints| {
            !constraints.expressions.is_empty() || constraints.all_of.iter().any(|inner| inner.has_rules)
        });
        own || self.items.as_ref().is_some_and(|items| items.has_rules)
            || self.properties.values().any(|property| property.has_rules)
            || matches!(&self.values, AdditionalProperties::Schema(values) if values.has_rules)
    }
}

impl AdditionalProperties {
    fn read(additional: &Value, patterns: &mut Patterns) -> Self {
        match additional {
            Value::Bool(true) => Self::Any,
            Value::Object(_) => Self::Schema(Box::new(StructuralSchema::read_with(additional, patterns))),
            _ => Self::None,
        }
    }
}

impl ValueSchema for StructuralSchema {
    fn schema_type(&self) -> Option<SchemaType> {
        self.schema_type
    }

    fn format(&self) -> &str {
        self.constraints.as_ref().and_then(|constraints| constraints.format.as_ref()).map_or("", Format::name)
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
        match &self.values {
            AdditionalProperties::Schema(values) => Some(&**values),
            AdditionalProperties::None | AdditionalProperties::Any => None,
        }
    }

    fn elements(&self) -> Option<&dyn ValueSchema> {
        self.items.as_deref().map(|items| items as &dyn ValueSchema)
    }

    fn list_type(&self) -> &ListType {
        &self.lists
    }

    fn equals(&self, other: &dyn ValueSchema) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}
