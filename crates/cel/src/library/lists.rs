//! Functions of lists, maps and sets.

use std::rc::Rc;

use super::Called;
use crate::arithmetic;
use crate::compare::{contains, equal, is_within, order, sort};
use crate::cost::{CostMeter, EvaluationError};
use crate::syntax::Operator;
use crate::value::{List, Value};

pub(super) const FUNCTIONS: &[&str] = &[
    "size(string) int",
    "size(bytes) int",
    "size(list<dyn>) int",
    "size(map<dyn,dyn>) int",
    "string.size() int",
    "bytes.size() int",
    "list<dyn>.size() int",
    "map<dyn,dyn>.size() int",
    "list<dyn>.isSorted() bool",
    "list<T>.sum() T",
    "list<T>.min() T",
    "list<T>.max() T",
    "list<T>.indexOf(T) int",
    "list<T>.lastIndexOf(T) int",
    "dyn.includes(dyn) bool",
    "list<T>.slice(int, int) list<T>",
    "list<dyn>.flatten() list<dyn>",
    "list<dyn>.flatten(int) list<dyn>",
    "list<T>.sort() list<T>",
    "list<T>.distinct() list<T>",
    "list<T>.reverse() list<T>",
    "list<T>.first() optional<T>",
    "list<T>.last() optional<T>",
    "lists.range(int) list<int>",
    "sets.contains(list<T>, list<T>) bool",
    "sets.equivalent(list<T>, list<T>) bool",
    "sets.intersects(list<T>, list<T>) bool",
];

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    Some(match (name, args) {
        ("size", [Value::Text(text)]) => {
            // Counting characters is cheap compared with other functions of strings.
            meter.traverse(text.len() / 100).map(|()| Value::count(text.chars().count()))
        }
        ("size", [Value::Bytes(bytes)]) => bytes.read(meter).map(|bytes| Value::count(bytes.len())),
        ("size", [Value::List(list)]) => Ok(Value::count(list.len())),
        ("size", [Value::Map(map)]) => Ok(Value::count(map.len())),
        ("lists.range", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or_default();
            meter.steps(count).map(|()| Value::list((0..count).map(Value::count).collect()))
        }
        ("sets.contains", [Value::List(one), Value::List(other)]) => {
            is_within(other, one, meter).map(Value::Bool)
        }
        ("sets.equivalent", [Value::List(one), Value::List(other)]) => {
            let both = is_within(one, other, meter).and_then(|is| Ok(is && is_within(other, one, meter)?));
            both.map(Value::Bool)
        }
        ("sets.intersects", [Value::List(one), Value::List(other)]) => {
            any(one, |element| contains(other, element, meter)).map(Value::Bool)
        }
        ("includes", [Value::List(list), element]) => contains(list, element, meter).map(Value::Bool),
        ("includes", [one, other]) => equal(one, other, meter).map(Value::Bool),
        (_, [Value::List(list), rest @ ..]) => return of_list(name, list, rest, meter),
        _ => return None,
    })
}

fn of_list<'a>(name: &str, list: &List<'a>, rest: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    if let Err(fault) = meter.steps(list.len()) {
        return Some(Err(fault));
    }
    Some(match (name, rest) {
        ("isSorted", []) => is_sorted(list, meter),
        ("sum", []) => sum(list, meter),
        ("min", []) => extreme(list, meter, "min", std::cmp::Ordering::is_lt),
        ("max", []) => extreme(list, meter, "max", std::cmp::Ordering::is_gt),
        ("indexOf", [element]) => place(list.iter().enumerate(), element, meter),
        ("lastIndexOf", [element]) => {
            list.all().and_then(|all| place(all.into_iter().map(Ok).enumerate().rev(), element, meter))
        }
        ("slice", [Value::Int(from), Value::Int(to)]) => slice(list, *from, *to),
        ("flatten", []) => flatten(list, 1, meter).map(Value::list),
        ("flatten", [Value::Int(depth)]) => match usize::try_from(*depth) {
            Ok(depth) => flatten(list, depth, meter).map(Value::list),
            Err(_) => Err(EvaluationError::new("level must be non-negative")),
        },
        ("sort", []) => list.all().and_then(|all| {
            let mut keyed: Vec<_> = all.into_iter().map(|value| (value, Value::Null)).collect();
            sort(&mut keyed, meter)?;
            Ok(Value::list(keyed.into_iter().map(|(value, _)| value).collect()))
        }),
        ("distinct", []) => distinct(list, meter),
        ("reverse", []) => list.all().map(|all| Value::list(all.into_iter().rev().collect())),
        ("first", []) => optional(list.get(0)),
        ("last", []) => optional(list.len().checked_sub(1).and_then(|last| list.get(last))),
        _ => return None,
    })
}

fn optional(found: Option<Result<Value<'_>, EvaluationError>>) -> Result<Value<'_>, EvaluationError> {
    Ok(Value::Optional(found.transpose()?.map(Rc::new)))
}

fn any<'a>(
    list: &List<'a>,
    mut is: impl FnMut(&Value<'a>) -> Result<bool, EvaluationError>,
) -> Result<bool, EvaluationError> {
    for element in list.iter() {
        if is(&element?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_sorted<'a>(list: &List<'a>, meter: &mut CostMeter) -> Result<Value<'a>, EvaluationError> {
    for (one, next) in list.iter().zip(list.iter().skip(1)) {
        if order(&one?, &next?, meter)?.is_some_and(std::cmp::Ordering::is_gt) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(list: &List<'a>, meter: &mut CostMeter) -> Result<Value<'a>, EvaluationError> {
    let mut total: Option<Value<'a>> = None;
    for element in list.iter() {
        let element = element?;
        if !matches!(element, Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_)) {
            return Err(EvaluationError::no_overload());
        }
        total = Some(match total {
            None => element,
            Some(total) => arithmetic::apply(Operator::Add, &total, &element, meter)?,
        });
    }
    Ok(total.unwrap_or(Value::Int(0)))
}

fn extreme<'a>(
    list: &List<'a>,
    meter: &mut CostMeter,
    name: &str,
    beats: impl Fn(std::cmp::Ordering) -> bool,
) -> Result<Value<'a>, EvaluationError> {
    let mut best: Option<Value<'a>> = None;
    for element in list.iter() {
        let element = element?;
        let is_better = match &best {
            None => true,
            Some(best) => order(&element, best, meter)?.is_some_and(&beats),
        };
        if is_better {
            best = Some(element);
        }
    }
    best.ok_or_else(|| EvaluationError::new(format!("{name} called on empty list")))
}

fn place<'a>(
    elements: impl Iterator<Item = (usize, Result<Value<'a>, EvaluationError>)>,
    wanted: &Value<'a>,
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    for (index, element) in elements {
        if equal(&element?, wanted, meter)? {
            return Ok(Value::count(index));
        }
    }
    Ok(Value::Int(-1))
}

fn slice<'a>(list: &List<'a>, from: i64, to: i64) -> Result<Value<'a>, EvaluationError> {
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(start), Ok(end)) if start <= end && end <= list.len() => {
            list.iter().skip(start).take(end - start).collect::<Result<_, _>>().map(Value::list)
        }
        (Err(_), _) | (_, Err(_)) => {
            Err(EvaluationError::new(format!("cannot slice({from}, {to}), negative indexes not supported")))
        }
        (Ok(start), Ok(end)) if start > end => {
            let why = "start index must be less than or equal to end index";
            Err(EvaluationError::new(format!("cannot slice({from}, {to}), {why}")))
        }
        _ => Err(EvaluationError::new(format!("cannot slice({from}, {to}), list is length {}", list.len()))),
    }
}

/// The recursion is bounded by the nesting of the expression or the schema.
fn flatten<'a>(
    list: &List<'a>,
    depth: usize,
    meter: &mut CostMeter,
) -> Result<Vec<Value<'a>>, EvaluationError> {
    let mut flat = Vec::new();
    for element in list.iter() {
        meter.steps(1)?;
        match element? {
            Value::List(inner) if depth > 0 => flat.extend(flatten(&inner, depth - 1, meter)?),
            other => flat.push(other),
        }
    }
    Ok(flat)
}

fn distinct<'a>(list: &List<'a>, meter: &mut CostMeter) -> Result<Value<'a>, EvaluationError> {
    let mut kept: Vec<Value<'a>> = Vec::new();
    for element in list.iter() {
        let element = element?;
        let mut is_new = true;
        for known in &kept {
            if equal(known, &element, meter)? {
                is_new = false;
                break;
            }
        }
        if is_new {
            kept.push(element);
        }
    }
    Ok(Value::list(kept))
}
