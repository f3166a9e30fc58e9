//! Patterns: `matches`, `find` and `findAll`.
//!
//! The engine takes time in proportion to pattern and text, never more; both are counted.

use std::sync::Arc;

use super::Called;
use crate::meter::{Fault, Meter};
use crate::value::Value;
use gantry_primitives::Pattern;

pub(super) const FUNCTIONS: &[&str] = &[
    "string.matches(string) bool",
    "matches(string, string) bool",
    "string.find(string) string",
    "string.findAll(string) list<string>",
    "string.findAll(string, int) list<string>",
];

/// What making ready a pattern costs that is not written out, for each of its letters and those that it counts as more.
const PER_LETTER: usize = 200;
const PER_PATTERN: usize = 20;
/// How large such a pattern may become, in bytes.
const SIZE: usize = 256 * 1024;
/// How large one may become that is written out.
const SIZE_WRITTEN: usize = 4 * 1024 * 1024;

/// The pattern of a text, made ready once.
pub(crate) fn pattern(text: &str) -> Result<Arc<Pattern>, String> {
    Pattern::compiled(text, SIZE_WRITTEN).map(Arc::new)
}

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut Meter) -> Called<'a> {
    let [Value::Text(_), Value::Text(pattern), ..] = args else { return None };
    let known = meter.pattern.clone().filter(|known| known.text() == &**pattern);
    let ready = match known {
        Some(known) => Ok(known),
        None => made_ready(pattern, meter),
    };
    Some(ready.and_then(|pattern| call_with(name, args, &pattern, meter)))
}

fn made_ready(text: &str, meter: &mut Meter) -> Result<Arc<Pattern>, Fault> {
    meter.product(text.len() + PER_PATTERN, PER_LETTER)?;
    let pattern =
        Pattern::compiled(text, SIZE).map_err(|why| Fault::new(format!("error parsing regexp: {why}")))?;
    let pattern = Arc::new(pattern);
    meter.pattern = Some(Arc::clone(&pattern));
    Ok(pattern)
}

/// Calls a function with its pattern made ready.
pub(super) fn call_with<'a>(
    name: &str,
    args: &[Value<'a>],
    pattern: &Pattern,
    meter: &mut Meter,
) -> Result<Value<'a>, Fault> {
    let Some(Value::Text(text)) = args.first() else { return Err(Fault::no_overload()) };
    meter.product(text.len() / 10 + 1, pattern.text().len() / 4 + 1)?;
    match (name, &args[1..]) {
        ("matches", [_]) => Ok(Value::Bool(pattern.finds(text).next().is_some())),
        ("find", [_]) => Ok(Value::text(pattern.finds(text).next().unwrap_or_default().to_owned())),
        ("findAll", [_]) => all(pattern, text, usize::MAX, meter),
        ("findAll", [_, Value::Int(most)]) => {
            all(pattern, text, usize::try_from(*most).unwrap_or(usize::MAX), meter)
        }
        _ => Err(Fault::no_overload()),
    }
}

fn all<'a>(pattern: &Pattern, text: &str, most: usize, meter: &mut Meter) -> Result<Value<'a>, Fault> {
    let mut found = Vec::new();
    for one in pattern.finds(text).take(most) {
        meter.steps(1)?;
        found.push(Value::text(one.to_owned()));
    }
    Ok(Value::list(found))
}
