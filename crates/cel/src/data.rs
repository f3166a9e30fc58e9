//! What is judged as expressions see it: each value as its schema has it.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::meter::Fault;
use super::text::Bytes;
use super::value::{List, Map, Object, Value};
use super::{names, time};
use crate::schema::{Basic, PlainSchema, Schema};

/// The metadata of a resource whose schema does not declare it.
static META: LazyLock<PlainSchema> =
    LazyLock::new(|| PlainSchema::object_of_strings(&["name", "generateName"]));
static TEXT: LazyLock<PlainSchema> = LazyLock::new(PlainSchema::string);

/// How long a moment or a duration may be as text: they are read as often as they are mentioned.
const LONGEST: usize = 100;

/// Reads a value that is described by a schema.
pub(super) fn read<'a>(json: &'a Json, schema: &'a dyn Schema) -> Result<Value<'a>, Fault> {
    read_as(json, schema, schema.is_embedded_resource())
}

/// Reads a value that may be a resource.
pub(super) fn read_as<'a>(
    json: &'a Json,
    schema: &'a dyn Schema,
    is_resource: bool,
) -> Result<Value<'a>, Fault> {
    let wrong =
        |wanted: &str| Err(Fault::new(format!("invalid data, expected {wanted}, got {}", type_of(json))));
    if json.is_null() {
        let why = "invalid data, got null for schema with nullable=false";
        return if schema.is_nullable() { Ok(Value::Null) } else { Err(Fault::new(why)) };
    }
    Ok(match (schema.basic(), json) {
        (Some(Basic::IntOrString | Basic::String), Json::String(text)) => {
            return read_text(text, schema);
        }
        (Some(Basic::IntOrString | Basic::Integer), Json::Number(number)) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => return wrong("int"),
        },
        (Some(Basic::IntOrString), _) => {
            let why = "invalid data, expected XIntOrString value to be either a string or integer";
            return Err(Fault::new(why));
        }
        (Some(Basic::Number), Json::Number(number)) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        (Some(Basic::Boolean), Json::Bool(truth)) => Value::Bool(*truth),
        (Some(Basic::Object), Json::Object(members)) => match schema.additional() {
            Some(values) if !schema.has_properties() && !is_resource => {
                Value::Map(Map::Stored { members, values })
            }
            _ => Value::Object(Object { members, schema, is_resource }),
        },
        (Some(Basic::Array), Json::Array(elements)) => match schema.elements() {
            Some(items) => Value::List(List::Stored { elements, items, lists: schema.list_type() }),
            None => return Err(Fault::new("invalid array type, expected Items with a non-empty Schema")),
        },
        (None, json) => Value::Unknown(json),
        (Some(basic), _) => return wrong(basic.name()),
    })
}

fn read_text<'a>(text: &'a str, schema: &dyn Schema) -> Result<Value<'a>, Fault> {
    let format = if schema.basic() == Some(Basic::String) { schema.format() } else { "" };
    let (read, what) = match format {
        "duration" | "date" | "date-time" if text.len() > LONGEST => {
            return Err(Fault::new(format!("Invalid {format} of more than {LONGEST} letters")));
        }
        "duration" => (time::written_duration(text).map(Value::Duration), "duration"),
        "date" => (time::date(text).map(Value::Timestamp), "date formatted string"),
        "date-time" => {
            (time::timestamp(&text.to_uppercase()).map(Value::Timestamp), "date-time formatted string")
        }
        "byte" => (Some(Value::Bytes(Bytes::Encoded(text))), ""),
        _ => (Some(Value::text(text)), ""),
    };
    read.ok_or_else(|| Fault::new(format!("Invalid {what} {text}")))
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

/// The schema of a member as it is called; of a resource, some are always there and the rest of its metadata never is.
pub(super) fn declared<'a>(schema: &'a dyn Schema, is_resource: bool, field: &str) -> Option<&'a dyn Schema> {
    match field {
        "apiVersion" | "kind" if is_resource => Some(&*TEXT),
        "metadata" if is_resource => {
            let own = schema.property(field);
            let is_text = |of: Option<&dyn Schema>, name: &str| {
                of.and_then(|of| of.property(name)).is_some_and(|inner| inner.basic() == Some(Basic::String))
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
    /// A member by the name that expressions have for it.
    pub(super) fn get(&self, name: &str) -> Option<Result<Value<'a>, Fault>> {
        self.field(&names::meant(name)?)
    }

    /// A member by its own name.
    pub(super) fn field(&self, field: &str) -> Option<Result<Value<'a>, Fault>> {
        let schema = declared(self.schema, self.is_resource, field)?;
        self.members.get(field).map(|json| read(json, schema))
    }

    /// The members that are declared.
    pub(super) fn visible(&self) -> impl Iterator<Item = (&'a str, Result<Value<'a>, Fault>)> {
        self.members.iter().filter_map(|(field, json)| {
            let schema = declared(self.schema, self.is_resource, field)?;
            Some((field.as_str(), read(json, schema)))
        })
    }
}
