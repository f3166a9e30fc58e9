//! JSONPath as in Kubernetes: text with `{.paths}` in it, `{range}` … `{end}`, filters, slices, recursive descent.
//!
//! A missing field has no result, which is no error; an index beyond the end of a list is one. Callers lay out the
//! results.

mod find;
mod parse;

use std::fmt;

use gantry_json::Value;

use crate::encode;
pub use find::VisitBudget;
pub use gantry_primitives::go_print::as_go_prints;

/// The most values that one evaluation visits, unless its caller has a smaller budget.
const VISITS_MAX: usize = 1 << 26;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<Step>);

/// A part of the result of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'t, 'v> {
    /// Literal text.
    Text(&'t str),
    /// The results of a path.
    Found(Vec<&'v Value>),
}

/// The error of a template that is invalid or cannot be evaluated on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(String);

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Literal text.
    Text(String),
    /// A path.
    JsonPath(JsonPath),
    /// Its parts, for each result of a path.
    Range(JsonPath, Vec<Part>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    /// All members or elements.
    Each,
    /// One element, from the end if negative.
    Nth(i64),
    /// A slice: from, to, step.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// The results of several paths.
    Union(Vec<JsonPath>),
    /// The value and everything below it.
    Descend,
    Filter(Operand, Option<(Comparison, Operand)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    JsonPath(JsonPath),
    Value(Value),
    /// An unquoted word, which cannot be evaluated.
    Word(String),
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
    /// Parses a template.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        parse::template(text).map(Self)
    }

    /// The results of all its paths.
    pub fn find<'v>(&self, object: &'v Value) -> Result<Vec<&'v Value>, Problem> {
        let (mut found, mut budget) = (Vec::new(), VisitBudget::of(VISITS_MAX));
        for part in &self.0 {
            if let Part::JsonPath(path) | Part::Range(path, _) = part {
                found.extend(path.find_within(object, &mut budget)?);
            }
        }
        Ok(found)
    }

    /// Evaluates it on an object, part by part.
    pub fn pieces<'t, 'v>(&'t self, object: &'v Value) -> Result<Vec<Piece<'t, 'v>>, Problem> {
        let mut pieces = Vec::new();
        collect(&self.0, object, &mut pieces, &mut VisitBudget::of(VISITS_MAX))?;
        Ok(pieces)
    }
}

impl JsonPath {
    /// Parses a single path without braces: `.spec.replicas`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        parse::path(text)
    }

    /// The results.
    pub fn find<'v>(&self, object: &'v Value) -> Result<Vec<&'v Value>, Problem> {
        self.find_within(object, &mut VisitBudget::of(VISITS_MAX))
    }

    /// The results, within a budget.
    pub fn find_within<'v>(
        &self,
        object: &'v Value,
        budget: &mut VisitBudget,
    ) -> Result<Vec<&'v Value>, Problem> {
        find::all(&self.0, vec![object], budget)
    }
}

/// A value as text: strings without quotes, lists and objects as JSON.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => as_go_prints(value),
        Value::Array(_) | Value::Object(_) => String::from_utf8_lossy(&encode::plain(value)).into_owned(),
    }
}

fn collect<'t, 'v>(
    parts: &'t [Part],
    here: &'v Value,
    pieces: &mut Vec<Piece<'t, 'v>>,
    budget: &mut VisitBudget,
) -> Result<(), Problem> {
    for part in parts {
        match part {
            Part::Text(text) => pieces.push(Piece::Text(text)),
            Part::JsonPath(path) => pieces.push(Piece::Found(path.find_within(here, budget)?)),
            Part::Range(path, inside) => {
                for one in path.find_within(here, budget)? {
                    collect(inside, one, pieces, budget)?;
                }
            }
        }
    }
    Ok(())
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;
    use proptest::prelude::*;

    fn rendered(template: &str, object: &Value) -> Result<String, Problem> {
        let template = Template::parse(template)?;
        let pieces = template.pieces(object)?.into_iter().map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Found(found) => found.into_iter().map(shown).collect::<Vec<_>>().join(" "),
        });
        Ok(pieces.collect())
    }

    fn pods() -> Value {
        json!({"kind": "List", "none": null, "items": [
            {"metadata": {"name": "a", "labels": {"x.y/z": "1"}},
             "spec": {"n": 1, "c": [{"image": "i1"}, {"image": "i2"}], "empty": []}},
            {"metadata": {"name": "b"},
             "spec": {"n": 2, "f": 2.0, "c": [{"image": "i3"}], "paused": true, "empty": [1]}}]})
    }

    /// K2.2: `-o jsonpath=`.
    #[test]
    fn paths_find_values() {
        let cases = [
            ("{.kind}", "List"),
            ("{$.kind}/{.nope}", "List/"),
            ("kind: {.kind}{\"\\n\"}", "kind: List\n"),
            ("{.items[*].metadata.name}", "a b"),
            ("{.items.*.metadata.name}", "a b"),
            ("{.items[0].metadata.labels['x\\.y/z']}", "1"),
            ("{.items[0].metadata.labels.x\\.y/z}", "1"),
            ("{.items[0]['metadata.name']}", "a"),
            ("{.items[-1].metadata.name}", "b"),
            ("{.items[].metadata.name}", "a"),
            ("{.items[0:1].metadata.name}", "a"),
            ("{.items[1:].metadata.name}", "b"),
            ("{.items[:-1].metadata.name}", "a"),
            ("{.items[::2].metadata.name}", "a"),
            ("{.items[5:5].metadata.name}", ""),
            ("{.items[0,1].metadata.name}", "a b"),
            ("{.items[*]['metadata.name','spec.n']}", "a b 1 2"),
            ("{..image}", "i1 i2 i3"),
            ("{...image}", "i1 i2 i3"),
            ("{.none.a}{.none[0]}", ""),
            ("{.nope[0]}{.nope[?(@.a)]}", ""),
            ("{.items[?(@.spec.n==2)].metadata.name}", "b"),
            ("{.items[?(@.spec.n>=1)].metadata.name}", "a b"),
            ("{.items[?(@.metadata.name!=\"a\")].spec.n}", "2"),
            ("{.items[?(@.metadata.name=='a')].spec.n}", "1"),
            ("{.items[?(.metadata.name==\"a\")].spec.n}", "1"),
            ("{.items[?(@.spec.paused==true)].metadata.name}", "b"),
            ("{.items[?(@.spec.paused)].metadata.name}", "b"),
            ("{.items[?(@.nope==nothing)].metadata.name}", ""),
            // The root is not accessible inside a filter.
            ("{.items[?($.kind==\"List\")].metadata.name}", ""),
            ("{range .items[*]}{.metadata.name}={.spec.n}{\"\\n\"}{end}", "a=1\nb=2\n"),
            ("{range .items[*]}{range .spec.c[*]}{.image},{end};{end}", "i1,i2,;i3,;"),
            ("{.items[0].spec.c[0]}", "{\"image\":\"i1\"}"),
            ("{.items[1].spec.paused} {.items[1].spec.f}", "true 2"),
            // An empty slice of one list ends the search in those after it.
            ("{.items[*].spec.empty[*]}", ""),
            ("{.}", ""),
        ];
        for (template, text) in cases {
            assert_eq!(rendered(template, &pods()).unwrap(), text, "{template}");
        }
        assert_eq!(rendered("{@}", &json!({"b": "<", "a": 1})).unwrap(), "{\"a\":1,\"b\":\"\\u003c\"}");
    }

    #[test]
    fn an_invalid_template_is_refused() {
        let deep = |open: &str| format!("{{{}", open.repeat(1000));
        let cases = [
            ("{.a", "unclosed action"),
            ("{.a[}", "unterminated array"),
            ("{.a[\"b\"]}", "invalid array index \"b\""),
            ("{.a[b]}", "invalid array index b"),
            ("{range .a}", "unterminated range"),
            ("{end}", "not in range, nothing to end"),
            ("{.a[?(@.b==)]}", "a filter compares with nothing"),
            ("{.a[?(@.b==1 && @.c==2)]}", "unterminated filter"),
            ("{\"open}", "unterminated quoted string"),
            ("{....a}", "invalid multiple recursive descent"),
            (&deep(".a[?(@"), "nested too deeply"),
            (&"{range .a}".repeat(1000), "nested too deeply"),
        ];
        for (template, problem) in cases {
            assert_eq!(Template::parse(template), Err(problem.into()), "{template}");
        }
        for path in ["", "a", ".a}{.b", ".a}", "{.a}", "range .a", ".a[?(@.b"] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn paths_that_do_not_fit_an_object_are_errors() {
        let cases = [
            ("{.items[3]}", "array index out of bounds: index 3, length 2"),
            ("{.items[-5]}", "array index out of bounds: index -3, length 2"),
            ("{.items[0:5]}", "array index out of bounds: index 4, length 2"),
            ("{.items[1:0]}", "starting index 1 is greater than ending index 0"),
            ("{.items[0:2:0]}", "step must be > 0"),
            ("{.items[0].spec[0]}", "map[string]interface {} is not array or slice"),
            ("{.kind[*]}", "string is not array or slice"),
            ("{.items[0].spec.n[?(@.a)]}", "1 is not array or slice and cannot be filtered"),
            ("{.items[?(@.metadata.name==a)]}", "unrecognized identifier a"),
            ("{.items[?(@.metadata.name==2)]}", "incompatible types for comparison"),
            ("{.items[?(@.spec.n>1.5)]}", "incompatible types for comparison"),
            ("{.items[?(@.spec==\"x\")]}", "invalid type for comparison"),
            ("{.items[?(@.spec.paused<true)]}", "invalid type for comparison"),
            ("{.items[?(@.spec.c[*].image==\"i1\")]}", "can only compare one element at a time"),
        ];
        for (template, problem) in cases {
            assert_eq!(rendered(template, &pods()), Err(problem.into()), "{template}");
        }
    }

    /// Every recursive descent multiplies the values by the depth of the object; too many of them are an error.
    #[test]
    fn an_evaluation_ends() {
        let deep = (0..100).fold(json!({}), |inner, _| json!({"a": inner, "b": 1}));
        let find = |path: &str| {
            let found = JsonPath::parse(path).unwrap().find_within(&deep, &mut VisitBudget::of(100_000));
            found.map(|found| found.len())
        };
        assert_eq!(find("..b"), Ok(100));
        assert_eq!(find("..a..a..a..a..a"), Err("the path visits too many values".into()));
    }

    proptest! {
        #[test]
        fn any_template_is_parsed_or_refused(text in "[{}\\[\\]().?@$*'\"=<!:,0-9ab\\\\ -]{0,24}") {
            if let Ok(template) = Template::parse(&text) {
                let _ = template.pieces(&pods());
            }
            let _ = JsonPath::parse(&text).map(|path| path.find(&pods()).is_ok());
        }
    }
}
