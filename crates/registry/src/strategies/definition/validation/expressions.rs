//! Validates CEL rules in a schema: syntax and types.
//!
//! Unlike Kubernetes this does not estimate the cost of rules: the evaluation of an expensive one is aborted.

use gantry_json::{Value, json};

use super::{go_format, schema};
use crate::custom::{AdditionalProperties, StructuralSchema, before_of};
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use gantry_cel::{self as cel, CheckError, Program, ResultType, ValueSchema};

/// The context of a schema.
#[derive(Clone, Copy)]
struct Context<'a> {
    is_resource: bool,
    /// The enclosing list, if its elements cannot be correlated with old ones.
    uncorrelated: Option<&'a str>,
}

/// Validates all rules of an otherwise valid schema.
pub(super) fn expressions(errors: &mut ErrorList, at: &Path<'_>, schema: &Value) {
    // Parsing a schema is expensive, and most have no rules.
    if schema::any(schema, &|schema| is_set(schema, "x-kubernetes-validations")) {
        let structure = StructuralSchema::read(schema);
        each(errors, at, schema, &structure, Context { is_resource: true, uncorrelated: None });
    }
}

fn each(
    errors: &mut ErrorList,
    at: &Path<'_>,
    schema: &Value,
    structure: &StructuralSchema,
    context: Context<'_>,
) {
    if !structure.has_rules {
        return;
    }
    let within = |inner: &StructuralSchema| Context { is_resource: inner.embedded, ..context };
    if let AdditionalProperties::Schema(values) = &structure.values {
        let at = at.child("additionalProperties");
        each(errors, &at, &schema["additionalProperties"], values, within(values));
    }
    for (name, inner) in members(schema, "properties") {
        if let Some(property) = structure.properties.get(name.as_str()) {
            each(errors, &at.child("properties").key(name), inner, property, within(property));
        }
    }
    if let Some(items) = &structure.items {
        let here = at.to_string();
        let knows = schema["x-kubernetes-list-type"] == "map";
        let uncorrelated =
            if knows { context.uncorrelated } else { Some(context.uncorrelated.unwrap_or(&here)) };
        let context = Context { is_resource: items.embedded, uncorrelated };
        each(errors, &at.child("items"), &schema["items"], items, context);
    }
    let at = at.child("x-kubernetes-validations");
    let rules = list(schema, "x-kubernetes-validations");
    if !rules.is_empty() && !cel::is_visible(structure, context.is_resource) {
        let why = "internal error: failed to retrieve type information for x-kubernetes-validations";
        return errors.internal(&at, why);
    }
    for (index, rule) in rules.iter().enumerate() {
        one(errors, &at.index(index), rule, structure, context);
    }
}

fn one(
    errors: &mut ErrorList,
    at: &Path<'_>,
    rule: &Value,
    structure: &StructuralSchema,
    context: Context<'_>,
) {
    let expression = text(rule, "rule");
    let about: (&dyn ValueSchema, bool) = (structure, context.is_resource);
    let compiled = |text: &str, wanted: ResultType| {
        let program = Program::parse(text).map_err(CheckError::Invalid)?;
        program.check(text, about, before_of(rule), wanted).map(|()| program)
    };
    let mut compares = false;
    match compiled(expression, ResultType::Bool) {
        Ok(program) => {
            compares = program.is_transition();
            message(errors, &at.child("messageExpression"), rule, compiled);
        }
        Err(unfit) => {
            let why = match unfit {
                CheckError::Invalid(why) => format!("compilation failed: {why}"),
                CheckError::ResultType => "cel expression must evaluate to a bool".to_owned(),
            };
            errors.invalid_formatted(&at.child("rule"), go_format::rule(rule), &why);
        }
    }
    match context.uncorrelated.filter(|_| compares) {
        Some(list) => {
            let why =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
            errors.invalid(&at.child("rule"), &json!(expression), why);
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
        expression => match compiled(expression, ResultType::String) {
            Ok(_) => return,
            Err(CheckError::Invalid(why)) => format!("messageExpression compilation failed: {why}"),
            Err(CheckError::ResultType) => "messageExpression must evaluate to a string".to_owned(),
        },
    };
    errors.invalid_formatted(at, go_format::rule(rule), &why);
}
