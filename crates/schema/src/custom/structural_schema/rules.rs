//! What a schema demands of a value beyond its type.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::expressions::Expression;
use super::formats::Format;
use super::{Basic, Structure};
use gantry_primitives::{Pattern, Patterns};

/// What a schema demands of a value beyond its type, each only if it is demanded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub(super) format: Option<Format>,
    pub(super) choices: Vec<Value>,
    pub(super) number: NumberRules,
    pub(super) text: TextRules,
    pub(super) items: Count,
    pub(super) unique_items: bool,
    pub(super) members: Count,
    pub(super) required: Vec<String>,
    pub(super) all_of: Vec<Structure>,
    pub(super) any_of: Vec<Structure>,
    pub(super) one_of: Vec<Structure>,
    pub(super) not: Option<Structure>,
    /// Whether it has a format beyond that of bytes, known or not.
    pub(super) is_formatted: bool,
    /// What is demanded by expressions, `x-kubernetes-validations`.
    pub(super) expressions: Vec<Arc<Expression>>,
}

/// How large a number may be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NumberRules {
    pub(super) least: Option<Bound>,
    pub(super) most: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
}

/// An end of a range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) at: f64,
    /// Whether the number itself is out of range.
    pub(super) is_exclusive: bool,
}

/// What a text may look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TextRules {
    pub(super) length: Count,
    pub(super) pattern: Option<Arc<Pattern>>,
}

/// How many there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

impl Rules {
    /// Those that demand nothing.
    pub(super) fn none() -> &'static Self {
        static NONE: LazyLock<Rules> = LazyLock::new(Rules::default);
        &NONE
    }

    /// Reads what a schema demands; `None` if that is nothing.
    pub(super) fn read(schema: &Value, basic: Option<Basic>, patterns: &mut Patterns) -> Option<Box<Self>> {
        let mut several = |key: &str| -> Vec<Structure> {
            let schemas = schema[key].as_array().into_iter().flatten();
            schemas.map(|inner| Structure::read_with(inner, patterns)).collect()
        };
        let (all_of, any_of, one_of) = (several("allOf"), several("anyOf"), several("oneOf"));
        let required = schema["required"].as_array().into_iter().flatten();
        let rules = Self {
            format: schema["format"].as_str().and_then(|format| Format::read(format, basic)),
            choices: schema["enum"].as_array().cloned().unwrap_or_default(),
            number: NumberRules::read(schema),
            text: TextRules {
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
            not: schema["not"].is_object().then(|| Structure::read_with(&schema["not"], patterns)),
            is_formatted: schema["format"].as_str().is_some_and(|format| !matches!(format, "" | "byte")),
            expressions: Expression::read_all(schema),
        };
        (rules != Self::default()).then(|| Box::new(rules))
    }
}

impl NumberRules {
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
