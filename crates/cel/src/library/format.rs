//! `"%s has %d".format([name, count])`.

use std::fmt::Write;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::time;
use crate::value::{List, Value};
use gantry_primitives::refusal::go_float;

pub(super) const FUNCTIONS: &[&str] = &["string.format(list<dyn>) string"];

/// The most digits that are printed.
const MOST_DIGITS: usize = 100;

pub(super) fn call<'a>(_: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    match args {
        [Value::Text(form), Value::List(list)] => Some(formatted(form, list, meter).map(Value::text)),
        _ => None,
    }
}

fn formatted(form: &str, list: &List<'_>, meter: &mut CostMeter) -> Result<String, EvaluationError> {
    meter.traverse(form.len())?;
    let mut out = String::new();
    let mut values = list.iter();
    let mut rest = form;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let mut digits = 6;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
            digits = after[..end].parse().map_err(|_| EvaluationError::new("could not parse precision"))?;
            rest = &after[end..];
        }
        let mut letters = rest.chars();
        let verb = letters.next().ok_or_else(|| EvaluationError::new("unexpected end of string"))?;
        rest = letters.as_str();
        let value = values.next().ok_or_else(|| EvaluationError::new("index out of range"))??;
        one(&mut out, verb, digits.min(MOST_DIGITS), &value, meter)?;
    }
    out.push_str(rest);
    Ok(out)
}

fn one(
    out: &mut String,
    verb: char,
    digits: usize,
    value: &Value<'_>,
    meter: &mut CostMeter,
) -> Result<(), EvaluationError> {
    let before = out.len();
    let wrong = || {
        EvaluationError::new(format!("error during formatting: %{verb} does not take {}", value.type_name()))
    };
    match (verb, value) {
        ('s', value) => shown(out, value, meter)?,
        ('d', Value::Int(number)) => _ = write!(out, "{number}"),
        ('d', Value::Uint(number)) => _ = write!(out, "{number}"),
        ('d', Value::Double(number)) if !number.is_finite() => out.push_str(&real(*number)),
        ('f', Value::Double(number)) if number.is_finite() => _ = write!(out, "{number:.digits$}"),
        ('e', Value::Double(number)) if number.is_finite() => scientific(out, *number, digits),
        ('f' | 'e', Value::Double(number)) => out.push_str(&real(*number)),
        ('b', Value::Int(number)) => signed(out, *number, |number| format!("{number:b}")),
        ('b', Value::Uint(number)) => _ = write!(out, "{number:b}"),
        ('b', Value::Bool(boolean)) => out.push(if *boolean { '1' } else { '0' }),
        ('o', Value::Int(number)) => signed(out, *number, |number| format!("{number:o}")),
        ('o', Value::Uint(number)) => _ = write!(out, "{number:o}"),
        ('x' | 'X', value) => {
            let mut text = String::new();
            match value {
                Value::Int(number) => signed(&mut text, *number, |number| format!("{number:x}")),
                Value::Uint(number) => _ = write!(text, "{number:x}"),
                Value::Text(of) => of.bytes().for_each(|byte| _ = write!(text, "{byte:02x}")),
                Value::Bytes(of) => of.read(meter)?.iter().for_each(|byte| _ = write!(text, "{byte:02x}")),
                _ => return Err(wrong()),
            }
            out.push_str(&if verb == 'X' { text.to_uppercase() } else { text });
        }
        ('d' | 'f' | 'e' | 'b' | 'o', _) => return Err(wrong()),
        _ => return Err(EvaluationError::new(format!("unrecognized formatting clause \"{verb}\""))),
    }
    meter.traverse(out.len() - before)
}

fn signed(out: &mut String, number: i64, digits: impl Fn(u64) -> String) {
    if number < 0 {
        out.push('-');
    }
    out.push_str(&digits(number.unsigned_abs()));
}

fn scientific(out: &mut String, number: f64, digits: usize) {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = format!("{number:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, size) = exponent.strip_prefix('-').map_or(("", exponent), |size| ("⁻", size));
    let _ = write!(out, "{mantissa}×10{sign}");
    let size = format!("{size:0>2}");
    out.extend(size.bytes().filter_map(|digit| RAISED.get(usize::from(digit.wrapping_sub(b'0')))));
}

fn real(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        number => go_float(number),
    }
}

/// A value as `%s` shows it.
fn shown(out: &mut String, value: &Value<'_>, meter: &mut CostMeter) -> Result<(), EvaluationError> {
    meter.steps(1)?;
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(boolean) => _ = write!(out, "{boolean}"),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::Uint(number) => _ = write!(out, "{number}"),
        Value::Double(number) => out.push_str(&real(*number)),
        Value::Text(text) => {
            meter.traverse(text.len())?;
            out.push_str(text);
        }
        Value::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(&bytes.read(meter)?)),
        Value::Duration(nanos) => out.push_str(&time::duration_text(*nanos)),
        Value::Timestamp(nanos) => out.push_str(&time::timestamp_text(*nanos)),
        Value::Type(name) => out.push_str(name),
        Value::List(list) => {
            out.push('[');
            for (index, element) in list.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                shown(out, &element?, meter)?;
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, key) in map.keys().into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                let _ = write!(out, "{}: ", key.shown());
                if let Some(value) = map.get(&key) {
                    shown(out, &value?, meter)?;
                }
            }
            out.push('}');
        }
        _ => {
            let why = "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, \
                       maps, lists, types, durations, and timestamps, was given ";
            return Err(EvaluationError::new(format!("{why}{}", value.type_name())));
        }
    }
    Ok(())
}
