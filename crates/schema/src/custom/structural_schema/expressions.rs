//! The rules of a schema: `x-kubernetes-validations`.

use std::sync::Arc;

use gantry_json::Value;

use gantry_cel::{CheckError, OldSelf, Program, ResultType, ValueSchema};

use super::schema_path::{Brackets, resolve};

/// A compiled rule.
#[derive(Debug)]
pub(super) struct Expression {
    /// Its JSON in the schema, by which rules are compared.
    source: Value,
    /// The expression that must be true, or its syntax errors.
    program: Result<Program, String>,
    /// Whether it mentions `oldSelf`.
    pub(super) is_transition: bool,
    /// Whether `oldSelf` is optional.
    pub(super) before: OldSelf,
    /// The `messageExpression`, if it can be parsed.
    pub(super) message: Option<Program>,
    /// The type of the error.
    pub(super) reason: Reason,
    /// The path of the error, relative to the value; empty for the value itself.
    pub(super) place: String,
}

/// The type of error of a violated rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Invalid,
    Forbidden,
    Required,
    Duplicate,
}

impl Expression {
    /// Reads the rules of a schema; empty ones are ignored.
    pub(super) fn read_all(schema: &Value) -> Vec<Arc<Self>> {
        let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
        rules.filter_map(|rule| Self::read(rule, schema)).map(Arc::new).collect()
    }

    fn read(source: &Value, schema: &Value) -> Option<Self> {
        let text = |field: &str| source[field].as_str().unwrap_or_default();
        if text("rule").trim().is_empty() {
            return None;
        }
        let program = Program::parse(text("rule"));
        let message = Some(text("messageExpression")).filter(|text| !text.is_empty());
        Some(Self {
            source: source.clone(),
            is_transition: program.as_ref().is_ok_and(Program::is_transition),
            program,
            before: before_of(source),
            message: message.and_then(|text| Program::parse(text).ok()),
            reason: match text("reason") {
                "FieldValueForbidden" => Reason::Forbidden,
                "FieldValueRequired" => Reason::Required,
                "FieldValueDuplicate" => Reason::Duplicate,
                _ => Reason::Invalid,
            },
            place: place_of(text("fieldPath"), schema),
        })
    }

    /// Returns the program, or why it does not compile. Types are checked if the schema of the value is given.
    pub(super) fn compiled(&self, schema: Option<(&dyn ValueSchema, bool)>) -> Result<&Program, String> {
        let invalid = |why: &str| format!("compilation failed: {why}");
        let program = self.program.as_ref().map_err(|why| invalid(why))?;
        if let Some(schema) = schema {
            let text = self.source["rule"].as_str().unwrap_or_default();
            program.check(text, schema, self.before, ResultType::Bool).map_err(|error| match error {
                CheckError::Invalid(why) => invalid(&why),
                CheckError::ResultType => "cel expression must evaluate to a bool".to_owned(),
            })?;
        }
        Ok(program)
    }

    /// The rule in errors: its message, otherwise its expression.
    pub(super) fn name(&self) -> &str {
        let text = |field: &str| self.source[field].as_str().unwrap_or_default();
        match text("message") {
            "" => text("rule").trim(),
            message => message.trim(),
        }
    }

    /// The error message of the violated rule.
    pub(super) fn error_message(&self) -> String {
        match self.source["message"].as_str() {
            None | Some("") => format!("failed rule: {}", self.name()),
            Some(message) => message.trim().to_owned(),
        }
    }
}

/// Rules are equal if their JSON is.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// How a rule refers to the value before the change: `optionalOldSelf`.
pub fn before_of(rule: &Value) -> OldSelf {
    if rule["optionalOldSelf"] == true { OldSelf::Optional } else { OldSelf::Required }
}

/// Converts `.spec['a key']` to the form of error paths: `spec[a key]`.
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
