//! Conversions between types.

use std::borrow::Cow;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::text::Bytes;
use crate::time;
use crate::value::Value;
use gantry_formats::duration;
use gantry_primitives::refusal::go_float;

pub(super) const FUNCTIONS: &[&str] = &[
    "dyn(dyn) dyn",
    "type(dyn) type",
    "bool(bool) bool",
    "bool(string) bool",
    "int(int) int",
    "int(uint) int",
    "int(double) int",
    "int(string) int",
    "int(timestamp) int",
    "int(duration) int",
    "uint(uint) uint",
    "uint(int) uint",
    "uint(double) uint",
    "uint(string) uint",
    "double(double) double",
    "double(int) double",
    "double(uint) double",
    "double(string) double",
    "string(string) string",
    "string(bool) string",
    "string(int) string",
    "string(uint) string",
    "string(double) string",
    "string(bytes) string",
    "string(timestamp) string",
    "string(duration) string",
    "string(IP) string",
    "string(CIDR) string",
    "bytes(bytes) bytes",
    "bytes(string) bytes",
    "duration(duration) duration",
    "duration(string) duration",
    "duration(int) duration",
    "timestamp(timestamp) timestamp",
    "timestamp(string) timestamp",
    "timestamp(int) timestamp",
];

const RANGE: &str = "range error";

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    let [value] = args else { return None };
    if let Value::Text(text) = value
        && let Err(fault) = meter.traverse(text.len())
    {
        return Some(Err(fault));
    }
    Some(match name {
        "dyn" => Ok(value.clone()),
        "type" => Ok(Value::Type(value.type_name())),
        "bool" => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::Text(text) => boolean(text),
            _ => return None,
        },
        "int" => return int(value),
        "uint" => return uint(value),
        "double" => return double(value),
        "string" => return text(value, meter),
        "bytes" => match value {
            Value::Bytes(_) => Ok(value.clone()),
            Value::Text(text) => Ok(Value::Bytes(Bytes::Made(text.as_bytes().into()))),
            _ => return None,
        },
        "duration" => match value {
            Value::Duration(_) => Ok(value.clone()),
            Value::Int(nanos) => Ok(Value::Duration(*nanos)),
            Value::Text(text) => {
                duration::parse(text).map(Value::Duration).map_err(|_| bad("duration", text))
            }
            _ => return None,
        },
        "timestamp" => match value {
            Value::Timestamp(_) => Ok(value.clone()),
            Value::Text(text) => {
                time::timestamp(text).map(Value::Timestamp).ok_or_else(|| bad("timestamp", text))
            }
            Value::Int(seconds) => time::in_range(i128::from(*seconds) * i128::from(time::SECOND))
                .map(Value::Timestamp)
                .ok_or_else(|| EvaluationError::new(RANGE)),
            _ => return None,
        },
        _ => return None,
    })
}

fn bad(what: &str, text: &str) -> EvaluationError {
    EvaluationError::new(format!("type conversion error from 'string' to '{what}': {text}"))
}

fn boolean<'a>(text: &str) -> Result<Value<'a>, EvaluationError> {
    match text {
        "1" | "t" | "true" | "T" | "TRUE" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "false" | "F" | "FALSE" | "False" => Ok(Value::Bool(false)),
        _ => Err(bad("bool", text)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "values out of range are refused")]
fn int<'a>(value: &Value<'a>) -> Called<'a> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let number = match value {
        Value::Int(number) => Ok(*number),
        Value::Uint(number) => i64::try_from(*number).map_err(|_| EvaluationError::new(RANGE)),
        Value::Double(number) if number.abs() < LIMIT => Ok(*number as i64),
        Value::Double(_) => Err(EvaluationError::new(RANGE)),
        Value::Duration(nanos) => Ok(*nanos),
        Value::Text(text) => text.parse().map_err(|_| bad("int", text)),
        Value::Timestamp(nanos) => {
            i64::try_from(nanos.div_euclid(i128::from(time::SECOND))).map_err(|_| EvaluationError::new(RANGE))
        }
        _ => return None,
    };
    Some(number.map(Value::Int))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values out of range are refused"
)]
fn uint<'a>(value: &Value<'a>) -> Called<'a> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    let number = match value {
        Value::Uint(number) => Ok(*number),
        Value::Int(number) => u64::try_from(*number).map_err(|_| EvaluationError::new(RANGE)),
        Value::Double(number) if *number > -1.0 && *number < LIMIT => Ok(*number as u64),
        Value::Double(_) => Err(EvaluationError::new(RANGE)),
        Value::Text(text) => text.parse().map_err(|_| bad("uint", text)),
        _ => return None,
    };
    Some(number.map(Value::Uint))
}

#[expect(clippy::cast_precision_loss, reason = "doubles have fewer digits")]
fn double<'a>(value: &Value<'a>) -> Called<'a> {
    let number = match value {
        Value::Double(number) => Ok(*number),
        Value::Int(number) => Ok(*number as f64),
        Value::Uint(number) => Ok(*number as f64),
        Value::Text(text) => text.parse().map_err(|_| bad("double", text)),
        _ => return None,
    };
    Some(number.map(Value::Double))
}

fn text<'a>(value: &Value<'a>, meter: &mut CostMeter) -> Called<'a> {
    Some(Ok(match value {
        Value::Text(_) => value.clone(),
        Value::Bool(boolean) => Value::text(boolean.to_string()),
        Value::Int(number) => Value::text(number.to_string()),
        Value::Uint(number) => Value::text(number.to_string()),
        Value::Double(number) => Value::text(go_float(*number)),
        Value::Bytes(bytes) => {
            let why = "invalid UTF-8 in bytes, cannot convert to string";
            let text = |bytes: Cow<'_, [u8]>| {
                String::from_utf8(bytes.into_owned()).map_err(|_| EvaluationError::new(why))
            };
            return Some(bytes.read(meter).and_then(text).map(Value::text));
        }
        Value::Timestamp(nanos) => Value::text(time::timestamp_text(*nanos)),
        Value::Duration(nanos) => Value::text(time::duration_text(*nanos)),
        Value::Address(address) => Value::text(address.to_string()),
        Value::Network(network) => Value::text(network.to_string()),
        _ => return None,
    }))
}
