//! Expressions that are evaluated for each element of a list or key of a map.

use std::collections::BTreeMap;

use super::compare::sort;
use super::evaluate::{Evaluated, Scope, evaluate as evaluate_one, logic};
use super::meter::{Fault, Meter};
use super::syntax::{Expr, Loop, LoopKind};
use super::value::{Key, Value};

/// What there is to repeat for: an index or a key, and the value there.
struct Turn<'a> {
    key: Key<'a>,
    value: Value<'a>,
    is_in_list: bool,
}

/// Evaluates a loop.
pub(super) fn evaluate<'a>(
    repeated: &'a Loop,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut Meter,
) -> Evaluated<'a> {
    let range = evaluate_one(&repeated.range, scope, meter)?;
    let turns = turns(&range, meter)?;
    match repeated.kind {
        LoopKind::All => any_or_all(repeated, turns, scope, meter, false),
        LoopKind::Exists => any_or_all(repeated, turns, scope, meter, true),
        LoopKind::ExistsOne => {
            let mut times = 0;
            for turn in turns {
                times += usize::from(truth(&within(&repeated.body, repeated, &turn?, scope, meter)?)?);
            }
            Ok(Value::Bool(times == 1))
        }
        LoopKind::Filter => {
            let mut kept = Vec::new();
            for turn in turns {
                let turn = turn?;
                if truth(&within(&repeated.body, repeated, &turn, scope, meter)?)? {
                    kept.push(turn.only());
                }
            }
            Ok(Value::list(kept))
        }
        LoopKind::List | LoopKind::Map | LoopKind::Entries => transformed(repeated, turns, scope, meter),
        LoopKind::SortBy => sorted(repeated, turns, scope, meter),
    }
}

fn any_or_all<'a>(
    repeated: &'a Loop,
    turns: impl Iterator<Item = Result<Turn<'a>, Fault>>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut Meter,
    decides: bool,
) -> Evaluated<'a> {
    logic(turns.map(|turn| within(&repeated.body, repeated, &turn?, scope, &mut *meter)), decides)
}

fn transformed<'a>(
    repeated: &'a Loop,
    turns: impl Iterator<Item = Result<Turn<'a>, Fault>>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut Meter,
) -> Evaluated<'a> {
    let (mut list, mut map) = (Vec::new(), BTreeMap::new());
    for turn in turns {
        let turn = turn?;
        if let Some(filter) = &repeated.filter
            && !truth(&within(filter, repeated, &turn, scope, meter)?)?
        {
            continue;
        }
        let result = within(&repeated.body, repeated, &turn, scope, meter)?;
        match (repeated.kind, result) {
            (LoopKind::Map, result) => _ = map.insert(turn.key, result),
            (LoopKind::Entries, Value::Map(entries)) => {
                meter.steps(entries.len())?;
                for key in entries.keys() {
                    if map.contains_key(&key) {
                        return Err(Fault::new(format!("insert failed: key {} already exists", key.shown())));
                    }
                    if let Some(value) = entries.get(&key) {
                        map.insert(key, value?);
                    }
                }
            }
            (LoopKind::Entries, _) => return Err(Fault::no_overload()),
            (_, result) => list.push(result),
        }
    }
    Ok(if repeated.kind == LoopKind::List { Value::list(list) } else { Value::map(map) })
}

fn sorted<'a>(
    repeated: &'a Loop,
    turns: impl Iterator<Item = Result<Turn<'a>, Fault>>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut Meter,
) -> Evaluated<'a> {
    let mut keyed = Vec::new();
    for turn in turns {
        let turn = turn?;
        keyed.push((within(&repeated.body, repeated, &turn, scope, meter)?, turn.value));
    }
    sort(&mut keyed, meter)?;
    Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect()))
}

fn truth(value: &Value<'_>) -> Result<bool, Fault> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        _ => Err(Fault::no_overload()),
    }
}

/// Evaluates an expression for one turn.
fn within<'a>(
    expr: &'a Expr,
    repeated: &'a Loop,
    turn: &Turn<'a>,
    scope: Option<&Scope<'_, 'a>>,
    meter: &mut Meter,
) -> Evaluated<'a> {
    match repeated.names.as_slice() {
        [name] => evaluate_one(expr, Some(&Scope { name, value: &turn.only(), outer: scope }), meter),
        [first, second] => {
            let key = turn.key.clone().value();
            let outer = Scope { name: first, value: &key, outer: scope };
            evaluate_one(expr, Some(&Scope { name: second, value: &turn.value, outer: Some(&outer) }), meter)
        }
        _ => Err(Fault::no_overload()),
    }
}

impl<'a> Turn<'a> {
    /// What a single name stands for: an element, or a key.
    fn only(&self) -> Value<'a> {
        if self.is_in_list { self.value.clone() } else { self.key.clone().value() }
    }
}

fn turns<'a>(
    range: &Value<'a>,
    meter: &mut Meter,
) -> Result<impl Iterator<Item = Result<Turn<'a>, Fault>> + use<'a>, Fault> {
    let (list, map) = match range.clone() {
        Value::List(list) => {
            meter.steps(list.len())?;
            (Some(list), None)
        }
        Value::Map(map) => {
            meter.steps(map.len())?;
            (None, Some(map))
        }
        _ => return Err(Fault::no_overload()),
    };
    let of_list = list.into_iter().flat_map(|list| {
        (0..list.len()).filter_map(move |index| {
            let key = Key::Number(i128::try_from(index).ok()?);
            Some(list.get(index)?.map(|value| Turn { key, value, is_in_list: true }))
        })
    });
    let of_map = map.into_iter().flat_map(|map| {
        map.keys()
            .into_iter()
            .filter_map(move |key| Some(map.get(&key)?.map(|value| Turn { key, value, is_in_list: false })))
    });
    Ok(of_list.chain(of_map))
}
