//! Quantities: `quantity('1.5Gi').isGreaterThan(quantity('1G'))`.

use std::cmp::Ordering;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::Value;
use gantry_formats::quantity::{InvalidQuantity, Quantity};

pub(super) const FUNCTIONS: &[&str] = &[
    "quantity(string) Quantity",
    "isQuantity(string) bool",
    "Quantity.sign() int",
    "Quantity.isInteger() bool",
    "Quantity.asInteger() int",
    "Quantity.asApproximateFloat() double",
    "Quantity.add(Quantity) Quantity",
    "Quantity.add(int) Quantity",
    "Quantity.sub(Quantity) Quantity",
    "Quantity.sub(int) Quantity",
    "Quantity.isLessThan(Quantity) bool",
    "Quantity.isGreaterThan(Quantity) bool",
    "Quantity.compareTo(Quantity) int",
];

const BILLION: i128 = 1_000_000_000;

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    Some(Ok(match (name, args) {
        ("quantity" | "isQuantity", [Value::Text(text)]) => {
            if let Err(fault) = meter.traverse(text.len()) {
                return Some(Err(fault));
            }
            match (name, Quantity::parse(text)) {
                ("isQuantity", read) => Value::Bool(read.is_ok()),
                (_, Ok(quantity)) => Value::Quantity(quantity),
                (_, Err(InvalidQuantity::Form)) => {
                    let why = "quantities must match the regular expression \
                               '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
                    return Some(Err(EvaluationError::new(why)));
                }
                (_, Err(InvalidQuantity::Suffix)) => {
                    return Some(Err(EvaluationError::new("unable to parse quantity's suffix")));
                }
            }
        }
        (_, [Value::Quantity(quantity)]) => return of_one(name, *quantity),
        ("add", [Value::Quantity(one), Value::Quantity(other)]) => Value::Quantity(one.plus(*other)),
        ("add", [Value::Quantity(one), Value::Int(other)]) => Value::Quantity(one.plus(whole(*other))),
        ("sub", [Value::Quantity(one), Value::Quantity(other)]) => Value::Quantity(one.plus(other.negated())),
        ("sub", [Value::Quantity(one), Value::Int(other)]) => {
            Value::Quantity(one.plus(whole(*other).negated()))
        }
        (_, [Value::Quantity(one), Value::Quantity(other)]) => {
            let order = one.billionths().cmp(&other.billionths());
            match name {
                "isLessThan" => Value::Bool(order == Ordering::Less),
                "isGreaterThan" => Value::Bool(order == Ordering::Greater),
                "compareTo" => Value::Int(order as i64),
                _ => return None,
            }
        }
        _ => return None,
    }))
}

fn of_one<'a>(name: &str, quantity: Quantity) -> Called<'a> {
    let billionths = quantity.billionths();
    let integer = (billionths % BILLION == 0).then(|| i64::try_from(billionths / BILLION).ok()).flatten();
    Some(Ok(match name {
        "sign" => Value::Int(i64::try_from(billionths.signum()).unwrap_or_default()),
        "isInteger" => Value::Bool(integer.is_some()),
        "asInteger" => match integer {
            Some(integer) => Value::Int(integer),
            None => return Some(Err(EvaluationError::new("cannot convert value to integer"))),
        },
        #[expect(clippy::cast_precision_loss, reason = "the name says that it is approximate")]
        "asApproximateFloat" => Value::Double(billionths as f64 / BILLION as f64),
        _ => return None,
    }))
}

fn whole(number: i64) -> Quantity {
    Quantity::parse(&number.to_string()).unwrap_or(Quantity::ZERO)
}
