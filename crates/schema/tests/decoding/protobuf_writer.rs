//! Writes request bodies as typed clients do: fields that are not pointers always, others only if set (A9.5).

use gantry_formats::base64;
use gantry_json::{Map, Value};
use gantry_schema::schema::{MessageId, Other, Type, schema};

/// Returns an object with kind and version as a body with its envelope.
pub(crate) fn body(object: &Value, id: MessageId) -> Vec<u8> {
    let text = |key: &str| object[key].as_str().unwrap_or_default().as_bytes().to_vec();
    let mut meta = Vec::new();
    bytes(1, &text("apiVersion"), &mut meta);
    bytes(2, &text("kind"), &mut meta);
    let mut raw = Vec::new();
    message(object.as_object().unwrap(), id, &mut raw);
    let mut body = b"k8s\0".to_vec();
    bytes(1, &meta, &mut body);
    bytes(2, &raw, &mut body);
    bytes(3, b"", &mut body);
    bytes(4, b"", &mut body);
    body
}

fn message(members: &Map, id: MessageId, out: &mut Vec<u8>) {
    for field in &schema().message(id).fields {
        let value = members.get(field.json).filter(|value| !value.is_null());
        match (&field.kind, value) {
            (Type::Inline(inlined), _) => {
                let mut inner = Vec::new();
                message(members, *inlined, &mut inner);
                bytes(field.number, &inner, out);
            }
            (Type::List(element), Some(Value::Array(elements))) => {
                for value in elements {
                    single(field.number, element, value, out);
                }
            }
            (Type::Map(kind), Some(Value::Object(entries))) => {
                for (key, value) in entries {
                    let mut entry = Vec::new();
                    bytes(1, key.as_bytes(), &mut entry);
                    map_value(kind, value, &mut entry);
                    bytes(field.number, &entry, out);
                }
            }
            (Type::List(_) | Type::Map(_), _) | (Type::Raw | Type::Bytes, None) => {}
            (kind, Some(value)) => single(field.number, kind, value, out),
            (kind, None) => {
                if !field.pointer {
                    single(field.number, kind, &Value::Null, out);
                }
            }
        }
    }
}

fn map_value(kind: &Type, value: &Value, entry: &mut Vec<u8>) {
    let Type::List(element) = kind else { return single(2, kind, value, entry) };
    let mut list = Vec::new();
    value.as_array().into_iter().flatten().for_each(|value| single(1, element, value, &mut list));
    bytes(2, &list, entry);
}

fn single(number: u32, kind: &Type, value: &Value, out: &mut Vec<u8>) {
    let mut inner = Vec::new();
    match kind {
        Type::Bool => return integer(number, i64::from(value.as_bool().unwrap_or_default()), out),
        Type::Int32 | Type::Int64 => return integer(number, value.as_i64().unwrap_or_default(), out),
        Type::Float64 => {
            varint(u64::from(number) << 3 | 1, out);
            out.extend_from_slice(&value.as_f64().unwrap_or_default().to_le_bytes());
            return;
        }
        Type::String | Type::Duration => {
            inner.extend_from_slice(value.as_str().unwrap_or_default().as_bytes());
        }
        Type::Bytes => inner = base64::decode(value.as_str().unwrap_or_default()).unwrap(),
        Type::Quantity => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            bytes(1, if value.is_null() { b"0" } else { text.as_bytes() }, &mut inner);
        }
        Type::IntOrString => {
            integer(1, i64::from(value.is_string()), &mut inner);
            integer(2, value.as_i64().unwrap_or_default(), &mut inner);
            bytes(3, value.as_str().unwrap_or_default().as_bytes(), &mut inner);
        }
        Type::Time | Type::MicroTime => {
            if let Some(text) = value.as_str() {
                let (seconds, micros) = timestamp(text);
                integer(1, seconds, &mut inner);
                integer(2, micros * 1000, &mut inner);
            }
        }
        Type::Raw => bytes(1, value.to_string().as_bytes(), &mut inner),
        Type::Message(id) => message(value.as_object().unwrap_or(&Map::new()), *id, &mut inner),
        Type::Or(other, id) => match (other, value) {
            (Other::Bool, Value::Bool(boolean)) => integer(1, i64::from(*boolean), &mut inner),
            (Other::Bool, _) => {
                integer(1, 1, &mut inner);
                single(2, &Type::Message(*id), value, &mut inner);
            }
            (_, Value::Object(_)) => single(1, &Type::Message(*id), value, &mut inner),
            (Other::List, _) => list(&Type::Message(*id), value, &mut inner),
            (Other::Texts, _) => list(&Type::String, value, &mut inner),
        },
        Type::Inline(_) | Type::List(_) | Type::Map(_) => panic!("{kind:?} is not a single value"),
    }
    bytes(number, &inner, out);
}

fn list(element: &Type, values: &Value, out: &mut Vec<u8>) {
    values.as_array().into_iter().flatten().for_each(|value| single(2, element, value, out));
}

/// Seconds and microseconds of a time in 2026; the tests use no other year.
fn timestamp(text: &str) -> (i64, i64) {
    let part = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
    assert!(text.starts_with("2026-"), "{text}");
    let days_before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let month = usize::try_from(part(5..7) - 1).unwrap();
    let days = 20_454 + days_before[month] + part(8..10) - 1;
    let micros = if text.len() > 20 { part(20..26) } else { 0 };
    (days * 86_400 + part(11..13) * 3600 + part(14..16) * 60 + part(17..19), micros)
}

fn integer(number: u32, value: i64, out: &mut Vec<u8>) {
    varint(u64::from(number) << 3, out);
    varint(value.cast_unsigned(), out);
}

pub(crate) fn bytes(number: u32, content: &[u8], out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | 2, out);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
}
