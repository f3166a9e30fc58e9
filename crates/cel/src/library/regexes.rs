//! Regular expressions: `matches`, `find` and `findAll`.
//!
//! Matching takes time proportional to pattern and text, and its cost is counted.

use std::sync::Arc;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::Value;
use gantry_primitives::Pattern;

pub(super) const FUNCTIONS: &[&str] = &[
    "string.matches(string) bool",
    "matches(string, string) bool",
    "string.find(string) string",
    "string.findAll(string) list<string>",
    "string.findAll(string, int) list<string>",
];

/// The cost of compiling a computed pattern, per character and per repetition.
const PER_LETTER: usize = 200;
const PER_PATTERN: usize = 20;
/// The size limit of a computed pattern, in bytes.
const SIZE: usize = 256 * 1024;
/// The size limit of a literal pattern, in bytes.
const SIZE_WRITTEN: usize = 4 * 1024 * 1024;

/// Compiles a literal pattern, once.
pub(crate) fn pattern(text: &str) -> Result<Arc<Pattern>, String> {
    Pattern::compiled(text, SIZE_WRITTEN).map(Arc::new)
}

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    let [Value::Text(_), Value::Text(pattern), ..] = args else { return None };
    let known = meter.pattern.clone().filter(|known| known.text() == &**pattern);
    let ready = match known {
        Some(known) => Ok(known),
        None => made_ready(pattern, meter),
    };
    Some(ready.and_then(|pattern| call_with(name, args, &pattern, meter)))
}

fn made_ready(text: &str, meter: &mut CostMeter) -> Result<Arc<Pattern>, EvaluationError> {
    meter.product(text.len() + PER_PATTERN, PER_LETTER)?;
    let pattern = Pattern::compiled(text, SIZE)
        .map_err(|why| EvaluationError::new(format!("error parsing regexp: {why}")))?;
    let pattern = Arc::new(pattern);
    meter.pattern = Some(Arc::clone(&pattern));
    Ok(pattern)
}

/// Calls a function with its compiled pattern.
pub(super) fn call_with<'a>(
    name: &str,
    args: &[Value<'a>],
    pattern: &Pattern,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    let Some(Value::Text(text)) = args.first() else { return Err(EvaluationError::no_overload()) };
    meter.product(text.len() / 10 + 1, pattern.text().len() / 4 + 1)?;
    match (name, &args[1..]) {
        ("matches", [_]) => Ok(Value::Bool(pattern.finds(text).next().is_some())),
        ("find", [_]) => Ok(Value::text(pattern.finds(text).next().unwrap_or_default().to_owned())),
        ("findAll", [_]) => all(pattern, text, usize::MAX, meter),
        ("findAll", [_, Value::Int(most)]) => {
            all(pattern, text, usize::try_from(*most).unwrap_or(usize::MAX), meter)
        }
        _ => Err(EvaluationError::no_overload()),
    }
}

fn all<'a>(
    pattern: &Pattern,
    text: &str,
    most: usize,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    let mut found = Vec::new();
    for one in pattern.finds(text).take(most) {
        meter.steps(1)?;
        found.push(Value::text(one.to_owned()));
    }
    Ok(Value::list(found))
}
