//! The parts of timestamps and durations.

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::time::{self, SECOND};
use crate::value::Value;

pub(super) const FUNCTIONS: &[&str] = &[
    "timestamp.getFullYear() int",
    "timestamp.getFullYear(string) int",
    "timestamp.getMonth() int",
    "timestamp.getMonth(string) int",
    "timestamp.getDate() int",
    "timestamp.getDate(string) int",
    "timestamp.getDayOfMonth() int",
    "timestamp.getDayOfMonth(string) int",
    "timestamp.getDayOfWeek() int",
    "timestamp.getDayOfWeek(string) int",
    "timestamp.getDayOfYear() int",
    "timestamp.getDayOfYear(string) int",
    "timestamp.getHours() int",
    "timestamp.getHours(string) int",
    "timestamp.getMinutes() int",
    "timestamp.getMinutes(string) int",
    "timestamp.getSeconds() int",
    "timestamp.getSeconds(string) int",
    "timestamp.getMilliseconds() int",
    "timestamp.getMilliseconds(string) int",
    "duration.getHours() int",
    "duration.getMinutes() int",
    "duration.getSeconds() int",
    "duration.getMilliseconds() int",
];

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    match args {
        [Value::Duration(nanos)] => {
            let unit = match name {
                "getHours" => 3600 * SECOND,
                "getMinutes" => 60 * SECOND,
                "getSeconds" => SECOND,
                "getMilliseconds" => SECOND / 1000,
                _ => return None,
            };
            Some(Ok(Value::Int(nanos / unit)))
        }
        [Value::Timestamp(nanos)] => part(name, *nanos),
        [Value::Timestamp(_), Value::Text(zone)] if meter.traverse(zone.len()).is_err() => {
            Some(Err(EvaluationError::CostExceeded))
        }
        [Value::Timestamp(nanos), Value::Text(zone)] => match time::offset(zone) {
            Some(seconds) => part(name, nanos + i128::from(seconds) * i128::from(SECOND)),
            None => Some(Err(EvaluationError::new(format!("unknown time zone {zone}")))),
        },
        _ => None,
    }
}

fn part<'a>(name: &str, nanos: i128) -> Called<'a> {
    let parts = time::parts(nanos);
    let seconds = parts.nanos / SECOND;
    Some(Ok(Value::Int(match name {
        "getFullYear" => parts.year,
        "getMonth" => parts.month - 1,
        "getDate" => parts.day,
        "getDayOfMonth" => parts.day - 1,
        "getDayOfWeek" => parts.day_of_week,
        "getDayOfYear" => parts.day_of_year,
        "getHours" => seconds / 3600,
        "getMinutes" => seconds / 60 % 60,
        "getSeconds" => seconds % 60,
        "getMilliseconds" => parts.nanos % SECOND / 1_000_000,
        _ => return None,
    })))
}
