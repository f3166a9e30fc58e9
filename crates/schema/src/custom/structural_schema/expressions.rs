//! Rules that a schema writes as expressions: `x-kubernetes-validations`.

use std::sync::Arc;

use serde_json::Value;

use gantry_cel::{Before, Program};

use super::schema_path::{Brackets, resolve};

/// A rule, ready to be evaluated.
#[derive(Debug)]
pub(super) struct Expression {
    /// As the schema has it; two rules are the same if that is.
    source: Value,
    /// What has to be true; why it cannot be evaluated, if it cannot.
    pub(super) program: Result<Program, String>,
    /// Whether it compares with what was before.
    pub(super) is_transition: bool,
    /// How it knows what was before.
    pub(super) before: Before,
    /// What is said instead of the message, if it makes sense when it is evaluated.
    pub(super) message: Option<Program>,
    /// What kind of error it is.
    pub(super) reason: Reason,
    /// Where the error is, as seen from the value; empty for the value itself.
    pub(super) place: String,
}

/// What kind of error it is when a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Invalid,
    Forbidden,
    Required,
    Duplicate,
}

impl Expression {
    /// Reads the rules of a schema; those that say nothing are left out.
    pub(super) fn read_all(schema: &Value) -> Vec<Arc<Self>> {
        let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
        rules.filter_map(|rule| Self::read(rule, schema)).map(Arc::new).collect()
    }

    fn read(source: &Value, schema: &Value) -> Option<Self> {
        let text = |field: &str| source[field].as_str().unwrap_or_default();
        if text("rule").trim().is_empty() {
            return None;
        }
        let program = Program::read(text("rule"));
        let message = Some(text("messageExpression")).filter(|text| !text.is_empty());
        Some(Self {
            source: source.clone(),
            is_transition: program.as_ref().is_ok_and(Program::is_transition),
            program,
            before: before_of(source),
            message: message.and_then(|text| Program::read(text).ok()),
            reason: match text("reason") {
                "FieldValueForbidden" => Reason::Forbidden,
                "FieldValueRequired" => Reason::Required,
                "FieldValueDuplicate" => Reason::Duplicate,
                _ => Reason::Invalid,
            },
            place: place_of(text("fieldPath"), schema),
        })
    }

    /// How an error names the rule.
    pub(super) fn name(&self) -> &str {
        let text = |field: &str| self.source[field].as_str().unwrap_or_default();
        match text("message") {
            "" => text("rule").trim(),
            message => message.trim(),
        }
    }

    /// What is said when the rule is broken.
    pub(super) fn said(&self) -> String {
        match self.source["message"].as_str() {
            None | Some("") => format!("failed rule: {}", self.name()),
            Some(message) => message.trim().to_owned(),
        }
    }
}

/// Two rules are the same if they are written the same.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// How a rule refers to the value before the change: `optionalOldSelf`.
pub fn before_of(rule: &Value) -> Before {
    if rule["optionalOldSelf"] == true { Before::Optional } else { Before::Value }
}

/// `.spec['a key']` as errors have it: `spec[a key]`.
fn place_of(path: &str, schema: &Value) -> String {
    let Ok((steps, _)) = resolve(path, schema, Brackets::Allowed) else { return String::new() };
    let (mut place, mut schema) = (String::new(), schema);
    for step in steps {
        if let Some(inner) = schema["properties"].get(&step) {
            let dot = if place.is_empty() { "" } else { "." };
            place = format!("{place}{dot}{step}");
            schema = inner;
        } else {
            place = format!("{place}[{step}]");
            schema = &schema["additionalProperties"];
        }
    }
    place
}
