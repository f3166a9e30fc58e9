//! CEL, the expressions in which definitions of custom kinds write rules.
//!
//! A text is parsed (`syntax`), checked against the types of what it is about (`check`, `types`) and evaluated
//! (`evaluate`) on values that stay where they are (`value`, `data`). What can be called is in `library`. An
//! evaluation is bounded in steps (`meter`) and in depth, and knows no clock and no order but that of its data.
//!
//! What a rule means for an object, when it is evaluated and what is said, is not here: see `custom`.

mod arithmetic;
mod check;
mod compare;
mod data;
mod evaluate;
mod library;
mod meter;
mod names;
mod repeat;
mod schema;
mod syntax;
mod text;
mod time;
mod types;
mod value;

#[cfg(test)]
mod tests;

use serde_json::Value as Json;

use evaluate::Scope;
use syntax::Expr;
use types::Type;
use value::Value;

pub use meter::{Fault, Meter};
pub use schema::{Basic, Lists, Schema};

/// The value that is judged.
const SELF: &str = "self";
/// What it was before.
const OLD_SELF: &str = "oldSelf";

/// How an expression knows what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// As a value; without one it is not evaluated.
    Value,
    /// As one that may be missing.
    Optional,
}

/// What an expression has to evaluate to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `true` or `false`.
    Truth,
    /// A text.
    Text,
}

/// Why an expression is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// What is wrong with it, place by place.
    Text(String),
    /// It evaluates to something else.
    Result,
}

/// An expression that can be evaluated.
#[derive(Debug)]
pub struct Program {
    expr: Expr,
}

/// What an expression is about.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// `self`.
    pub value: &'a Json,
    /// `oldSelf`, if it is known.
    pub old: Option<&'a Json>,
    /// The schema of both.
    pub schema: &'a dyn Schema,
    /// Whether they are whole resources, whose kind and name can be seen without being declared.
    pub is_resource: bool,
}

impl Program {
    /// Reads an expression.
    pub fn read(text: &str) -> Result<Self, String> {
        syntax::parse(text).map(|expr| Self { expr }).map_err(|complaint| complaint.shown(text))
    }

    /// Checks an expression about what a schema describes; `text` is what it was read from.
    pub fn check(
        &self,
        text: &str,
        (schema, is_resource): (&dyn Schema, bool),
        before: Before,
        wanted: Wanted,
    ) -> Result<(), Unfit> {
        let kind = Type::of(schema, is_resource).unwrap_or(Type::Dyn);
        let old = match before {
            Before::Value => kind.clone(),
            Before::Optional => Type::Optional(kind.clone().into()),
        };
        let outer = check::Scope { name: OLD_SELF, kind: &old, outer: None };
        let scope = check::Scope { name: SELF, kind: &kind, outer: Some(&outer) };
        let (result, complaints) = check::check(&self.expr, &scope);
        if !complaints.is_empty() {
            let shown: Vec<_> = complaints.iter().map(|complaint| complaint.shown(text)).collect();
            return Err(Unfit::Text(shown.join("\n")));
        }
        let wanted = match wanted {
            Wanted::Truth => Type::Bool,
            Wanted::Text => Type::Text,
        };
        if result == wanted || result == Type::Dyn { Ok(()) } else { Err(Unfit::Result) }
    }

    /// Whether it is about what was before.
    pub fn is_transition(&self) -> bool {
        self.expr.mentions(OLD_SELF)
    }

    /// Evaluates an expression that is true or false.
    pub fn truth(&self, about: Subject<'_>, before: Before, meter: &mut Meter) -> Result<bool, Fault> {
        self.evaluate(about, before, meter, |value| match value {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        })
    }

    /// Evaluates an expression that is a text.
    pub fn text(&self, about: Subject<'_>, before: Before, meter: &mut Meter) -> Result<String, Fault> {
        self.evaluate(about, before, meter, |value| match value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        })
    }

    fn evaluate<T>(
        &self,
        about: Subject<'_>,
        before: Before,
        meter: &mut Meter,
        take: impl Fn(&Value<'_>) -> Option<T>,
    ) -> Result<T, Fault> {
        let read = |json| data::read_as(json, about.schema, about.is_resource);
        let value = read(about.value)?;
        let old = about.old.map(read).transpose()?;
        let old = match before {
            Before::Value => old,
            Before::Optional => Some(old.map_or(Value::Optional(None), Value::some)),
        };
        let outer = old.as_ref().map(|value| Scope { name: OLD_SELF, value, outer: None });
        let scope = Scope { name: SELF, value: &value, outer: outer.as_ref() };
        let result = evaluate::evaluate(&self.expr, Some(&scope), meter)?;
        take(&result).ok_or_else(Fault::no_overload)
    }
}

/// Whether expressions can see what a schema describes.
pub fn sees(schema: &dyn Schema, is_resource: bool) -> bool {
    Type::of(schema, is_resource).is_some()
}
