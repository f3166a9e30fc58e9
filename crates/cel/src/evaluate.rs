//! Evaluation of expressions.
//!
//! `&&` and `||` ignore the error of one operand if the other decides the result.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::arithmetic;
use super::compare::{contains, equal, order};
use super::comprehensions;
use super::cost::{CostMeter, EvaluationError};
use super::library;
use super::syntax::{Expr, Literal, Mode, Node, Operator};
use super::text::Bytes;
use super::value::{Key, Value};

/// The variables in scope, innermost first.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s, 'a> {
    pub(super) name: &'s str,
    pub(super) value: &'s Value<'a>,
    pub(super) outer: Option<&'s Scope<'s, 'a>>,
}

pub(super) type Evaluated<'a> = Result<Value<'a>, EvaluationError>;

/// Evaluates an expression.
pub(super) fn evaluate<'a>(
    expr: &'a Expr,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut CostMeter,
) -> Evaluated<'a> {
    match &expr.node {
        Node::Literal(_) => meter.traverse(1)?,
        _ => meter.steps(1)?,
    }
    match &expr.node {
        Node::Literal(literal) => Ok(value_of(literal)),
        Node::Name(name) => {
            meter.traverse(name.len())?;
            named(name, scope)
        }
        Node::Select { of, field, mode } => {
            meter.traverse(field.len())?;
            select(&evaluate(of, scope, meter)?, field, *mode)
        }
        Node::Has { of, field } => {
            meter.traverse(field.len())?;
            has(&evaluate(of, scope, meter)?, field)
        }
        Node::Index { of, by, mode } => {
            let (of, by) = (evaluate(of, scope, meter)?, evaluate(by, scope, meter)?);
            index(&of, by.key(meter)?, *mode)
        }
        Node::List(elements) => {
            let mut list = Vec::with_capacity(elements.len());
            for (element, mode) in elements {
                list.extend(present(evaluate(element, scope, meter)?, *mode)?);
            }
            Ok(Value::list(list))
        }
        Node::Map(entries) => {
            let mut map = BTreeMap::new();
            for (key, value, mode) in entries {
                let key = evaluate(key, scope, meter)?;
                let key = key.key(meter)?.ok_or_else(|| EvaluationError::new("unsupported key type"))?;
                let Some(value) = present(evaluate(value, scope, meter)?, *mode)? else { continue };
                if map.contains_key(&key) {
                    return Err(EvaluationError::new(format!("repeated key: {}", key.shown())));
                }
                map.insert(key, value);
            }
            Ok(Value::map(map))
        }
        Node::Not(inner) => match evaluate(inner, scope, meter)? {
            Value::Bool(boolean) => Ok(Value::Bool(!boolean)),
            _ => Err(EvaluationError::no_overload()),
        },
        Node::Negative(inner) => arithmetic::negative(&evaluate(inner, scope, meter)?),
        Node::And(parts) => logic(parts.iter().map(|part| evaluate(part, scope, &mut *meter)), false),
        Node::Or(parts) => logic(parts.iter().map(|part| evaluate(part, scope, &mut *meter)), true),
        Node::Choice(parts) => {
            let [condition, then, otherwise] = &**parts;
            match evaluate(condition, scope, meter)? {
                Value::Bool(true) => evaluate(then, scope, meter),
                Value::Bool(false) => evaluate(otherwise, scope, meter),
                _ => Err(EvaluationError::no_overload()),
            }
        }
        Node::Binary(operator, sides) => {
            let [one, other] = &**sides;
            let (one, other) = (evaluate(one, scope, meter)?, evaluate(other, scope, meter)?);
            binary(*operator, &one, &other, meter)
        }
        Node::Call(call) => {
            let mut args = Vec::with_capacity(call.args.len());
            for arg in &call.args {
                args.push(evaluate(arg, scope, meter)?);
            }
            library::call(call, &args, meter)
        }
        Node::Loop(repeated) => comprehensions::evaluate(repeated, scope, meter),
        Node::IfPresent { of, name, then, wraps } => match evaluate(of, scope, meter)? {
            Value::Optional(None) => Ok(Value::Optional(None)),
            Value::Optional(Some(value)) => {
                let then = evaluate(then, Some(&Scope { name, value: &value, outer: scope }), meter)?;
                Ok(if *wraps { Value::some(then) } else { then })
            }
            _ => Err(EvaluationError::no_overload()),
        },
    }
}

/// Combines operands of `&&` or `||`: an operand that decides (`false` of `&&`, `true` of `||`) precedes errors;
/// otherwise the first error is the result.
pub(super) fn logic<'a>(parts: impl Iterator<Item = Evaluated<'a>>, decides: bool) -> Evaluated<'a> {
    let mut failed = None;
    for part in parts {
        match part {
            Ok(Value::Bool(boolean)) if boolean == decides => return Ok(Value::Bool(boolean)),
            Ok(Value::Bool(_)) => {}
            Ok(_) => failed = failed.or(Some(EvaluationError::no_overload())),
            Err(EvaluationError::CostExceeded) => return Err(EvaluationError::CostExceeded),
            Err(fault) => failed = failed.or(Some(fault)),
        }
    }
    failed.map_or(Ok(Value::Bool(!decides)), Err)
}

fn value_of(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(boolean) => Value::Bool(*boolean),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(number) => Value::Double(*number),
        Literal::Text(text) => Value::text(text.as_str()),
        Literal::Bytes(bytes) => Value::Bytes(Bytes::Written(bytes)),
    }
}

fn named<'a>(name: &str, scope: Option<&Scope<'_, 'a>>) -> Evaluated<'a> {
    let mut next = scope;
    while let Some(scope) = next {
        if scope.name == name {
            return Ok(scope.value.clone());
        }
        next = scope.outer;
    }
    library::type_named(name)
        .map(Value::Type)
        .ok_or_else(|| EvaluationError::new(format!("no such attribute(s): {name}")))
}

/// The value inside an optional.
fn present(value: Value<'_>, mode: Mode) -> Result<Option<Value<'_>>, EvaluationError> {
    match (mode, value) {
        (Mode::Plain, value) => Ok(Some(value)),
        (Mode::Optional, Value::Optional(inner)) => Ok(inner.map(|inner| (*inner).clone())),
        (Mode::Optional, _) => Err(EvaluationError::no_overload()),
    }
}

fn select<'a>(of: &Value<'a>, field: &'a str, mode: Mode) -> Evaluated<'a> {
    if let Value::Optional(inner) = of {
        return match inner {
            None => Ok(Value::Optional(None)),
            Some(inner) => optional(member(inner, field)?),
        };
    }
    match (member(of, field)?, mode) {
        (found, Mode::Optional) => optional(found),
        (Some(value), Mode::Plain) => value,
        (None, Mode::Plain) => Err(EvaluationError::new(format!("no such key: {field}"))),
    }
}

fn optional(found: Option<Evaluated<'_>>) -> Evaluated<'_> {
    found.map_or(Ok(Value::Optional(None)), |found| found.map(Value::some))
}

fn member<'a>(of: &Value<'a>, field: &'a str) -> Result<Option<Evaluated<'a>>, EvaluationError> {
    match of {
        Value::Object(object) => Ok(object.get(field)),
        Value::Map(map) => Ok(map.get(&Key::Text(field.into()))),
        _ => Err(EvaluationError::no_overload()),
    }
}

fn has<'a>(of: &Value<'a>, field: &'a str) -> Evaluated<'a> {
    let of = match of {
        Value::Optional(None) => return Ok(Value::Bool(false)),
        Value::Optional(Some(inner)) => inner,
        of => of,
    };
    member(of, field).map(|found| Value::Bool(found.is_some()))
}

fn index<'a>(of: &Value<'a>, by: Option<Key<'a>>, mode: Mode) -> Evaluated<'a> {
    let by = by.ok_or_else(EvaluationError::no_overload)?;
    match (of, mode) {
        (Value::Optional(None), _) => Ok(Value::Optional(None)),
        (Value::Optional(Some(inner)), _) => optional(element(inner, &by)?),
        (_, Mode::Optional) => optional(element(of, &by)?),
        (_, Mode::Plain) => element(of, &by)?.unwrap_or_else(|| {
            let why = if matches!(of, Value::List(_)) { "index out of bounds" } else { "no such key" };
            Err(EvaluationError::new(format!("{why}: {}", by.shown())))
        }),
    }
}

fn element<'a>(of: &Value<'a>, by: &Key<'a>) -> Result<Option<Evaluated<'a>>, EvaluationError> {
    match (of, by) {
        (Value::List(list), Key::Number(index)) => {
            Ok(usize::try_from(*index).ok().and_then(|index| list.get(index)))
        }
        (Value::Map(map), key) => Ok(map.get(key)),
        _ => Err(EvaluationError::no_overload()),
    }
}

fn binary<'a>(
    operator: Operator,
    one: &Value<'a>,
    other: &Value<'a>,
    meter: &mut CostMeter,
) -> Evaluated<'a> {
    let boolean = match operator {
        Operator::Equal => equal(one, other, meter)?,
        Operator::NotEqual => !equal(one, other, meter)?,
        Operator::Less => order(one, other, meter)?.is_some_and(Ordering::is_lt),
        Operator::LessOrEqual => order(one, other, meter)?.is_some_and(Ordering::is_le),
        Operator::Greater => order(one, other, meter)?.is_some_and(Ordering::is_gt),
        Operator::GreaterOrEqual => order(one, other, meter)?.is_some_and(Ordering::is_ge),
        Operator::In => match other {
            Value::List(list) => contains(list, one, meter)?,
            Value::Map(map) => one.key(meter)?.is_some_and(|key| map.get(&key).is_some()),
            _ => return Err(EvaluationError::no_overload()),
        },
        _ => return arithmetic::apply(operator, one, other, meter),
    };
    Ok(Value::Bool(boolean))
}
