//! What objects of a custom kind look like: an OpenAPI schema of the structural kind, as data.
//!
//! Reading one never fails: what makes no sense was refused when its definition was written.

mod alternatives;
mod evaluation;
mod expressions;
mod fill;
mod formats;
mod lists;
mod numbers;
mod outcome;
mod prune;
mod rules;
mod schema_path;
mod validate;

use std::any::Any;
use std::collections::BTreeMap;

use serde_json::Value;

use gantry_cel::Schema;
use gantry_primitives::Patterns;

pub use expressions::before_of;
pub use gantry_cel::{Basic, Lists};
pub use rules::Rules;
pub use schema_path::{Brackets, resolve};
pub use validate::ValidationResult;

use formats::Format;

/// The schema of a value, and of everything in it.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "schemas say yes or no to these, each for itself")]
pub struct Structure {
    /// The type; `None` where anything goes.
    pub basic: Option<Basic>,
    /// The members of an object that are declared.
    pub properties: BTreeMap<String, Structure>,
    /// What other members an object may have.
    pub values: Values,
    /// The elements of a list.
    pub items: Option<Box<Structure>>,
    /// What it is when it is left out; never `null`, which is the same as none.
    pub default: Option<Value>,
    /// Whether it may be `null`.
    pub nullable: bool,
    /// Whether members that are not declared are kept.
    pub preserves_unknown: bool,
    /// Whether it is an object with kind, version and metadata of its own.
    pub embedded: bool,
    /// What is to be found in it, itself included.
    pub holds: Holds,
    /// How lists merge.
    pub lists: Lists,
    /// How objects merge.
    pub maps: Maps,
    /// What else is demanded of a value; `None` if it is nothing.
    pub rules: Option<Box<Rules>>,
    /// Whether there are rules written as expressions in it, or in any part of it.
    pub is_ruled: bool,
}

/// What members an object may have besides those that are declared: `additionalProperties`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Values {
    /// None.
    #[default]
    None,
    /// Any at all.
    Any,
    /// Those of which the value looks like this.
    Like(Box<Structure>),
}

/// Whether a value, or anything in it, is an object with kind, version and metadata of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// No such object.
    #[default]
    None,
    /// Perhaps some.
    Objects,
}

/// `x-kubernetes-map-type`: how objects merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maps {
    /// Member by member.
    #[default]
    Granular,
    /// As a whole.
    Atomic,
}

impl Structure {
    /// Reads a schema, such as `spec.versions[0].schema.openAPIV3Schema`.
    pub fn read(schema: &Value) -> Self {
        Self::read_with(schema, &mut Patterns::default())
    }

    /// Whether it is text of some format. Ownership takes any scalar for it: judging it comes later.
    pub fn is_formatted_text(&self) -> bool {
        self.basic == Some(Basic::String) && self.rules.as_ref().is_some_and(|rules| rules.is_formatted)
    }

    fn read_with(schema: &Value, patterns: &mut Patterns) -> Self {
        let is = |key: &str| schema[key] == true;
        let properties = schema["properties"].as_object().into_iter().flatten();
        let properties: BTreeMap<_, _> =
            properties.map(|(name, inner)| (name.clone(), Self::read_with(inner, patterns))).collect();
        let values = Values::read(&schema["additionalProperties"], patterns);
        let items = schema.get("items").filter(|items| items.is_object());
        let items = items.map(|items| Box::new(Self::read_with(items, patterns)));
        let basic = Basic::read(schema);
        let embedded = is("x-kubernetes-embedded-resource");
        let holds_some = embedded
            || items.as_ref().is_some_and(|items| items.holds == Holds::Objects)
            || matches!(&values, Values::Like(values) if values.holds == Holds::Objects)
            || properties.values().any(|declared| declared.holds == Holds::Objects);
        let mut structure = Self {
            basic,
            properties,
            values,
            items,
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            nullable: is("nullable"),
            preserves_unknown: is("x-kubernetes-preserve-unknown-fields"),
            embedded,
            holds: if holds_some { Holds::Objects } else { Holds::None },
            lists: Lists::read(schema),
            maps: match schema["x-kubernetes-map-type"].as_str() {
                Some("atomic") => Maps::Atomic,
                _ => Maps::Granular,
            },
            rules: Rules::read(schema, basic, patterns),
            is_ruled: false,
        };
        structure.is_ruled = structure.has_rules();
        structure
    }

    /// Looks no deeper than it must: its parts know for themselves.
    fn has_rules(&self) -> bool {
        let own = self.rules.as_ref().is_some_and(|rules| {
            !rules.expressions.is_empty() || rules.all_of.iter().any(|inner| inner.is_ruled)
        });
        own || self.items.as_ref().is_some_and(|items| items.is_ruled)
            || self.properties.values().any(|property| property.is_ruled)
            || matches!(&self.values, Values::Like(values) if values.is_ruled)
    }
}

impl Values {
    fn read(additional: &Value, patterns: &mut Patterns) -> Self {
        match additional {
            Value::Bool(true) => Self::Any,
            Value::Object(_) => Self::Like(Box::new(Structure::read_with(additional, patterns))),
            _ => Self::None,
        }
    }
}

impl Schema for Structure {
    fn basic(&self) -> Option<Basic> {
        self.basic
    }

    fn format(&self) -> &str {
        self.rules.as_ref().and_then(|rules| rules.format.as_ref()).map_or("", Format::name)
    }

    fn is_nullable(&self) -> bool {
        self.nullable
    }

    fn is_embedded_resource(&self) -> bool {
        self.embedded
    }

    fn property(&self, name: &str) -> Option<&dyn Schema> {
        self.properties.get(name).map(|property| property as &dyn Schema)
    }

    fn has_properties(&self) -> bool {
        !self.properties.is_empty()
    }

    fn additional(&self) -> Option<&dyn Schema> {
        match &self.values {
            Values::Like(values) => Some(&**values),
            Values::None | Values::Any => None,
        }
    }

    fn elements(&self) -> Option<&dyn Schema> {
        self.items.as_deref().map(|items| items as &dyn Schema)
    }

    fn list_type(&self) -> &Lists {
        &self.lists
    }

    fn equals(&self, other: &dyn Schema) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}
