//! Rules in a schema: whether they are expressions, about what the schema declares.
//!
//! Kubernetes also estimates what a rule may cost at most, and refuses what may cost too much. That is not done here:
//! what costs too much ends when it is evaluated.

use serde_json::{Value, json};

use super::super::error_list::{ErrorList, Path, is_set, list, members, text};
use super::{schema, shown};
use crate::custom::{AdditionalProperties, StructuralSchema, before_of};
use gantry_cel::{self as cel, CheckError, Program, ResultType, ValueSchema};

/// What is around a schema.
#[derive(Clone, Copy)]
struct Around<'a> {
    is_resource: bool,
    /// The list in which nothing is known again, so that there is nothing to compare with.
    forgets: Option<&'a str>,
}

/// Every rule of a schema of which nothing else is wrong.
pub(super) fn expressions(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    // Reading a schema costs, and most have no rules.
    if schema::any(schema, &|schema| is_set(schema, "x-kubernetes-validations")) {
        let structure = StructuralSchema::read(schema);
        each(errors, at, schema, &structure, Around { is_resource: true, forgets: None });
    }
}

fn each(
    errors: &mut ErrorList,
    at: &Path<'_>,
    schema: &Value,
    structure: &StructuralSchema,
    around: Around<'_>,
) {
    if !structure.has_rules {
        return;
    }
    let within = |inner: &StructuralSchema| Around { is_resource: inner.embedded, ..around };
    if let AdditionalProperties::Schema(values) = &structure.values {
        let at = at.child("additionalProperties");
        each(errors, &at, &schema["additionalProperties"], values, within(values));
    }
    for (name, inner) in members(schema, "properties") {
        if let Some(property) = structure.properties.get(name) {
            each(errors, &at.child("properties").key(name), inner, property, within(property));
        }
    }
    if let Some(items) = &structure.items {
        let here = at.to_string();
        let knows = schema["x-kubernetes-list-type"] == "map";
        let forgets = if knows { around.forgets } else { Some(around.forgets.unwrap_or(&here)) };
        let around = Around { is_resource: items.embedded, forgets };
        each(errors, &at.child("items"), &schema["items"], items, around);
    }
    let at = at.child("x-kubernetes-validations");
    let rules = list(schema, "x-kubernetes-validations");
    if !rules.is_empty() && !cel::is_visible(structure, around.is_resource) {
        let why = "internal error: failed to retrieve type information for x-kubernetes-validations";
        return errors.internal(&at, why);
    }
    for (index, rule) in rules.iter().enumerate() {
        one(errors, &at.index(index), rule, structure, around);
    }
}

fn one(
    errors: &mut ErrorList,
    at: &Path<'_>,
    rule: &Value,
    structure: &StructuralSchema,
    around: Around<'_>,
) {
    let said = text(rule, "rule");
    let about: (&dyn ValueSchema, bool) = (structure, around.is_resource);
    let compiled = |text: &str, wanted: ResultType| {
        let program = Program::parse(text).map_err(CheckError::Invalid)?;
        program.check(text, about, before_of(rule), wanted).map(|()| program)
    };
    let mut compares = false;
    match compiled(said, ResultType::Bool) {
        Ok(program) => {
            compares = program.is_transition();
            message(errors, &at.child("messageExpression"), rule, compiled);
        }
        Err(unfit) => {
            let why = match unfit {
                CheckError::Invalid(why) => format!("compilation failed: {why}"),
                CheckError::ResultType => "cel expression must evaluate to a bool".to_owned(),
            };
            errors.invalid_shown(&at.child("rule"), shown::rule(rule), &why);
        }
    }
    match around.forgets.filter(|_| compares) {
        Some(list) => {
            let why =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
            errors.invalid(&at.child("rule"), &json!(said), why);
        }
        None if !compares && is_set(rule, "optionalOldSelf") => {
            let why = "may not be set if oldSelf is not used in rule";
            errors.invalid(&at.child("optionalOldSelf"), &rule["optionalOldSelf"], why);
        }
        None => {}
    }
}

fn message(
    errors: &mut ErrorList,
    at: &Path<'_>,
    rule: &Value,
    compiled: impl Fn(&str, ResultType) -> Result<Program, CheckError>,
) {
    let why = match text(rule, "messageExpression") {
        "" => return,
        said => match compiled(said, ResultType::String) {
            Ok(_) => return,
            Err(CheckError::Invalid(why)) => format!("messageExpression compilation failed: {why}"),
            Err(CheckError::ResultType) => "messageExpression must evaluate to a string".to_owned(),
        },
    };
    errors.invalid_shown(at, shown::rule(rule), &why);
}
