//! The condition of `wait --for`, and whether an object meets it. Pure.

use gantry_json::Value;

use crate::failure::Failure;
use crate::field::{at, list, text};
use crate::print::jsonpath::{Template, shown};

/// The condition of `wait --for`.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal(pub(super) Kind);

/// The kinds of goals.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// The object exists.
    Created,
    /// The object is deleted.
    Deleted,
    /// A status condition has this value; case-insensitive.
    Condition { name: String, value: String },
    /// A path finds a value, or exactly this one.
    Path { path: Template, value: Option<String> },
}

impl Goal {
    /// Reads the value of `--for`.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text.eq_ignore_ascii_case("create") {
            return Ok(Self(Kind::Created));
        }
        if text.eq_ignore_ascii_case("delete") {
            return Ok(Self(Kind::Deleted));
        }
        if let Some(condition) = text.strip_prefix("condition=") {
            let (name, value) = condition.split_once('=').unwrap_or((condition, "true"));
            return Ok(Self(Kind::Condition { name: name.to_owned(), value: value.to_owned() }));
        }
        match text.strip_prefix("jsonpath=") {
            Some(path) => path_goal(path).map(Self),
            None => Err(Failure::other(format!("unrecognized condition: \"{text}\""))),
        }
    }

    /// Whether an existing object meets the condition.
    pub(super) fn is_met(&self, object: &Value) -> Result<bool, Failure> {
        match &self.0 {
            Kind::Created => Ok(true),
            Kind::Deleted => Ok(false),
            Kind::Condition { name, value } => Ok(has_condition(object, name, value)),
            Kind::Path { path, value } => finds(path, value.as_deref(), object),
        }
    }
}

/// `{.path}`, `{.path}=value`, and both without braces.
fn path_goal(text: &str) -> Result<Kind, Failure> {
    const FORM: &str = "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or \
        --for=jsonpath='{.status.readyReplicas}'";
    if text.is_empty() {
        return Err(Failure::other("jsonpath expression cannot be empty"));
    }
    // A path between braces may contain equals signs, and `==` compares.
    let path_end = text.rfind("}=").filter(|_| text.starts_with('{')).map(|brace| brace + 1);
    let equals = path_end.or_else(|| text.find('=').filter(|_| !text.starts_with('{')));
    let (path, value) = match equals {
        Some(end) if !text[end + 1..].starts_with('=') => (&text[..end], Some(&text[end + 1..])),
        _ => (text, None),
    };
    let inner = path.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(path);
    match value {
        _ if inner.is_empty() || inner.contains(['{', '}']) => Err(Failure::other(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or \
             '{.name1.name2}'",
        )),
        Some("") => Err(Failure::other(
            "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3",
        )),
        Some(value) if value.contains('=') => Err(Failure::other(FORM)),
        value => Ok(Kind::Path {
            path: Template::relaxed(path)?,
            value: value.map(|value| value.trim().to_owned()),
        }),
    }
}

/// A condition counts only if it was observed for the current generation of the object.
fn has_condition(object: &Value, name: &str, value: &str) -> bool {
    let of_that_name = |condition: &&Value| text(condition, "/type").to_lowercase() == name.to_lowercase();
    let Some(condition) = list(object, "/status/conditions").iter().find(of_that_name) else { return false };
    let generation = at(object, "/metadata/generation").as_i64();
    let observed = [at(condition, "/observedGeneration"), at(object, "/status/observedGeneration")];
    let observed = observed.into_iter().find_map(Value::as_i64);
    let is_of_before = generation.zip(observed).is_some_and(|(generation, observed)| observed < generation);
    !is_of_before && text(condition, "/status").to_lowercase() == value.to_lowercase()
}

fn finds(path: &Template, value: Option<&str>, object: &Value) -> Result<bool, Failure> {
    let found = path.find(object)?;
    let Some(value) = value else { return Ok(!found.is_empty()) };
    match found.as_slice() {
        [] => Ok(false),
        [Value::Object(_) | Value::Array(_)] => {
            Err(Failure::other("jsonpath leads to a nested object or list which is not supported"))
        }
        [only] => Ok(shown(only).trim() == value),
        _ => Err(Failure::other("given jsonpath expression matches more than one value")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn web() -> Value {
        json!({"metadata": {"name": "web", "generation": 2}, "status": {"observedGeneration": 2, "readyReplicas": 3,
            "conditions": [{"type": "Available", "status": "True"}, {"type": "Progressing", "status": "False"}]}})
    }

    fn is_met(goal: &str, object: &Value) -> bool {
        Goal::parse(goal).unwrap().is_met(object).unwrap()
    }

    fn refused(goal: &str) -> String {
        let failure = match Goal::parse(goal) {
            Err(failure) => failure,
            Ok(goal) => goal.is_met(&web()).unwrap_err(),
        };
        failure.lines()
    }

    #[test]
    fn a_condition_must_be_true_or_have_the_requested_value() {
        let cases = [
            ("condition=Available", true),
            ("condition=available=TRUE", true),
            ("condition=Available=false", false),
            ("condition=Progressing=false", true),
            ("condition=Progressing", false),
            ("condition=Other=false", false),
            ("condition=", false),
        ];
        for (goal, met) in cases {
            assert_eq!(is_met(goal, &web()), met, "{goal}");
        }
    }

    #[test]
    fn a_condition_of_an_earlier_generation_does_not_count() {
        let mut changed = web();
        changed["metadata"]["generation"] = json!(3);
        assert!(!is_met("condition=Available", &changed));
        changed["status"]["conditions"][0]["observedGeneration"] = json!(3);
        assert!(is_met("condition=Available", &changed), "the condition itself is up to date");
    }

    #[test]
    fn a_path_must_find_a_value_or_the_requested_one() {
        let cases = [
            ("jsonpath={.status.readyReplicas}", true),
            ("jsonpath={.status.readyReplicas}=3", true),
            ("jsonpath=.status.readyReplicas=3", true),
            ("jsonpath=status.readyReplicas", true),
            ("jsonpath={.status.readyReplicas}=4", false),
            ("jsonpath={.status.readyReplicas}={.x}", false),
            ("jsonpath={.status.nothing}", false),
            ("jsonpath={.status.nothing}=3", false),
            ("jsonpath={.status.conditions}", true),
            ("jsonpath={.status.conditions[?(@.type==\"Available\")].status}=True", true),
            ("jsonpath={.status.conditions[?(@.type==\"Available\")].status}", true),
        ];
        for (goal, met) in cases {
            assert_eq!(is_met(goal, &web()), met, "{goal}");
        }
    }

    #[test]
    fn invalid_conditions_are_refused() {
        let path = "error: unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or \
                    '{.name1.name2}'\n";
        let cases = [
            ("", "error: unrecognized condition: \"\"\n"),
            ("condition", "error: unrecognized condition: \"condition\"\n"),
            ("rain=yes", "error: unrecognized condition: \"rain=yes\"\n"),
            ("jsonpath=", "error: jsonpath expression cannot be empty\n"),
            ("jsonpath={.a", path),
            ("jsonpath={}", path),
            ("jsonpath={.a}{.b}=2", path),
            ("jsonpath={.a}==2", path),
            ("jsonpath='{.a}'=2", path),
            (
                "jsonpath={.a}=",
                "error: jsonpath wait has to have a value after equal sign, like \
                 --for=jsonpath='{.status.readyReplicas}'=3\n",
            ),
            (
                "jsonpath={.a}=b=c",
                "error: jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or \
                 --for=jsonpath='{.status.readyReplicas}'\n",
            ),
            (
                "jsonpath={.status.conditions}=3",
                "error: jsonpath leads to a nested object or list which is not supported\n",
            ),
            (
                "jsonpath={.status.conditions[*].type}=3",
                "error: given jsonpath expression matches more than one value\n",
            ),
            (
                "jsonpath={.status.conditions[9].type}=3",
                "error: array index out of bounds: index 9, length 2\n",
            ),
        ];
        for (goal, line) in cases {
            assert_eq!(refused(goal), line, "{goal}");
        }
    }
}
