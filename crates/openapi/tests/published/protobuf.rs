//! The same definitions in gnostic's protobuf.

use gantry_json::{Value, json};
use gantry_openapi as openapi;
use gantry_schema::kinds::kinds;

use crate::{widgets, with};

/// A field of a message: its number and value.
type Field<'b> = (u64, Held<'b>);

#[derive(Debug, PartialEq)]
enum Held<'b> {
    Number(u64),
    Double(f64),
    Bytes(&'b [u8]),
}

/// A1.13, A1.14: the protobuf starts with the fields that old clients expect, and has every definition with its kind.
#[test]
fn the_protobuf_has_every_definition() {
    let v2: Value = gantry_json::from_slice(&openapi::v2(kinds())).unwrap();
    let bytes = openapi::gnostic(kinds());
    assert_eq!(&bytes[..5], b"\x0a\x032.0");
    let numbers: Vec<_> = fields(&bytes).iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 2, 8, 9], "swagger, info, paths, definitions");
    let definitions = within(&bytes, 9);
    let entries = fields(definitions).into_iter().map(|(_, entry)| entry.bytes());
    let names: Vec<_> = entries.map(|entry| str::from_utf8(within(entry, 1)).unwrap()).collect();
    let wanted: Vec<_> = v2["definitions"].as_object().unwrap().keys().collect();
    assert_eq!(names, wanted);
    let extension = within(named(definitions, "io.k8s.api.apps.v1.Deployment"), 31);
    assert_eq!(within(extension, 1), b"x-kubernetes-group-version-kind");
    let kind = r#"[{"group":"apps","kind":"Deployment","version":"v1"}]"#;
    assert_eq!(fields(within(extension, 2)), [(2, Held::Bytes(kind.as_bytes()))], "YAML in the second field");
}

/// Appendix E, A1.14: all fields of a value that kubectl 1.20 reads, and limits that other clients may read.
#[test]
fn a_value_is_written_field_by_field() {
    let schema = json!({"type": "object", "properties": {
        "any": {"x-kubernetes-int-or-string": true},
        "limited": {
            "type": "number", "title": "T", "maximum": 2.5, "exclusiveMaximum": true, "minimum": -1,
            "enum": [1, 2.5], "multipleOf": 0.5,
        },
        "map": {"type": "object", "additionalProperties": true, "minProperties": 1, "externalDocs": {"url": "u"}},
        "text": {"type": "string", "maxLength": 300, "pattern": "^a", "example": "abc"},
    }});
    let document = openapi::gnostic(&with(&[widgets(&schema)]));
    let definition = named(within(&document, 9), "com.example.shop.v1.Widget");
    let properties = within(definition, 25);
    let value = |name: &str| fields(named(properties, name));
    assert_eq!(value("any"), [extension("x-kubernetes-int-or-string", "true").as_field()]);
    assert_eq!(
        value("limited"),
        [
            (3, Held::Bytes(b"T")),
            (6, Held::Double(0.5)),
            (7, Held::Double(2.5)),
            (9, Held::Double(-1.0)),
            (8, Held::Number(1)),
            (20, Held::Bytes(b"\x12\x011")),
            (20, Held::Bytes(b"\x12\x032.5")),
            (22, Held::Bytes(b"\x0a\x06number")),
        ]
    );
    assert_eq!(
        value("map"),
        [
            (18, Held::Number(1)),
            (21, Held::Bytes(&[0x10, 1])),
            (22, Held::Bytes(b"\x0a\x06object")),
            (29, Held::Bytes(b"\x12\x01u")),
        ]
    );
    assert_eq!(
        value("text"),
        [
            (11, Held::Number(300)),
            (13, Held::Bytes(b"^a")),
            (22, Held::Bytes(b"\x0a\x06string")),
            (30, Held::Bytes(b"\x12\x05\"abc\"")),
        ]
    );
}

/// An encoded extension.
struct Extension(Vec<u8>);

fn extension(name: &str, yaml: &str) -> Extension {
    let prefixed = |tag: u8, bytes: &[u8]| [&[tag, u8::try_from(bytes.len()).unwrap()], bytes].concat();
    Extension([prefixed(0x0a, name.as_bytes()), prefixed(0x12, &prefixed(0x12, yaml.as_bytes()))].concat())
}

impl Extension {
    fn as_field(&self) -> Field<'_> {
        (31, Held::Bytes(&self.0))
    }
}

/// The bytes in a field.
fn within(bytes: &[u8], number: u64) -> &[u8] {
    fields(bytes).into_iter().find(|(field, _)| *field == number).map(|(_, held)| held.bytes()).unwrap()
}

/// The value of an entry.
fn named<'b>(entries: &'b [u8], name: &str) -> &'b [u8] {
    let mut entries = fields(entries).into_iter().map(|(_, entry)| entry.bytes());
    let entry = entries.find(|entry| within(entry, 1) == name.as_bytes()).unwrap();
    within(entry, 2)
}

impl<'b> Held<'b> {
    fn bytes(self) -> &'b [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) | Self::Double(_) => &[],
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (tag, rest) = varint(bytes);
        let (held, rest) = match tag & 7 {
            0 => {
                let (number, rest) = varint(rest);
                (Held::Number(number), rest)
            }
            1 => {
                let (double, rest) = rest.split_at(8);
                (Held::Double(f64::from_le_bytes(double.try_into().unwrap())), rest)
            }
            _ => {
                let (length, rest) = varint(rest);
                let (held, rest) = rest.split_at(usize::try_from(length).unwrap());
                (Held::Bytes(held), rest)
            }
        };
        fields.push((tag >> 3, held));
        bytes = rest;
    }
    fields
}

fn varint(bytes: &[u8]) -> (u64, &[u8]) {
    let end = bytes.iter().position(|byte| *byte < 0x80).unwrap();
    let value = bytes[..=end].iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f));
    (value, &bytes[end + 1..])
}
