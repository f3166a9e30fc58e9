//! Equality and order of values.

use std::cmp::Ordering;

use super::cost::{CostMeter, EvaluationError};
use super::text::Bytes;
use super::value::{Key, List, Map, Value};
use crate::schema::ListType;

/// Whether two values are equal. Numbers of different types compare by value; other values of different types are
/// unequal.
pub(super) fn equal<'a>(
    one: &Value<'a>,
    other: &Value<'a>,
    meter: &mut CostMeter,
) -> Result<bool, EvaluationError> {
    meter.traverse(1)?;
    Ok(match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => {
            meter.traverse(one.len().min(other.len()))?;
            one == other
        }
        (Value::Bytes(one), Value::Bytes(other)) => one.read(meter)? == other.read(meter)?,
        (Value::Duration(one), Value::Duration(other)) => one == other,
        (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
        (Value::List(one), Value::List(other)) => lists_equal(one, other, meter)?,
        (Value::Map(one), Value::Map(other)) => maps_equal(one, other, meter)?,
        (Value::Object(one), Value::Object(other)) => {
            meter.traverse(one.members.len() + other.members.len())?;
            if one.visible().count() != other.visible().count() {
                return Ok(false);
            }
            for (name, value) in one.visible() {
                let Some(twin) = other.field(name) else { return Ok(false) };
                if !equal(&value?, &twin?, meter)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Optional(one), Value::Optional(other)) => match (one, other) {
            (Some(one), Some(other)) => equal(one, other, meter)?,
            (one, other) => one.is_none() && other.is_none(),
        },
        (Value::Quantity(one), Value::Quantity(other)) => one.billionths() == other.billionths(),
        (Value::Address(one), Value::Address(other)) => one == other,
        (Value::Network(one), Value::Network(other)) => one == other,
        (Value::Url(one), Value::Url(other)) => one == other,
        (Value::Version(one), Value::Version(other)) => one.order(other).is_eq(),
        (Value::Type(one), Value::Type(other)) | (Value::Format(one), Value::Format(other)) => one == other,
        (Value::Unknown(one), Value::Unknown(other)) => one == other,
        _ => order_of_numbers(one, other) == Some(Ordering::Equal),
    })
}

/// Sets, and lists that are maps, are equal in any order.
fn lists_equal<'a>(one: &List<'a>, other: &List<'a>, meter: &mut CostMeter) -> Result<bool, EvaluationError> {
    if one.len() != other.len() {
        return Ok(false);
    }
    if matches!(one, List::Stored { lists: ListType::Set | ListType::Map(_), .. }) {
        return Ok(is_within(one, other, meter)? && is_within(other, one, meter)?);
    }
    for (one, other) in one.iter().zip(other.iter()) {
        if !equal(&one?, &other?, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether every element of a list is in another.
pub(super) fn is_within<'a>(
    list: &List<'a>,
    of: &List<'a>,
    meter: &mut CostMeter,
) -> Result<bool, EvaluationError> {
    for (index, element) in list.iter().enumerate() {
        let element = element?;
        // Usually the element has the same index.
        if let Some(twin) = of.get(index)
            && equal(&element, &twin?, meter)?
        {
            continue;
        }
        if !contains(of, &element, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a list contains a value.
pub(super) fn contains<'a>(
    list: &List<'a>,
    element: &Value<'a>,
    meter: &mut CostMeter,
) -> Result<bool, EvaluationError> {
    for one in list.iter() {
        if equal(&one?, element, meter)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn maps_equal<'a>(one: &Map<'a>, other: &Map<'a>, meter: &mut CostMeter) -> Result<bool, EvaluationError> {
    if one.len() != other.len() {
        return Ok(false);
    }
    for key in one.keys() {
        if let Key::Text(text) = &key {
            meter.traverse(text.len())?;
        }
        let (Some(value), Some(twin)) = (one.get(&key), other.get(&key)) else { return Ok(false) };
        if !equal(&value?, &twin?, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The order of two values; `None` if a number is NaN.
pub(super) fn order(
    one: &Value<'_>,
    other: &Value<'_>,
    meter: &mut CostMeter,
) -> Result<Option<Ordering>, EvaluationError> {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => meter.traverse(one.len().min(other.len()))?,
        (Value::Bytes(one), Value::Bytes(other)) => {
            return Ok(Some(one.read(meter)?.cmp(&other.read(meter)?)));
        }
        _ => {}
    }
    compared(one, other)
}

fn compared(one: &Value<'_>, other: &Value<'_>) -> Result<Option<Ordering>, EvaluationError> {
    Ok(Some(match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (Value::Bytes(Bytes::Made(one)), Value::Bytes(Bytes::Made(other))) => one.cmp(other),
        (Value::Duration(one), Value::Duration(other)) => one.cmp(other),
        (Value::Timestamp(one), Value::Timestamp(other)) => one.cmp(other),
        (one, other) if is_number(one) && is_number(other) => return Ok(order_of_numbers(one, other)),
        _ => return Err(EvaluationError::no_overload()),
    }))
}

/// Sorts by the first of each pair.
pub(super) fn sort<'a>(
    keyed: &mut [(Value<'a>, Value<'a>)],
    meter: &mut CostMeter,
) -> Result<(), EvaluationError> {
    let steps = usize::try_from(keyed.len().max(1).ilog2()).unwrap_or_default() + 1;
    for (key, _) in keyed.iter_mut() {
        let decoded = match key {
            Value::Bytes(bytes) => Some(bytes.read(meter)?.into()),
            _ => None,
        };
        if let Some(decoded) = decoded {
            *key = Value::Bytes(Bytes::Made(decoded));
        }
    }
    for (key, _) in keyed.iter() {
        // The type of the first key is required of all others.
        if let Some((first, _)) = keyed.first() {
            compared(first, key)?;
        }
        let letters = match key {
            Value::Text(text) => text.len() / 10,
            Value::Bytes(Bytes::Made(bytes)) => bytes.len() / 10,
            _ => 0,
        };
        meter.product(steps, letters + 1)?;
    }
    let is_none = |value: &Value<'_>| matches!(value, Value::Double(number) if number.is_nan());
    keyed.sort_by(|(one, _), (other, _)| {
        compared(one, other).ok().flatten().unwrap_or_else(|| is_none(one).cmp(&is_none(other)))
    });
    Ok(())
}

fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

/// The order of two numbers; `None` if either is not a number.
fn order_of_numbers(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    let whole = |value: &Value<'_>| match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::Uint(number) => Some(i128::from(*number)),
        _ => None,
    };
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::Double(one), other) => whole(other).and_then(|other| order_of_real(*one, other)),
        (one, Value::Double(other)) => {
            whole(one).and_then(|one| order_of_real(*other, one)).map(Ordering::reverse)
        }
        (one, other) => whole(one).zip(whole(other)).map(|(one, other)| one.cmp(&other)),
    }
}

/// Compares exactly, also if a double has too few digits.
fn order_of_real(real: f64, whole: i128) -> Option<Ordering> {
    if real.is_nan() {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "casts saturate at values beyond all integers")]
    let floor = real.floor() as i128;
    let fraction = if real.fract() == 0.0 { Ordering::Equal } else { Ordering::Greater };
    Some(floor.cmp(&whole).then(fraction))
}
