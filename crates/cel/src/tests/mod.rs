//! Tables of expressions with their results or errors.

mod functions;
mod hostile;
mod language;
mod type_errors;

use gantry_json::{Value as Json, json};

use super::{CheckError, CostMeter, EvaluationError, Input, OldSelf, Program, ResultType};
use crate::schema::{ListType, PlainSchema, SchemaType};

/// The schema of `self` in these tests.
fn schema() -> Json {
    let text = json!({"type": "string"});
    let container = json!({"type": "object", "properties": {"name": text, "port": {"type": "integer"}}});
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "ratio": {"type": "number"},
            "name": text,
            "missing": text,
            "nothing": {"type": "string", "nullable": true},
            "namespace": text,
            "x-prop": text,
            "on": {"type": "boolean"},
            "port": {"x-kubernetes-int-or-string": true},
            "percent": {"x-kubernetes-int-or-string": true},
            "wait": {"type": "string", "format": "duration"},
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "key": {"type": "string", "format": "byte"},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "containers": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": container},
            "labels": {"type": "object", "additionalProperties": text},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
        }},
    }})
}

impl PlainSchema {
    /// Reads a schema in the form of a definition.
    fn read(schema: &Json) -> Self {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let inner = |key: &str| schema.get(key).map(|inner| Box::new(Self::read(inner)));
        Self {
            schema_type: SchemaType::read(schema),
            format: schema["format"].as_str().unwrap_or_default().to_owned(),
            nullable: schema["nullable"] == true,
            embedded: schema["x-kubernetes-embedded-resource"] == true,
            properties: properties.map(|(name, inner)| (name.to_string(), Self::read(inner))).collect(),
            additional: inner("additionalProperties"),
            items: inner("items"),
            lists: ListType::read(schema),
        }
    }
}

fn object() -> Json {
    json!({
        "apiVersion": "example.com/v1", "kind": "Thing",
        "metadata": {"name": "one", "labels": {"a": "b"}},
        "spec": {
            "replicas": 3, "ratio": 2, "name": "abc", "nothing": null, "namespace": "shop", "x-prop": "dashed",
            "on": true, "port": 8080, "percent": "50%", "wait": "1h30m", "day": "2024-02-29",
            "at": "2024-02-29T12:00:00.5Z", "key": "aGk=",
            "tags": ["a", "b"], "numbers": [3, 1, 2],
            "containers": [{"name": "web", "port": 80}, {"name": "log"}],
            "labels": {"app": "web", "tier": "front"},
            "any": {"x": 1},
            "template": {"kind": "Pod", "metadata": {"name": "inner"}},
        },
    })
}

/// Returns the result of an expression of type bool, or the error.
fn boolean(text: &str) -> Result<bool, String> {
    let (structure, object) = (PlainSchema::read(&schema()), object());
    let program = checked(text, ResultType::Bool)?;
    let subject = Input { value: &object, old: None, schema: &structure, is_resource: true };
    program.evaluate_bool(subject, OldSelf::Required, &mut CostMeter::default()).map_err(
        |error| match error {
            EvaluationError::Failed(why) => why,
            EvaluationError::CostExceeded => "exhausted".to_owned(),
        },
    )
}

fn checked(text: &str, wanted: ResultType) -> Result<Program, String> {
    let structure = PlainSchema::read(&schema());
    let program = Program::parse(text).map_err(|why| format!("unfit: {why}"))?;
    program.check(text, (&structure, true), OldSelf::Required, wanted).map_err(|unfit| match unfit {
        CheckError::Invalid(why) => format!("unfit: {why}"),
        CheckError::ResultType => "unfit: result".to_owned(),
    })?;
    Ok(program)
}

/// Asserts that every expression is true.
fn all_true(texts: &[&str]) {
    let wrong: Vec<_> = texts
        .iter()
        .filter_map(|text| match boolean(text) {
            Ok(true) => None,
            other => Some(format!("{text} is {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asserts that the evaluation of every expression fails with this error.
fn all_fail(table: &[(&str, &str)]) {
    let wrong: Vec<_> = table
        .iter()
        .filter_map(|(text, expected)| match boolean(text) {
            Err(why) if why == *expected => None,
            other => Some(format!("{text} is {other:?}, not {expected}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
