//! The constraints of a schema on a value, beyond its type.

use std::sync::{Arc, LazyLock};

use gantry_json::Value;

use super::expressions::Expression;
use super::formats::Format;
use super::{SchemaType, StructuralSchema};
use gantry_primitives::{Pattern, Patterns};

/// The constraints of a schema on a value, beyond its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    pub(super) format: Option<Format>,
    pub(super) choices: Vec<Value>,
    pub(super) number: NumberConstraints,
    pub(super) text: TextConstraints,
    pub(super) items: Count,
    pub(super) unique_items: bool,
    pub(super) members: Count,
    pub(super) required: Vec<String>,
    pub(super) all_of: Vec<StructuralSchema>,
    pub(super) any_of: Vec<StructuralSchema>,
    pub(super) one_of: Vec<StructuralSchema>,
    pub(super) not: Option<StructuralSchema>,
    /// Whether the schema names a format other than `byte`, known or not.
    pub(super) is_formatted: bool,
    /// The rules of `x-kubernetes-validations`.
    pub(super) expressions: Vec<Arc<Expression>>,
}

/// The range of a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NumberConstraints {
    pub(super) least: Option<Bound>,
    pub(super) most: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
}

/// A bound of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) at: f64,
    /// Whether the bound itself is out of range.
    pub(super) is_exclusive: bool,
}

/// The length and pattern of a string.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TextConstraints {
    pub(super) length: Count,
    pub(super) pattern: Option<Arc<Pattern>>,
}

/// The range of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

impl Constraints {
    /// No constraints.
    pub(super) fn none() -> &'static Self {
        static NONE: LazyLock<Constraints> = LazyLock::new(Constraints::default);
        &NONE
    }

    /// Reads the constraints of a schema; `None` if it has none.
    pub(super) fn read(
        schema: &Value,
        schema_type: Option<SchemaType>,
        patterns: &mut Patterns,
    ) -> Option<Box<Self>> {
        let mut several = |key: &str| -> Vec<StructuralSchema> {
            let schemas = schema[key].as_array().into_iter().flatten();
            schemas.map(|inner| StructuralSchema::read_with(inner, patterns)).collect()
        };
        let (all_of, any_of, one_of) = (several("allOf"), several("anyOf"), several("oneOf"));
        let required = schema["required"].as_array().into_iter().flatten();
        let constraints = Self {
            format: schema["format"].as_str().and_then(|format| Format::read(format, schema_type)),
            choices: schema["enum"].as_array().cloned().unwrap_or_default(),
            number: NumberConstraints::read(schema),
            text: TextConstraints {
                length: Count::read(schema, "minLength", "maxLength"),
                pattern: schema["pattern"]
                    .as_str()
                    .filter(|text| !text.is_empty())
                    .map(|text| patterns.get(text)),
            },
            items: Count::read(schema, "minItems", "maxItems"),
            unique_items: schema["uniqueItems"] == true,
            members: Count::read(schema, "minProperties", "maxProperties"),
            required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
            all_of,
            any_of,
            one_of,
            not: schema["not"].is_object().then(|| StructuralSchema::read_with(&schema["not"], patterns)),
            is_formatted: schema["format"].as_str().is_some_and(|format| !matches!(format, "" | "byte")),
            expressions: Expression::read_all(schema),
        };
        (constraints != Self::default()).then(|| Box::new(constraints))
    }
}

impl NumberConstraints {
    fn read(schema: &Value) -> Self {
        let bound = |key: &str, exclusive: &str| {
            schema[key].as_f64().map(|at| Bound { at, is_exclusive: schema[exclusive] == true })
        };
        Self {
            least: bound("minimum", "exclusiveMinimum"),
            most: bound("maximum", "exclusiveMaximum"),
            multiple_of: schema["multipleOf"].as_f64(),
        }
    }
}

impl Count {
    fn read(schema: &Value, least: &str, most: &str) -> Self {
        let read = |key: &str| schema[key].as_u64().map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        Self { least: read(least), most: read(most) }
    }
}
