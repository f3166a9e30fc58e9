//! Decodes protobuf bodies: an envelope with the kind, and a message by its field numbers.
//!
//! The result is the same value as from JSON. Unknown fields are skipped.

use std::collections::BTreeMap;

use gantry_json::{Map, SmolStr, Value};

use super::complete::{complete, zero};
use super::depth::TOO_DEEP;
use super::time;
use super::tree::{MOST_NESTED, ObjectCount, SHALLOW};
use super::{base64, float, json};
use crate::schema::{Field, MessageId, Other, Type, schema};
use gantry_formats::protobuf::{self, FieldValue, MalformedMessage};
use gantry_formats::quantity::Quantity;
use gantry_formats::rfc3339::TimeLayout;

/// The prefix of every body.
const MAGIC: &[u8] = b"k8s\0";

/// The envelope: the kind of the object, and the object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) raw: Vec<u8>,
}

/// Decodes the envelope; the error is Go's.
pub(super) fn open(body: &[u8]) -> Result<Envelope, String> {
    let message = match body.strip_prefix(MAGIC) {
        _ if body.is_empty() => return Err("empty data".to_owned()),
        None => {
            return Err(
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
                    .to_owned(),
            );
        }
        Some([]) => return Err("empty body".to_owned()),
        Some(message) => message,
    };
    let mut envelope = Envelope::default();
    for field in fields(message) {
        match field? {
            (1, FieldValue::Bytes(meta)) => {
                for field in fields(meta) {
                    match field? {
                        (1, FieldValue::Bytes(bytes)) => envelope.api_version = text(bytes).into(),
                        (2, FieldValue::Bytes(bytes)) => envelope.kind = text(bytes).into(),
                        _ => {}
                    }
                }
            }
            (2, FieldValue::Bytes(bytes)) => envelope.raw = bytes.to_vec(),
            _ => {}
        }
    }
    Ok(envelope)
}

/// Returns the numbers and values of a message's fields.
fn fields(message: &[u8]) -> impl Iterator<Item = Result<(u32, FieldValue<'_>), String>> {
    protobuf::fields(message).map(|field| field.map(|field| (field.number, field.value)).map_err(Into::into))
}

/// Decodes an object of this message.
pub(super) fn object(bytes: &[u8], id: MessageId) -> Result<Map, String> {
    nested_object(bytes, id, Nesting { levels: 0, objects: &ObjectCount::default() })
}

/// The context of a value: its message and field, and what encloses it.
#[derive(Clone, Copy)]
struct DecodeContext<'a> {
    message: &'a str,
    field: &'a Field,
    nesting: Nesting<'a>,
}

/// The number of messages that enclose a value, and the number of messages of the body so far.
#[derive(Clone, Copy)]
struct Nesting<'a> {
    levels: usize,
    objects: &'a ObjectCount,
}

fn nested_object(bytes: &[u8], id: MessageId, nesting: Nesting<'_>) -> Result<Map, String> {
    if nesting.levels >= MOST_NESTED {
        return Err(TOO_DEEP.to_owned());
    }
    nesting.objects.add(1)?;
    let mut members = Map::new();
    read(bytes, id, nesting, &mut members)?;
    finish(&mut members, id);
    Ok(members)
}

/// Decodes the fields of a message; fields of inlined messages are added to the same object.
fn read(bytes: &[u8], id: MessageId, nesting: Nesting<'_>, members: &mut Map) -> Result<(), String> {
    let message = schema().message(id);
    for entry in fields(bytes) {
        let (number, wire) = entry?;
        let Some(field) = message.fields.iter().find(|field| field.number == number) else { continue };
        let context = DecodeContext { message: message.name, field, nesting };
        match (&field.kind, wire) {
            (Type::Inline(inlined), FieldValue::Bytes(bytes)) => read(bytes, *inlined, nesting, members)?,
            (Type::List(element), wire) => {
                let slot = members.entry(field.json).or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = slot {
                    elements(context, element, wire, list)?;
                }
            }
            (Type::Map(kind), FieldValue::Bytes(bytes)) => {
                let (key, value) = map_entry(context, kind, bytes)?;
                let slot = members.entry(field.json).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(map) = slot {
                    map.insert(key, value);
                }
            }
            (kind, wire) => {
                let value = single(context, kind, wire)?;
                members.insert(field.json.to_owned(), value);
            }
        }
    }
    Ok(())
}

/// Rounds resource quantities to thousandths, then brings absent and empty fields into canonical form.
fn finish(members: &mut Map, id: MessageId) {
    if schema().message(id).name.starts_with("core/") {
        for field in schema().each_field(id) {
            let Type::Map(value) = &field.kind else { continue };
            let Some(Value::Object(amounts)) =
                members.get_mut(field.json).filter(|_| **value == Type::Quantity)
            else {
                continue;
            };
            for amount in amounts.values_mut() {
                let kept =
                    amount.as_str().and_then(|text| Quantity::parse(text).ok()).map(Quantity::in_thousandths);
                *amount = kept.map_or(Value::Null, |kept| Value::from(kept.to_string()));
            }
        }
    }
    complete(members, id);
}

fn elements(
    context: DecodeContext<'_>,
    element: &Type,
    wire: FieldValue<'_>,
    list: &mut Vec<Value>,
) -> Result<(), String> {
    match (element, wire) {
        // Repeated numbers may be packed.
        (Type::Int32 | Type::Int64 | Type::Bool, FieldValue::Bytes(packed)) => {
            for number in protobuf::packed(packed)? {
                list.push(single(context, element, FieldValue::Varint(number))?);
            }
        }
        (element, wire) => list.push(single(context, element, wire)?),
    }
    Ok(())
}

fn map_entry(context: DecodeContext<'_>, kind: &Type, bytes: &[u8]) -> Result<(SmolStr, Value), String> {
    let (mut key, mut value) = (SmolStr::default(), None);
    for entry in fields(bytes) {
        match (entry?, kind) {
            ((1, FieldValue::Bytes(bytes)), _) => key = text(bytes),
            // A list as the value of a map is a separate message.
            ((2, FieldValue::Bytes(bytes)), Type::List(element)) => {
                let mut list = Vec::new();
                for entry in fields(bytes) {
                    if let (1, wire) = entry? {
                        elements(context, element, wire, &mut list)?;
                    }
                }
                value = Some(Value::Array(list));
            }
            ((2, wire), kind) => value = Some(single(context, kind, wire)?),
            _ => {}
        }
    }
    Ok((key, value.unwrap_or_else(|| zero(kind))))
}

fn single(context: DecodeContext<'_>, kind: &Type, wire: FieldValue<'_>) -> Result<Value, String> {
    Ok(match (kind, wire) {
        (Type::String | Type::Duration, FieldValue::Bytes(bytes)) => Value::from(text(bytes)),
        (Type::Bytes, FieldValue::Bytes(bytes)) => Value::from(base64::encode(bytes)),
        (Type::Bool, FieldValue::Varint(number)) => Value::Bool(number != 0),
        (Type::Int32, number @ FieldValue::Varint(_)) => Value::from(number.int32()),
        (Type::Int64, FieldValue::Varint(number)) => Value::from(number.cast_signed()),
        (Type::Float64, FieldValue::Fixed64(bits)) => float(f64::from_bits(bits)),
        (Type::Message(id), FieldValue::Bytes(bytes)) => {
            let nesting = Nesting { levels: context.nesting.levels + 1, ..context.nesting };
            Value::Object(nested_object(bytes, *id, nesting)?)
        }
        (Type::Quantity, FieldValue::Bytes(bytes)) => quantity(bytes)?,
        (Type::IntOrString, FieldValue::Bytes(bytes)) => int_or_string(bytes)?,
        (Type::Time, FieldValue::Bytes(bytes)) => timestamp(bytes, TimeLayout::Seconds)?,
        (Type::MicroTime, FieldValue::Bytes(bytes)) => timestamp(bytes, TimeLayout::Micros)?,
        (Type::Raw, FieldValue::Bytes(bytes)) => raw(bytes)?,
        (Type::Or(other, id), FieldValue::Bytes(bytes)) => either(context, *other, *id, bytes)?,
        (_, wire) => {
            let wire = match wire {
                FieldValue::Varint(_) => 0,
                FieldValue::Fixed64(_) => 1,
                FieldValue::Bytes(_) => 2,
                FieldValue::Fixed32(_) => 5,
            };
            let short = context.message.rsplit('.').next().unwrap_or(context.message);
            return Err(format!("proto: wrong wireType = {wire} for field {short}.{}", context.field.json));
        }
    })
}

/// Decodes an object or its alternative; `null` if it is neither.
fn either(context: DecodeContext<'_>, other: Other, id: MessageId, bytes: &[u8]) -> Result<Value, String> {
    let (schema, element) = match other {
        Other::Bool => (2, Type::Bool),
        Other::List => (1, Type::Message(id)),
        Other::Texts => (1, Type::String),
    };
    let (mut whole, mut list) = (None, Vec::new());
    for entry in fields(bytes) {
        match entry? {
            (number, wire) if number == schema => {
                whole = Some(single(context, &Type::Message(id), wire)?);
            }
            (1 | 2, wire) => list.push(single(context, &element, wire)?),
            _ => {}
        }
    }
    Ok(match (whole, other) {
        (Some(whole), _) => whole,
        (None, Other::Bool) => list.pop().unwrap_or(Value::Bool(false)),
        (None, _) if list.is_empty() => Value::Null,
        (None, _) => Value::Array(list),
    })
}

/// The fields of a small message, the last of each number.
fn parts(bytes: &[u8]) -> Result<BTreeMap<u32, FieldValue<'_>>, String> {
    fields(bytes).collect()
}

fn quantity(bytes: &[u8]) -> Result<Value, String> {
    let written = match parts(bytes)?.get(&1) {
        Some(FieldValue::Bytes(bytes)) => text(bytes),
        _ => SmolStr::default(),
    };
    if written.is_empty() {
        return Ok(Value::from("0"));
    }
    let quantity = Quantity::parse(&written).map_err(|problem| problem.to_string())?;
    Ok(Value::from(quantity.to_string()))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, String> {
    let parts = parts(bytes)?;
    Ok(match (parts.get(&1), parts.get(&2), parts.get(&3)) {
        (None | Some(FieldValue::Varint(0)), Some(number @ FieldValue::Varint(_)), _) => {
            Value::from(number.int32())
        }
        (None | Some(FieldValue::Varint(0)), _, _) => Value::from(0),
        (_, _, Some(FieldValue::Bytes(bytes))) => Value::from(text(bytes)),
        _ => Value::from(""),
    })
}

/// A time; an empty message means that it is not set.
fn timestamp(bytes: &[u8], layout: TimeLayout) -> Result<Value, String> {
    let parts = parts(bytes)?;
    if parts.is_empty() {
        return Ok(Value::Null);
    }
    let number = |part: u32| match parts.get(&part) {
        Some(FieldValue::Varint(number)) => number.cast_signed(),
        _ => 0,
    };
    let micros = u32::try_from(number(2) / 1000).unwrap_or(0).min(999_999);
    Ok(time::write(number(1), micros, layout).map_or(Value::Null, Value::from))
}

/// JSON inside of protobuf.
fn raw(bytes: &[u8]) -> Result<Value, String> {
    let Some(FieldValue::Bytes(written)) = parts(bytes)?.remove(&1) else { return Ok(Value::Null) };
    if written.is_empty() {
        return Ok(Value::Null);
    }
    let mut document = json::read(written)?;
    if document.depth > SHALLOW {
        return Err(MalformedMessage::CutShort.into());
    }
    Ok(document.root.take_value())
}

fn text(bytes: &[u8]) -> SmolStr {
    String::from_utf8_lossy(bytes).into()
}
