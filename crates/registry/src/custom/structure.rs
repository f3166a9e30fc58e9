//! What objects of a custom kind look like: an OpenAPI schema of the structural kind, as data.
//!
//! Reading one never fails: what makes no sense was refused when its definition was written.

use std::collections::BTreeMap;

use serde_json::Value;

/// The schema of a value, and of everything in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    /// The type; `None` where anything goes.
    pub basic: Option<Basic>,
    /// The members of an object that are declared.
    pub properties: BTreeMap<String, Structure>,
    /// What other members an object may have.
    pub values: Values,
    /// The elements of a list.
    pub items: Option<Box<Structure>>,
    /// What it is when it is left out.
    pub default: Option<Value>,
    /// Whether it may be `null`.
    pub nullable: bool,
    /// Whether members that are not declared are kept.
    pub preserves_unknown: bool,
    /// Whether it is an object with kind, version and metadata of its own.
    pub embedded: bool,
    /// How lists merge.
    pub lists: Lists,
    /// How objects merge.
    pub maps: Maps,
}

/// The types of JSON, as a schema names them, and the one that is two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of JSON Schema")]
pub enum Basic {
    IntOrString,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
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

/// `x-kubernetes-list-type`: how lists merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lists {
    /// As a whole.
    #[default]
    Atomic,
    /// Each value is there or not.
    Set,
    /// Each element is known by the values of these members.
    Map(Vec<String>),
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
        let is = |key: &str| schema[key] == true;
        let properties = schema["properties"].as_object().into_iter().flatten();
        Self {
            basic: Basic::read(schema),
            properties: properties.map(|(name, inner)| (name.clone(), Self::read(inner))).collect(),
            values: Values::read(&schema["additionalProperties"]),
            items: schema
                .get("items")
                .filter(|items| items.is_object())
                .map(|items| Box::new(Self::read(items))),
            default: schema.get("default").cloned(),
            nullable: is("nullable"),
            preserves_unknown: is("x-kubernetes-preserve-unknown-fields"),
            embedded: is("x-kubernetes-embedded-resource"),
            lists: Lists::read(schema),
            maps: match schema["x-kubernetes-map-type"].as_str() {
                Some("atomic") => Maps::Atomic,
                _ => Maps::Granular,
            },
        }
    }
}

impl Basic {
    fn read(schema: &Value) -> Option<Self> {
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

impl Values {
    fn read(additional: &Value) -> Self {
        match additional {
            Value::Bool(true) => Self::Any,
            Value::Object(_) => Self::Like(Box::new(Structure::read(additional))),
            _ => Self::None,
        }
    }
}

impl Lists {
    fn read(schema: &Value) -> Self {
        match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Self::Set,
            Some("map") => {
                let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
                Self::Map(keys.filter_map(Value::as_str).map(str::to_owned).collect())
            }
            _ => Self::Atomic,
        }
    }
}
