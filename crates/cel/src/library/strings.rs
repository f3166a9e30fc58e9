//! Functions of strings, standard and extended. Positions are counted in characters.

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::Value;

pub(super) const FUNCTIONS: &[&str] = &[
    "string.contains(string) bool",
    "string.startsWith(string) bool",
    "string.endsWith(string) bool",
    "string.charAt(int) string",
    "string.indexOf(string) int",
    "string.indexOf(string, int) int",
    "string.lastIndexOf(string) int",
    "string.lastIndexOf(string, int) int",
    "string.lowerAscii() string",
    "string.upperAscii() string",
    "string.replace(string, string) string",
    "string.replace(string, string, int) string",
    "string.split(string) list<string>",
    "string.split(string, int) list<string>",
    "string.substring(int) string",
    "string.substring(int, int) string",
    "string.trim() string",
    "list<string>.join() string",
    "list<string>.join(string) string",
    "strings.quote(string) string",
];

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    let Some(Value::Text(text)) = args.first() else {
        return match (name, args) {
            ("join", [Value::List(list)]) => Some(join(&list.all(), "", meter)),
            ("join", [Value::List(list), Value::Text(between)]) => Some(join(&list.all(), between, meter)),
            _ => None,
        };
    };
    let looked_at = match (name, args) {
        ("startsWith" | "endsWith", [_, Value::Text(part)]) => part.len(),
        _ => text.len(),
    };
    if let Err(fault) = meter.traverse(looked_at) {
        return Some(Err(fault));
    }
    Some(Ok(match (name, &args[1..]) {
        ("contains", [Value::Text(part)]) => {
            if let Err(fault) = meter.product(text.len() / 10 + 1, part.len() / 10 + 1) {
                return Some(Err(fault));
            }
            Value::Bool(text.contains(&**part))
        }
        ("startsWith", [Value::Text(part)]) => Value::Bool(text.starts_with(&**part)),
        ("endsWith", [Value::Text(part)]) => Value::Bool(text.ends_with(&**part)),
        ("charAt", [Value::Int(at)]) => return Some(letter(text, *at)),
        ("indexOf", [Value::Text(part)]) => return Some(place(text, part, Some(0), false, meter)),
        ("indexOf", [Value::Text(part), Value::Int(from)]) => {
            return Some(place(text, part, Some(*from), false, meter));
        }
        ("lastIndexOf", [Value::Text(part)]) => return Some(place(text, part, None, true, meter)),
        ("lastIndexOf", [Value::Text(part), Value::Int(to)]) => {
            return Some(place(text, part, Some(*to), true, meter));
        }
        ("lowerAscii", []) => Value::text(text.to_ascii_lowercase()),
        ("upperAscii", []) => Value::text(text.to_ascii_uppercase()),
        ("trim", []) => Value::text(text.trim().to_owned()),
        ("replace", [Value::Text(from), Value::Text(to)]) => return Some(replace(text, from, to, -1, meter)),
        ("replace", [Value::Text(from), Value::Text(to), Value::Int(most)]) => {
            return Some(replace(text, from, to, *most, meter));
        }
        ("split", [Value::Text(at)]) => return Some(split(text, at, -1, meter)),
        ("split", [Value::Text(at), Value::Int(most)]) => return Some(split(text, at, *most, meter)),
        ("substring", [Value::Int(from)]) => {
            return Some(part(text, *from, i64::try_from(text.chars().count()).unwrap_or(i64::MAX)));
        }
        ("substring", [Value::Int(from), Value::Int(to)]) => return Some(part(text, *from, *to)),
        ("strings.quote", []) => Value::text(gantry_primitives::refusal::quoted(text)),
        _ => return None,
    }))
}

fn out_of_range<'a>(index: i64) -> Result<Value<'a>, EvaluationError> {
    Err(EvaluationError::new(format!("index out of range: {index}")))
}

fn letter<'a>(text: &str, at: i64) -> Result<Value<'a>, EvaluationError> {
    let count = text.chars().count();
    match usize::try_from(at) {
        Ok(at) if at <= count => Ok(Value::text(text.chars().nth(at).map(String::from).unwrap_or_default())),
        _ => out_of_range(at),
    }
}

fn part<'a>(text: &str, from: i64, to: i64) -> Result<Value<'a>, EvaluationError> {
    let count = text.chars().count();
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(first), Ok(last)) if first <= last && last <= count => {
            Ok(Value::text(text.chars().skip(first).take(last - first).collect::<String>()))
        }
        (Ok(first), Ok(last)) if last <= count && first > last => {
            Err(EvaluationError::new(format!("invalid substring range. start: {from}, end: {to}")))
        }
        (Ok(first), _) if first <= count => out_of_range(to),
        _ => out_of_range(from),
    }
}

/// The first or last index of a substring, from a position on or up to one.
fn place<'a>(
    text: &str,
    part: &str,
    bound: Option<i64>,
    last: bool,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    meter.product(text.len() / 10 + 1, part.len() / 10 + 1)?;
    let (letters, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    let bound = match bound {
        None => letters.len(),
        Some(bound) => match usize::try_from(bound) {
            Ok(at) if at <= letters.len() => at,
            _ => return out_of_range(bound),
        },
    };
    meter.product(letters.len() / 10 + 1, part.len() / 10 + 1)?;
    let fits = |at: &usize| letters.get(*at..).is_some_and(|rest| rest.starts_with(&part));
    let found = if last { (0..=bound).rev().find(fits) } else { (bound..=letters.len()).find(fits) };
    Ok(found.map_or(Value::Int(-1), Value::count))
}

fn replace<'a>(
    text: &str,
    from: &str,
    to: &str,
    most: i64,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let times = text.matches(from).count().min(most);
    meter.traverse(text.len().saturating_add(times.saturating_mul(to.len())))?;
    Ok(Value::text(text.replacen(from, to, times)))
}

fn split<'a>(text: &str, at: &str, most: i64, meter: &mut CostMeter) -> Result<Value<'a>, EvaluationError> {
    meter.steps(text.len() / 2)?;
    let parts = |most: usize| -> Vec<Value<'a>> {
        let part = |part: &str| Value::text(part.to_owned());
        if at.is_empty() {
            // Splits into characters; the last part holds the rest if there is a limit.
            let cut = text.char_indices().nth(most.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
            let (letters, rest) = text.split_at(cut);
            let letters = letters.chars().map(|letter| Value::text(letter.to_string()));
            return letters.chain((!rest.is_empty()).then(|| part(rest))).collect();
        }
        text.splitn(most, at).map(part).collect()
    };
    Ok(Value::list(match usize::try_from(most) {
        Ok(0) => Vec::new(),
        Ok(most) => parts(most),
        Err(_) => parts(usize::MAX),
    }))
}

fn join<'a>(
    parts: &Result<Vec<Value<'a>>, EvaluationError>,
    between: &str,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    let mut texts = Vec::new();
    for part in parts.as_ref().map_err(Clone::clone)? {
        let Value::Text(text) = part else { return Err(EvaluationError::no_overload()) };
        meter.traverse(text.len() + between.len())?;
        texts.push(&**text);
    }
    Ok(Value::text(texts.join(between)))
}
