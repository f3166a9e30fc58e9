//! kubectl's JSONPath: text with `{.paths}` in it, `{range}` … `{end}`, filters, slices, recursive descent.

mod parse;

use std::cmp::Ordering;

use serde_json::Value;

use super::go_json::compact;
use crate::failure::Failure;

/// A template that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(Vec<Part>);

/// One part of a template.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// Text as it stands.
    Text(String),
    /// What a path finds.
    Path(Path),
    /// Its parts for everything that a path finds.
    Range(Path, Vec<Part>),
}

/// Where to look.
#[derive(Clone, Debug, PartialEq)]
struct Path {
    /// From the very beginning, even inside a range.
    from_root: bool,
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(String),
    /// Everything inside.
    Each,
    /// Elements by number: from, to, by.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// One element, from the end if negative.
    Nth(i64),
    /// Several paths at once.
    Union(Vec<Step>),
    /// Steps one after the other, inside a union.
    Chain(Vec<Step>),
    /// This and everything below it.
    Descend,
    Filter(Operand, Option<(Comparison, Operand)>),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Path),
    Value(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Template {
    /// Reads a template.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        parse::template(text)
            .map(Self)
            .map_err(|problem| Failure::other(format!("error parsing jsonpath {text}, {problem}")))
    }

    /// Reads a single path, with or without braces and the dot before it.
    pub(crate) fn relaxed(path: &str) -> Result<Self, Failure> {
        let inner = path.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(path);
        let inner = inner.strip_prefix('.').unwrap_or(inner);
        Self::parse(&format!("{{.{inner}}}"))
    }

    /// What the template prints about an object.
    pub(crate) fn print(&self, object: &Value) -> Result<String, Failure> {
        let mut out = String::new();
        match print(&self.0, object, object, &mut out) {
            Ok(()) => Ok(out),
            Err(failure) => Err(Failure::other(format!("error executing jsonpath: {}", failure.message()))),
        }
    }

    /// Everything that its paths find.
    pub(crate) fn find<'v>(&self, object: &'v Value) -> Result<Vec<&'v Value>, Failure> {
        let mut found = Vec::new();
        for part in &self.0 {
            if let Part::Path(path) | Part::Range(path, _) = part {
                found.extend(path.find(object, object)?);
            }
        }
        Ok(found)
    }

    /// Everything that its paths find, as one JSON list.
    pub(crate) fn as_json(&self, object: &Value) -> Result<String, Failure> {
        let found: Value = self.find(object)?.into_iter().cloned().collect();
        Ok(super::go_json::indented(&found) + "\n")
    }
}

/// A value as it is printed: text without quotes, anything deeper as JSON.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => compact(other),
    }
}

fn print(parts: &[Part], root: &Value, here: &Value, out: &mut String) -> Result<(), Failure> {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(path) => {
                let found: Vec<String> = path.find(root, here)?.into_iter().map(shown).collect();
                out.push_str(&found.join(" "));
            }
            Part::Range(path, inside) => {
                for one in path.find(root, here)? {
                    print(inside, root, one, out)?;
                }
            }
        }
    }
    Ok(())
}

impl Path {
    fn find<'v>(&self, root: &'v Value, here: &'v Value) -> Result<Vec<&'v Value>, Failure> {
        let mut found = vec![if self.from_root { root } else { here }];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                step.take(root, value, &mut next)?;
            }
            found = next;
        }
        Ok(found)
    }
}

impl Step {
    /// What is not there is not found, which is no error; an element beyond the end is one, as everywhere.
    fn take<'v>(&self, root: &'v Value, value: &'v Value, found: &mut Vec<&'v Value>) -> Result<(), Failure> {
        match self {
            Self::Member(name) => found.extend(value.get(name.as_str())),
            Self::Each => found.extend(inside(value)),
            Self::Nth(nth) => {
                let Some(elements) = value.as_array() else { return Ok(()) };
                found.push(element(elements, *nth)?);
            }
            Self::Slice(from, to, by) => {
                if let Some(elements) = value.as_array() {
                    found.extend(slice(elements, *from, *to, by.unwrap_or(1)));
                }
            }
            Self::Union(steps) => {
                for step in steps {
                    step.take(root, value, found)?;
                }
            }
            Self::Chain(steps) => {
                let path = Path { from_root: false, steps: steps.clone() };
                found.extend(path.find(root, value)?);
            }
            Self::Descend => descend(value, found),
            Self::Filter(left, compared) => {
                for one in inside(value) {
                    if holds(root, one, left, compared.as_ref())? {
                        found.push(one);
                    }
                }
            }
        }
        Ok(())
    }
}

fn inside(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            members.into_iter().map(|(_, value)| value).collect()
        }
        _ => Vec::new(),
    }
}

fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    found.push(value);
    for one in inside(value) {
        descend(one, found);
    }
}

fn element(elements: &[Value], nth: i64) -> Result<&Value, Failure> {
    let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let index = if nth < 0 { nth + length } else { nth };
    let found = usize::try_from(index).ok().and_then(|index| elements.get(index));
    found.ok_or_else(|| Failure::other(format!("array index out of bounds: index {nth}, length {length}")))
}

fn slice(elements: &[Value], from: Option<i64>, to: Option<i64>, by: i64) -> Vec<&Value> {
    let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let bound = |index: i64| (if index < 0 { index + length } else { index }).clamp(0, length);
    let (from, to) = (bound(from.unwrap_or(0)), bound(to.unwrap_or(length)));
    let index = |at: i64| usize::try_from(at).ok();
    let step = usize::try_from(by.max(1)).unwrap_or(1);
    match (index(from), index(to)) {
        (Some(from), Some(to)) if from < to => elements[from..to].iter().step_by(step).collect(),
        _ => Vec::new(),
    }
}

fn holds(
    root: &Value,
    one: &Value,
    left: &Operand,
    compared: Option<&(Comparison, Operand)>,
) -> Result<bool, Failure> {
    let left = left.value(root, one)?;
    let Some((comparison, right)) = compared else { return Ok(left.is_some()) };
    let (Some(left), Some(right)) = (left, right.value(root, one)?) else { return Ok(false) };
    let order = match (&left, &right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ if left == right => Some(Ordering::Equal),
        _ => None,
    };
    Ok(match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::Unequal => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

impl Operand {
    fn value(&self, root: &Value, here: &Value) -> Result<Option<Value>, Failure> {
        match self {
            Self::Value(value) => Ok(Some(value.clone())),
            Self::Path(path) => Ok(path.find(root, here)?.first().map(|value| (*value).clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn printed(template: &str) -> String {
        let pods = json!({"kind": "List", "items": [
            {"metadata": {"name": "a", "labels": {"x.y/z": "1"}}, "spec": {"n": 1, "c": [{"image": "i1"}, {"image": "i2"}]}},
            {"metadata": {"name": "b"}, "spec": {"n": 2, "c": [{"image": "i3"}], "paused": true}}]});
        Template::parse(template).unwrap().print(&pods).unwrap()
    }

    /// K2.2: `-o jsonpath=`.
    #[test]
    fn paths_find_what_they_say() {
        let cases = [
            ("{.kind}", "List"),
            ("{$.kind}/{.nope}", "List/"),
            ("kind: {.kind}{\"\\n\"}", "kind: List\n"),
            ("{.items[*].metadata.name}", "a b"),
            ("{.items[0].metadata.labels['x\\.y/z']}", "1"),
            ("{.items[0].metadata.labels.x\\.y/z}", "1"),
            ("{.items[-1].metadata.name}", "b"),
            ("{.items[0:1].metadata.name}", "a"),
            ("{.items[0,1].metadata.name}", "a b"),
            ("{.items[*]['metadata.name','spec.n']}", "a 1 b 2"),
            ("{..image}", "i1 i2 i3"),
            ("{.items[?(@.spec.n==2)].metadata.name}", "b"),
            ("{.items[?(@.spec.n>=1)].metadata.name}", "a b"),
            ("{.items[?(@.metadata.name!=\"a\")].spec.n}", "2"),
            ("{.items[?(@.spec.paused)].metadata.name}", "b"),
            ("{range .items[*]}{.metadata.name}={.spec.n}{\"\\n\"}{end}", "a=1\nb=2\n"),
            ("{range .items[*]}{range .spec.c[*]}{.image},{end};{end}", "i1,i2,;i3,;"),
            ("{.items[0].spec.c[0]}", "{\"image\":\"i1\"}"),
            ("{.items[1].spec.paused}", "true"),
        ];
        for (template, text) in cases {
            assert_eq!(printed(template), text, "{template}");
        }
    }

    #[test]
    fn a_template_that_makes_no_sense_is_refused() {
        for template in ["{.a", "{.a[}", "{range .a}", "{end}", "{.a[?(@.b==)]}", "{\"open}"] {
            assert!(Template::parse(template).is_err(), "{template}");
        }
        let beyond = Template::parse("{.a[3]}").unwrap().print(&json!({"a": [1]})).unwrap_err();
        assert!(
            beyond.lines().contains("array index out of bounds: index 3, length 1"),
            "{}",
            beyond.lines()
        );
    }
}
