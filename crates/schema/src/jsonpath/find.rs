//! Evaluates paths: every step is applied to all results of the one before.

use std::cmp::Ordering;

use gantry_json::Value;

use super::{Comparison, JsonPath, Operand, Problem, Step};
use gantry_primitives::go_print::{as_go_prints, type_as_go_prints};

/// A value that can be compared with values of its type.
#[derive(PartialEq, PartialOrd)]
enum Comparable<'v> {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'v str),
}

/// Limits the values that evaluations visit: every recursive descent multiplies them by the depth of the object.
#[derive(Debug)]
pub struct VisitBudget {
    left: usize,
}

impl VisitBudget {
    /// A budget of this many values.
    pub fn of(values: usize) -> Self {
        Self { left: values }
    }

    /// Whether no values are left.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    fn visit(&mut self, values: usize) -> Result<(), Problem> {
        self.left = self.left.saturating_sub(values);
        if self.is_spent() {
            return Err("the path visits too many values".into());
        }
        Ok(())
    }
}

/// The results of the steps from these values on.
pub(super) fn all<'v>(
    steps: &[Step],
    from: Vec<&'v Value>,
    budget: &mut VisitBudget,
) -> Result<Vec<&'v Value>, Problem> {
    steps.iter().try_fold(from, |values, step| step.take(&values, budget))
}

impl Step {
    fn take<'v>(&self, values: &[&'v Value], budget: &mut VisitBudget) -> Result<Vec<&'v Value>, Problem> {
        let mut found = Vec::new();
        budget.visit(values.len())?;
        match self {
            Self::Member(name) => found.extend(values.iter().filter_map(|value| value.get(name.as_str()))),
            Self::Each => {
                for value in values {
                    let inside = inside(value);
                    budget.visit(inside.len())?;
                    found.extend(inside);
                }
            }
            Self::Descend => {
                for value in values {
                    descend(value, &mut found, budget)?;
                }
            }
            Self::Nth(nth) => {
                // The end of the last element is the end of the list, not zero.
                let to = Some(nth.saturating_add(1)).filter(|to| *to != 0);
                return elements(values, (Some(*nth), to, None), budget);
            }
            Self::Slice(from, to, by) => return elements(values, (*from, *to, *by), budget),
            Self::Union(paths) => {
                for JsonPath(steps) in paths {
                    found.extend(all(steps, values.to_vec(), budget)?);
                }
            }
            Self::Filter(left, compared) => {
                for value in values {
                    for one in list(value, " and cannot be filtered", as_go_prints)? {
                        budget.visit(1)?;
                        if holds(one, left, compared.as_ref(), budget)? {
                            found.push(one);
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

fn inside(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'v>(
    value: &'v Value,
    found: &mut Vec<&'v Value>,
    budget: &mut VisitBudget,
) -> Result<(), Problem> {
    let inside = inside(value);
    budget.visit(inside.len())?;
    if !inside.is_empty() {
        found.push(value);
    }
    inside.into_iter().try_for_each(|one| descend(one, found, budget))
}

/// The elements of a list; other values have none.
fn list<'v>(value: &'v Value, why: &str, shown: impl Fn(&Value) -> String) -> Result<&'v [Value], Problem> {
    let elements = value.as_array().map(Vec::as_slice);
    elements.ok_or_else(|| format!("{} is not array or slice{why}", shown(value)).into())
}

/// A slice. An empty slice of one list ends the search in all lists after it, as in Kubernetes.
fn elements<'v>(
    values: &[&'v Value],
    (from, to, by): (Option<i64>, Option<i64>, Option<i64>),
    budget: &mut VisitBudget,
) -> Result<Vec<&'v Value>, Problem> {
    let mut found = Vec::new();
    for value in values.iter().filter(|value| !value.is_null()) {
        let all = list(value, "", |value| type_as_go_prints(value).to_owned())?;
        let length = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let counted = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
        let (from, to) = (counted(from.unwrap_or(0)), counted(to.unwrap_or(length)));
        if from == to {
            return Ok(found);
        }
        let beyond =
            |index: i64| Problem::from(format!("array index out of bounds: index {index}, length {length}"));
        let index = |at: i64| usize::try_from(at).ok();
        let first = index(from).filter(|first| *first < all.len()).ok_or_else(|| beyond(from))?;
        let end = index(to).filter(|end| *end <= all.len()).ok_or_else(|| beyond(to.saturating_sub(1)))?;
        let some = all
            .get(first..end)
            .ok_or_else(|| format!("starting index {from} is greater than ending index {to}"))?;
        let step = by.map_or(Some(1), index).filter(|step| *step > 0).ok_or("step must be > 0")?;
        budget.visit(some.len() / step)?;
        found.extend(some.iter().step_by(step));
    }
    Ok(found)
}

fn holds(
    one: &Value,
    left: &Operand,
    compared: Option<&(Comparison, Operand)>,
    budget: &mut VisitBudget,
) -> Result<bool, Problem> {
    let Some((comparison, right)) = compared else {
        return Ok(left.values(one, budget).is_ok_and(|found| !found.is_empty()));
    };
    let Some(left) = only(&left.values(one, budget)?)? else { return Ok(false) };
    let Some(right) = only(&right.values(one, budget)?)? else { return Ok(false) };
    let (left, right) = (Comparable::of(left)?, Comparable::of(right)?);
    if std::mem::discriminant(&left) != std::mem::discriminant(&right) {
        return Err("incompatible types for comparison".into());
    }
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::Unequal);
    if matches!(left, Comparable::Bool(_)) && !is_equality {
        return Err(no_comparison());
    }
    let order = left.partial_cmp(&right);
    Ok(match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::Unequal => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

fn only<'v>(found: &[&'v Value]) -> Result<Option<&'v Value>, Problem> {
    match found {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err("can only compare one element at a time".into()),
    }
}

impl Operand {
    fn values<'v>(&'v self, here: &'v Value, budget: &mut VisitBudget) -> Result<Vec<&'v Value>, Problem> {
        match self {
            Self::Value(value) => Ok(vec![value]),
            Self::JsonPath(JsonPath(steps)) => all(steps, vec![here], budget),
            Self::Word(word) => Err(format!("unrecognized identifier {word}").into()),
        }
    }
}

impl<'v> Comparable<'v> {
    fn of(value: &'v Value) -> Result<Self, Problem> {
        Ok(match value {
            Value::Bool(boolean) => Self::Bool(*boolean),
            Value::String(text) => Self::Text(text),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Integer(integer),
                None => Self::Float(number.as_f64().ok_or_else(no_comparison)?),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(no_comparison()),
        })
    }
}

fn no_comparison() -> Problem {
    "invalid type for comparison".into()
}
