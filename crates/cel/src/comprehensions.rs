//! Comprehensions: expressions that are evaluated for each element of a list or key of a map.

use std::collections::BTreeMap;

use super::compare::sort;
use super::cost::{CostMeter, EvaluationError};
use super::evaluate::{Evaluated, Scope, evaluate as evaluate_one, logic};
use super::syntax::{Expr, Loop, LoopKind};
use super::value::{Key, Value};

/// One iteration: the index or key, and the value.
struct Iteration<'a> {
    key: Key<'a>,
    value: Value<'a>,
    is_in_list: bool,
}

/// Evaluates a comprehension.
pub(super) fn evaluate<'a>(
    repeated: &'a Loop,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut CostMeter,
) -> Evaluated<'a> {
    let range = evaluate_one(&repeated.range, scope, meter)?;
    let iterations = iterations(&range, meter)?;
    match repeated.kind {
        LoopKind::All => any_or_all(repeated, iterations, scope, meter, false),
        LoopKind::Exists => any_or_all(repeated, iterations, scope, meter, true),
        LoopKind::ExistsOne => {
            let mut times = 0;
            for iteration in iterations {
                times += usize::from(boolean(&within(&repeated.body, repeated, &iteration?, scope, meter)?)?);
            }
            Ok(Value::Bool(times == 1))
        }
        LoopKind::Filter => {
            let mut kept = Vec::new();
            for iteration in iterations {
                let iteration = iteration?;
                if boolean(&within(&repeated.body, repeated, &iteration, scope, meter)?)? {
                    kept.push(iteration.only());
                }
            }
            Ok(Value::list(kept))
        }
        LoopKind::List | LoopKind::Map | LoopKind::Entries => transformed(repeated, iterations, scope, meter),
        LoopKind::SortBy => sorted(repeated, iterations, scope, meter),
    }
}

fn any_or_all<'a>(
    repeated: &'a Loop,
    iterations: impl Iterator<Item = Result<Iteration<'a>, EvaluationError>>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut CostMeter,
    decides: bool,
) -> Evaluated<'a> {
    logic(
        iterations.map(|iteration| within(&repeated.body, repeated, &iteration?, scope, &mut *meter)),
        decides,
    )
}

fn transformed<'a>(
    repeated: &'a Loop,
    iterations: impl Iterator<Item = Result<Iteration<'a>, EvaluationError>>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut CostMeter,
) -> Evaluated<'a> {
    let (mut list, mut map) = (Vec::new(), BTreeMap::new());
    for iteration in iterations {
        let iteration = iteration?;
        if let Some(filter) = &repeated.filter
            && !boolean(&within(filter, repeated, &iteration, scope, meter)?)?
        {
            continue;
        }
        let result = within(&repeated.body, repeated, &iteration, scope, meter)?;
        match (repeated.kind, result) {
            (LoopKind::Map, result) => _ = map.insert(iteration.key, result),
            (LoopKind::Entries, Value::Map(entries)) => {
                meter.steps(entries.len())?;
                for key in entries.keys() {
                    if map.contains_key(&key) {
                        return Err(EvaluationError::new(format!(
                            "insert failed: key {} already exists",
                            key.shown()
                        )));
                    }
                    if let Some(value) = entries.get(&key) {
                        map.insert(key, value?);
                    }
                }
            }
            (LoopKind::Entries, _) => return Err(EvaluationError::no_overload()),
            (_, result) => list.push(result),
        }
    }
    Ok(if repeated.kind == LoopKind::List { Value::list(list) } else { Value::map(map) })
}

fn sorted<'a>(
    repeated: &'a Loop,
    iterations: impl Iterator<Item = Result<Iteration<'a>, EvaluationError>>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut CostMeter,
) -> Evaluated<'a> {
    let mut keyed = Vec::new();
    for iteration in iterations {
        let iteration = iteration?;
        keyed.push((within(&repeated.body, repeated, &iteration, scope, meter)?, iteration.value));
    }
    sort(&mut keyed, meter)?;
    Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect()))
}

fn boolean(value: &Value<'_>) -> Result<bool, EvaluationError> {
    match value {
        Value::Bool(boolean) => Ok(*boolean),
        _ => Err(EvaluationError::no_overload()),
    }
}

/// Evaluates an expression for one iteration.
fn within<'a>(
    expr: &'a Expr,
    repeated: &'a Loop,
    iteration: &Iteration<'a>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut CostMeter,
) -> Evaluated<'a> {
    match repeated.names.as_slice() {
        [name] => evaluate_one(expr, Some(&Scope { name, value: &iteration.only(), outer: scope }), meter),
        [first, second] => {
            let key = iteration.key.clone().value();
            let outer = Scope { name: first, value: &key, outer: scope };
            evaluate_one(
                expr,
                Some(&Scope { name: second, value: &iteration.value, outer: Some(&outer) }),
                meter,
            )
        }
        _ => Err(EvaluationError::no_overload()),
    }
}

impl<'a> Iteration<'a> {
    /// The value of a single iteration variable: an element of a list or a key of a map.
    fn only(&self) -> Value<'a> {
        if self.is_in_list { self.value.clone() } else { self.key.clone().value() }
    }
}

fn iterations<'a>(
    range: &Value<'a>,
    meter: &mut CostMeter,
) -> Result<impl Iterator<Item = Result<Iteration<'a>, EvaluationError>> + use<'a>, EvaluationError> {
    let (list, map) = match range.clone() {
        Value::List(list) => {
            meter.steps(list.len())?;
            (Some(list), None)
        }
        Value::Map(map) => {
            meter.steps(map.len())?;
            (None, Some(map))
        }
        _ => return Err(EvaluationError::no_overload()),
    };
    let of_list = list.into_iter().flat_map(|list| {
        (0..list.len()).filter_map(move |index| {
            let key = Key::Number(i128::try_from(index).ok()?);
            Some(list.get(index)?.map(|value| Iteration { key, value, is_in_list: true }))
        })
    });
    let of_map = map.into_iter().flat_map(|map| {
        map.keys().into_iter().filter_map(move |key| {
            Some(map.get(&key)?.map(|value| Iteration { key, value, is_in_list: false }))
        })
    });
    Ok(of_list.chain(of_map))
}
