//! The operators `+`, `-`, `*`, `/` and `%`. Overflow is an error.

use super::compare::{contains, equal};
use super::cost::{CostMeter, EvaluationError};
use super::syntax::Operator;
use super::text::Bytes;
use super::time;
use super::value::{List, Value};
use crate::schema::ListType;

const OVERFLOW: &str = "integer overflow";

/// Calculates with two integers of the same type.
macro_rules! integers {
    ($operator:expr, $one:expr, $other:expr, $overflow:expr) => {{
        let (one, other) = ($one, $other);
        let result = match $operator {
            Operator::Add => one.checked_add(other),
            Operator::Subtract => one.checked_sub(other),
            Operator::Multiply => one.checked_mul(other),
            Operator::Divide if other == 0 => return Err(EvaluationError::new("division by zero")),
            Operator::Divide => one.checked_div(other),
            Operator::Modulo if other == 0 => return Err(EvaluationError::new("modulus by zero")),
            Operator::Modulo => one.checked_rem(other),
            _ => return Err(EvaluationError::no_overload()),
        };
        result.ok_or_else(|| EvaluationError::new($overflow))
    }};
}

/// Applies an operator to two values.
pub(super) fn apply<'a>(
    operator: Operator,
    one: &Value<'a>,
    other: &Value<'a>,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => integers!(operator, *one, *other, OVERFLOW).map(Value::Int),
        (Value::Uint(one), Value::Uint(other)) => {
            integers!(operator, *one, *other, "unsigned integer overflow").map(Value::Uint)
        }
        (Value::Double(one), Value::Double(other)) => doubles(operator, *one, *other).map(Value::Double),
        _ if operator == Operator::Add => add(one, other, meter),
        _ if operator == Operator::Subtract => subtract(one, other),
        _ => Err(EvaluationError::no_overload()),
    }
}

/// `-value`.
pub(super) fn negative<'a>(value: &Value<'a>) -> Result<Value<'a>, EvaluationError> {
    match value {
        Value::Int(number) => {
            number.checked_neg().map(Value::Int).ok_or_else(|| EvaluationError::new(OVERFLOW))
        }
        Value::Double(number) => Ok(Value::Double(-number)),
        _ => Err(EvaluationError::no_overload()),
    }
}

fn doubles(operator: Operator, one: f64, other: f64) -> Result<f64, EvaluationError> {
    Ok(match operator {
        Operator::Add => one + other,
        Operator::Subtract => one - other,
        Operator::Multiply => one * other,
        Operator::Divide => one / other,
        _ => return Err(EvaluationError::no_overload()),
    })
}

fn add<'a>(one: &Value<'a>, other: &Value<'a>, meter: &mut CostMeter) -> Result<Value<'a>, EvaluationError> {
    Ok(match (one, other) {
        (Value::Text(one), Value::Text(other)) => {
            meter.traverse(one.len() + other.len())?;
            Value::text([&**one, &**other].concat())
        }
        (Value::Bytes(one), Value::Bytes(other)) => {
            let (one, other) = (one.read(meter)?, other.read(meter)?);
            Value::Bytes(Bytes::Made([&*one, &*other].concat().into()))
        }
        (Value::List(one), Value::List(other)) => joined(one, other, meter)?,
        (Value::Duration(one), Value::Duration(other)) => {
            Value::Duration(one.checked_add(*other).ok_or_else(|| EvaluationError::new("duration overflow"))?)
        }
        (Value::Timestamp(timestamp), Value::Duration(by))
        | (Value::Duration(by), Value::Timestamp(timestamp)) => moved(*timestamp, i128::from(*by))?,
        _ => return Err(EvaluationError::no_overload()),
    })
}

fn subtract<'a>(one: &Value<'a>, other: &Value<'a>) -> Result<Value<'a>, EvaluationError> {
    let too_long = || EvaluationError::new("duration overflow");
    Ok(match (one, other) {
        (Value::Duration(one), Value::Duration(other)) => {
            Value::Duration(one.checked_sub(*other).ok_or_else(too_long)?)
        }
        (Value::Timestamp(timestamp), Value::Duration(by)) => moved(*timestamp, -i128::from(*by))?,
        (Value::Timestamp(one), Value::Timestamp(other)) => {
            Value::Duration(i64::try_from(one - other).map_err(|_| too_long())?)
        }
        _ => return Err(EvaluationError::no_overload()),
    })
}

fn moved<'a>(timestamp: i128, by: i128) -> Result<Value<'a>, EvaluationError> {
    time::in_range(timestamp + by)
        .map(Value::Timestamp)
        .ok_or_else(|| EvaluationError::new("timestamp overflow"))
}

/// Concatenates two lists. Sets are united, and elements of maps are replaced by those with the same keys.
fn joined<'a>(one: &List<'a>, other: &List<'a>, meter: &mut CostMeter) -> Result<Value<'a>, EvaluationError> {
    meter.traverse(one.len() + other.len())?;
    let mut elements = one.all()?;
    match one {
        List::Stored { lists: ListType::Set, .. } => {
            for element in other.iter() {
                let element = element?;
                if !contains(one, &element, meter)? {
                    elements.push(element);
                }
            }
        }
        List::Stored { lists: ListType::Map(keys), .. } => {
            for element in other.iter() {
                let element = element?;
                let mut place = None;
                for (index, known) in elements.iter().enumerate() {
                    if has_same_keys(known, &element, keys, meter)? {
                        place = Some(index);
                        break;
                    }
                }
                match place.and_then(|place| elements.get_mut(place)) {
                    Some(known) => *known = element,
                    None => elements.push(element),
                }
            }
        }
        _ => elements.extend(other.all()?),
    }
    Ok(Value::list(elements))
}

fn has_same_keys<'a>(
    one: &Value<'a>,
    other: &Value<'a>,
    keys: &[String],
    meter: &mut CostMeter,
) -> Result<bool, EvaluationError> {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return Ok(false) };
    for key in keys {
        let spelt = super::identifiers::escape(key).unwrap_or_default();
        let is_same = match (one.get(&spelt), other.get(&spelt)) {
            (Some(one), Some(other)) => equal(&one?, &other?, meter)?,
            (one, other) => one.is_none() && other.is_none(),
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}
