//! Optional values: `optional.of(x)`, `a.?b.orValue(c)`.

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::Value;

pub(super) const FUNCTIONS: &[&str] = &[
    "optional.of(T) optional<T>",
    "optional.ofNonZeroValue(T) optional<T>",
    "optional.none() optional<dyn>",
    "optional.unwrap(list<dyn>) list<dyn>",
    "list<dyn>.unwrapOpt() list<dyn>",
    "optional<T>.hasValue() bool",
    "optional<T>.value() T",
    "optional<T>.or(optional<T>) optional<T>",
    "optional<T>.orValue(T) T",
];

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    Some(match (name, args) {
        ("optional.ofNonZeroValue", [value]) if value.is_zero() => Ok(Value::Optional(None)),
        ("optional.of" | "optional.ofNonZeroValue", [value]) => Ok(Value::some(value.clone())),
        ("optional.none", []) => Ok(Value::Optional(None)),
        ("optional.unwrap" | "unwrapOpt", [Value::List(list)]) => meter.steps(list.len()).and_then(|()| {
            let mut there = Vec::new();
            for element in list.iter() {
                match element? {
                    Value::Optional(inner) => there.extend(inner.map(|inner| (*inner).clone())),
                    _ => return Err(EvaluationError::no_overload()),
                }
            }
            Ok(Value::list(there))
        }),
        ("hasValue", [Value::Optional(inner)]) => Ok(Value::Bool(inner.is_some())),
        ("value", [Value::Optional(None)]) => Err(EvaluationError::new("optional.none() dereference")),
        ("or", [there @ Value::Optional(Some(_)), _]) => Ok(there.clone()),
        ("or", [_, other @ Value::Optional(_)]) | ("orValue", [Value::Optional(None), other]) => {
            Ok(other.clone())
        }
        ("value", [Value::Optional(Some(inner))]) | ("orValue", [Value::Optional(Some(inner)), _]) => {
            Ok((**inner).clone())
        }
        _ => return None,
    })
}
