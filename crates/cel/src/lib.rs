//! CEL, the Common Expression Language, in which definitions of custom kinds write rules.
//!
//! An expression is parsed (`syntax`), type-checked (`check`, `types`) and evaluated (`evaluate`) on values that
//! borrow from the object (`value`, `data`). The functions are in `library`. The cost of an evaluation is limited
//! (`cost`), and so is its depth; it depends on nothing but its input.
//!
//! *Invariant:* this crate depends on no Kubernetes object and no definition. `gantry_schema::custom` decides when
//! rules are evaluated and how their errors are reported.

mod arithmetic;
mod check;
mod compare;
mod comprehensions;
mod cost;
mod data;
mod evaluate;
mod identifiers;
mod library;
mod schema;
mod syntax;
mod text;
mod time;
mod types;
mod value;

#[cfg(test)]
mod tests;

use gantry_json::Value as Json;

use evaluate::Scope;
use syntax::Expr;
use types::Type;
use value::Value;

pub use cost::{CostMeter, EvaluationError};
pub use schema::{ListType, SchemaType, ValueSchema};

/// The variable for the validated value.
const SELF: &str = "self";
/// The variable for the value before the change.
const OLD_SELF: &str = "oldSelf";

/// How an expression refers to the value before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldSelf {
    /// As a plain value: without one, the expression is not evaluated.
    Required,
    /// As an optional.
    Optional,
}

/// The type that an expression must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// `true` or `false`.
    Bool,
    /// A string.
    String,
}

/// Why an expression is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The errors with their positions, as lines of text.
    Invalid(String),
    /// Its type is not the required one.
    ResultType,
}

/// A parsed expression.
#[derive(Debug)]
pub struct Program {
    expr: Expr,
}

/// The input of an evaluation.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// `self`.
    pub value: &'a Json,
    /// `oldSelf`, if it is known.
    pub old: Option<&'a Json>,
    /// The schema of both.
    pub schema: &'a dyn ValueSchema,
    /// Whether they are resources, whose kind and name are visible without being declared.
    pub is_resource: bool,
}

impl Program {
    /// Parses an expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        syntax::parse(text).map(|expr| Self { expr }).map_err(|error| error.shown(text))
    }

    /// Type-checks an expression against a schema; `text` is its source.
    pub fn check(
        &self,
        text: &str,
        (schema, is_resource): (&dyn ValueSchema, bool),
        old_self: OldSelf,
        required: ResultType,
    ) -> Result<(), CheckError> {
        let kind = Type::of(schema, is_resource).unwrap_or(Type::Dyn);
        let old = match old_self {
            OldSelf::Required => kind.clone(),
            OldSelf::Optional => Type::Optional(kind.clone().into()),
        };
        let outer = check::Scope { name: OLD_SELF, kind: &old, outer: None };
        let scope = check::Scope { name: SELF, kind: &kind, outer: Some(&outer) };
        let (result, errors) = check::check(&self.expr, &scope);
        if !errors.is_empty() {
            let shown: Vec<_> = errors.iter().map(|error| error.shown(text)).collect();
            return Err(CheckError::Invalid(shown.join("\n")));
        }
        let required = match required {
            ResultType::Bool => Type::Bool,
            ResultType::String => Type::Text,
        };
        if result == required || result == Type::Dyn { Ok(()) } else { Err(CheckError::ResultType) }
    }

    /// Whether it mentions the value before the change.
    pub fn is_transition(&self) -> bool {
        self.expr.mentions(OLD_SELF)
    }

    /// Evaluates an expression of type bool.
    pub fn evaluate_bool(
        &self,
        input: Input<'_>,
        old_self: OldSelf,
        meter: &mut CostMeter,
    ) -> Result<bool, EvaluationError> {
        self.evaluate(input, old_self, meter, |value| match value {
            Value::Bool(boolean) => Some(*boolean),
            _ => None,
        })
    }

    /// Evaluates an expression of type string.
    pub fn evaluate_string(
        &self,
        input: Input<'_>,
        old_self: OldSelf,
        meter: &mut CostMeter,
    ) -> Result<String, EvaluationError> {
        self.evaluate(input, old_self, meter, |value| match value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        })
    }

    fn evaluate<T>(
        &self,
        input: Input<'_>,
        old_self: OldSelf,
        meter: &mut CostMeter,
        take: impl Fn(&Value<'_>) -> Option<T>,
    ) -> Result<T, EvaluationError> {
        let read = |json| data::read_as(json, input.schema, input.is_resource);
        let value = read(input.value)?;
        let old = input.old.map(read).transpose()?;
        let old = match old_self {
            OldSelf::Required => old,
            OldSelf::Optional => Some(old.map_or(Value::Optional(None), Value::some)),
        };
        let outer = old.as_ref().map(|value| Scope { name: OLD_SELF, value, outer: None });
        let scope = Scope { name: SELF, value: &value, outer: outer.as_ref() };
        let result = evaluate::evaluate(&self.expr, Some(&scope), meter)?;
        take(&result).ok_or_else(EvaluationError::no_overload)
    }
}

/// Whether values of a schema are visible to expressions.
pub fn is_visible(schema: &dyn ValueSchema, is_resource: bool) -> bool {
    Type::of(schema, is_resource).is_some()
}
