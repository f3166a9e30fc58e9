//! JSON data as values of expressions, read along its schema.

use std::sync::LazyLock;

use gantry_formats::duration;
use gantry_json::Value as Json;

use super::cost::EvaluationError;
use super::text::Bytes;
use super::value::{List, Map, Object, Value};
use super::{identifiers, time};
use crate::schema::{PlainSchema, SchemaType, ValueSchema};

/// The metadata of a resource whose schema does not declare it.
static META: LazyLock<PlainSchema> =
    LazyLock::new(|| PlainSchema::object_of_strings(&["name", "generateName"]));
static TEXT: LazyLock<PlainSchema> = LazyLock::new(PlainSchema::string);

/// The longest text that is parsed as a timestamp or duration, because it is parsed on every access.
const LONGEST: usize = 100;

/// Reads a value along its schema.
pub(super) fn read<'a>(json: &'a Json, schema: &'a dyn ValueSchema) -> Result<Value<'a>, EvaluationError> {
    read_as(json, schema, schema.is_embedded_resource())
}

/// Reads a value that may be a resource.
pub(super) fn read_as<'a>(
    json: &'a Json,
    schema: &'a dyn ValueSchema,
    is_resource: bool,
) -> Result<Value<'a>, EvaluationError> {
    let wrong = |wanted: &str| {
        Err(EvaluationError::new(format!("invalid data, expected {wanted}, got {}", type_of(json))))
    };
    if json.is_null() {
        let why = "invalid data, got null for schema with nullable=false";
        return if schema.is_nullable() { Ok(Value::Null) } else { Err(EvaluationError::new(why)) };
    }
    Ok(match (schema.schema_type(), json) {
        (Some(SchemaType::IntOrString | SchemaType::String), Json::String(text)) => {
            return read_text(text, schema);
        }
        (Some(SchemaType::IntOrString | SchemaType::Integer), Json::Number(number)) => {
            match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => return wrong("int"),
            }
        }
        (Some(SchemaType::IntOrString), _) => {
            let why = "invalid data, expected XIntOrString value to be either a string or integer";
            return Err(EvaluationError::new(why));
        }
        (Some(SchemaType::Number), Json::Number(number)) => {
            Value::Double(number.as_f64().unwrap_or(f64::NAN))
        }
        (Some(SchemaType::Boolean), Json::Bool(boolean)) => Value::Bool(*boolean),
        (Some(SchemaType::Object), Json::Object(members)) => match schema.additional() {
            Some(values) if !schema.has_properties() && !is_resource => {
                Value::Map(Map::Stored { members, values })
            }
            _ => Value::Object(Object { members, schema, is_resource }),
        },
        (Some(SchemaType::Array), Json::Array(elements)) => match schema.elements() {
            Some(items) => Value::List(List::Stored { elements, items, lists: schema.list_type() }),
            None => {
                return Err(EvaluationError::new(
                    "invalid array type, expected Items with a non-empty Schema",
                ));
            }
        },
        (None, json) => Value::Unknown(json),
        (Some(schema_type), _) => return wrong(schema_type.name()),
    })
}

fn read_text<'a>(text: &'a str, schema: &dyn ValueSchema) -> Result<Value<'a>, EvaluationError> {
    let format = if schema.schema_type() == Some(SchemaType::String) { schema.format() } else { "" };
    let (read, what) = match format {
        "duration" | "date" | "date-time" if text.len() > LONGEST => {
            return Err(EvaluationError::new(format!("Invalid {format} of more than {LONGEST} letters")));
        }
        "duration" => (duration::parse_with_words(text).map(Value::Duration), "duration"),
        "date" => (time::date(text).map(Value::Timestamp), "date formatted string"),
        "date-time" => {
            (time::timestamp(&text.to_uppercase()).map(Value::Timestamp), "date-time formatted string")
        }
        "byte" => (Some(Value::Bytes(Bytes::Encoded(text))), ""),
        _ => (Some(Value::text(text)), ""),
    };
    read.ok_or_else(|| EvaluationError::new(format!("Invalid {what} {text}")))
}

fn type_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The schema of a property. A resource always has `apiVersion`, `kind` and parts of `metadata`.
pub(super) fn declared<'a>(
    schema: &'a dyn ValueSchema,
    is_resource: bool,
    field: &str,
) -> Option<&'a dyn ValueSchema> {
    match field {
        "apiVersion" | "kind" if is_resource => Some(&*TEXT),
        "metadata" if is_resource => {
            let own = schema.property(field);
            let is_text = |of: Option<&dyn ValueSchema>, name: &str| {
                of.and_then(|of| of.property(name))
                    .is_some_and(|inner| inner.schema_type() == Some(SchemaType::String))
            };
            let is_complete = is_text(Some(schema), "kind")
                && is_text(Some(schema), "apiVersion")
                && is_text(own, "name")
                && is_text(own, "generateName");
            own.filter(|_| is_complete).or(Some(&*META))
        }
        _ => schema.property(field),
    }
}

impl<'a> Object<'a> {
    /// A property by its identifier in expressions.
    pub(super) fn get(&self, name: &str) -> Option<Result<Value<'a>, EvaluationError>> {
        self.field(&identifiers::unescape(name)?)
    }

    /// A property by its own name.
    pub(super) fn field(&self, field: &str) -> Option<Result<Value<'a>, EvaluationError>> {
        let schema = declared(self.schema, self.is_resource, field)?;
        self.members.get(field).map(|json| read(json, schema))
    }

    /// The declared properties.
    pub(super) fn visible(&self) -> impl Iterator<Item = (&'a str, Result<Value<'a>, EvaluationError>)> {
        self.members.iter().filter_map(|(field, json)| {
            let schema = declared(self.schema, self.is_resource, field)?;
            Some((field.as_str(), read(json, schema)))
        })
    }
}
