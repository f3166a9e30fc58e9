//! Formats parts of definitions for error messages, with all fields under their Go names.

use gantry_json::{Value, json};

use super::versions::Shared;
use crate::decode::zero;
use crate::schema::{Field, MessageId, Other, Type, schema as shapes};

const VERSION: &str = "apiextensions/v1.CustomResourceDefinitionVersion";
const RULE: &str = "apiextensions/v1.ValidationRule";
const SCHEMA: &str = "apiextensions/v1.JSONSchemaProps";

/// Formats the versions without their shared fields.
pub(super) fn versions(versions: &Value, shared: &Shared) -> String {
    let Value::Array(versions) = versions else { return "null".to_owned() };
    let own = versions.iter().map(|version| {
        let mut own = version.clone();
        if let Value::Object(members) = &mut own {
            members.retain(|field, _| !shared.has(field));
        }
        message(VERSION, &own)
    });
    format!("[{}]", own.collect::<Vec<_>>().join(","))
}

/// Formats a schema.
pub(super) fn schema(value: &Value) -> String {
    message(SCHEMA, value)
}

/// Formats a rule of a schema.
pub(super) fn rule(value: &Value) -> String {
    message(RULE, value)
}

/// Returns the fields of a schema in Go's order.
pub(super) fn schema_fields() -> Vec<&'static str> {
    let id = shapes().find(SCHEMA);
    id.map(in_order).unwrap_or_default().into_iter().map(|field| field.json).collect()
}

fn message(name: &str, value: &Value) -> String {
    let json = shapes().find(name).map_or_else(|| value.to_string(), |id| object(id, value));
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn object(id: MessageId, value: &Value) -> String {
    let members = in_order(id).into_iter().map(|field| {
        let member = &value[field.json];
        let shown = match member {
            Value::Null if field.pointer => "null".to_owned(),
            Value::Null => zero(&field.kind).to_string(),
            member => typed(&field.kind, member),
        };
        format!("\"{}\":{shown}", go_name(field.json))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn typed(kind: &Type, value: &Value) -> String {
    let each = |element: &Type, values: &[Value]| {
        let shown: Vec<_> = values.iter().map(|value| typed(element, value)).collect();
        format!("[{}]", shown.join(","))
    };
    match (kind, value) {
        (Type::Message(id), _) => object(*id, value),
        (Type::List(element), Value::Array(values)) => each(element, values),
        (Type::Map(inner), Value::Object(entries)) => {
            let shown = entries.iter().map(|(key, value)| format!("{}:{}", json!(key), typed(inner, value)));
            format!("{{{}}}", shown.collect::<Vec<_>>().join(","))
        }
        (Type::Or(Other::Bool, _), Value::Bool(boolean)) => {
            format!("{{\"Allows\":{boolean},\"Schema\":null}}")
        }
        (Type::Or(Other::Bool, id), _) => format!("{{\"Allows\":true,\"Schema\":{}}}", object(*id, value)),
        (Type::Or(Other::List, id), Value::Array(values)) => {
            format!("{{\"Schema\":null,\"JSONSchemas\":{}}}", each(&Type::Message(*id), values))
        }
        (Type::Or(Other::List, id), _) => {
            format!("{{\"Schema\":{},\"JSONSchemas\":null}}", object(*id, value))
        }
        (Type::Or(Other::Texts, _), Value::Array(_)) => format!("{{\"Schema\":null,\"Property\":{value}}}"),
        (Type::Or(Other::Texts, id), _) => format!("{{\"Schema\":{},\"Property\":null}}", object(*id, value)),
        _ => value.to_string(),
    }
}

/// Returns the fields of a message in the order of the Go type, in which `nullable` comes before `format`.
fn in_order(id: MessageId) -> Vec<&'static Field> {
    let mut fields = shapes().fields(id);
    let place = |fields: &[&Field], name: &str| fields.iter().position(|field| field.json == name);
    if let (Some(from), Some(to)) = (place(&fields, "nullable"), place(&fields, "format")) {
        let nullable = fields.remove(from);
        fields.insert(to, nullable);
    }
    fields
}

fn go_name(json: &str) -> String {
    match json {
        "id" => return "ID".to_owned(),
        "url" => return "URL".to_owned(),
        "jsonPath" => return "JSONPath".to_owned(),
        "openAPIV3Schema" => return "OpenAPIV3Schema".to_owned(),
        _ => {}
    }
    let json = json.trim_start_matches('$');
    let words = json
        .strip_prefix("x-kubernetes-")
        .map_or_else(|| vec![json], |rest| ["x"].into_iter().chain(rest.split('-')).collect());
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        first + letters.as_str()
    };
    words.into_iter().map(capital).collect()
}
