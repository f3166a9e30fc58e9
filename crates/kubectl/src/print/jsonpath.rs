//! `-o jsonpath=` and other output by paths: prints the values that a path finds.

use gantry_json::Value;
use gantry_schema::jsonpath::{self, Piece, Problem};

use super::go_json::indented;
use crate::failure::Failure;

pub(crate) use gantry_schema::jsonpath::{as_go_prints, shown};

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(jsonpath::Template);

impl Template {
    /// Reads a template.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        jsonpath::Template::parse(text)
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
        let pieces = self.0.pieces(object);
        let pieces =
            pieces.map_err(|problem| Failure::other(format!("error executing jsonpath: {problem}")))?;
        let printed = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Found(found) => found.into_iter().map(shown).collect::<Vec<_>>().join(" "),
        });
        Ok(printed.collect())
    }

    /// All values that the paths find.
    pub(crate) fn find<'v>(&self, object: &'v Value) -> Result<Vec<&'v Value>, Failure> {
        self.0.find(object).map_err(|problem: Problem| Failure::other(problem.to_string()))
    }

    /// All values that the paths find, as one JSON list.
    pub(crate) fn as_json(&self, object: &Value) -> Result<String, Failure> {
        let found: Value = self.find(object)?.into_iter().cloned().collect();
        Ok(indented(&found) + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K2.2: `-o jsonpath=` prints results with a space between them, and `-o jsonpath-as-json=` a list.
    #[test]
    fn results_stand_side_by_side() {
        let object = json!({"kind": "List", "items": [{"n": 1, "c": [{"a": "x"}]}, {"n": 2, "c": []}]});
        let printed = |template: &str| Template::parse(template).unwrap().print(&object).unwrap();
        assert_eq!(printed("{.kind}: {.items[*].n}{.nope}{\"\\n\"}"), "List: 1 2\n");
        assert_eq!(printed("{range .items[*]}{.n}={.c};{end}"), "1=[{\"a\":\"x\"}];2=[];");
        let listed = Template::relaxed("items[*].n").unwrap().as_json(&object).unwrap();
        assert_eq!(listed, "[\n    1,\n    2\n]\n");
    }

    #[test]
    fn an_invalid_template_is_refused() {
        let lines = |failure: Failure| failure.lines();
        let unread = Template::parse("{.a").map_err(lines);
        assert_eq!(unread, Err("error: error parsing jsonpath {.a, unclosed action\n".to_owned()));
        let beyond = Template::parse("{.a[3]}").unwrap().print(&json!({"a": [1]})).map_err(lines);
        let text = "error: error executing jsonpath: array index out of bounds: index 3, length 1\n";
        assert_eq!(beyond, Err(text.to_owned()));
    }
}
