//! Encodes objects as JSON, as Kubernetes writes it.
//!
//! Kind and version come first, then the fields in the order of the schema, keys of maps sorted. A field that is never
//! omitted is written even if the object lacks it, so that objects made by the server look like stored ones.

mod parts;
mod pretty;
mod text;
mod yaml;

pub use parts::{PreviousText, TextParts};
pub use pretty::{pretty, pretty_within};
pub use yaml::{indented_bytes_max, json_bytes, yaml, yaml_element, yaml_text, yaml_text_within};

use gantry_json::{Map, Value};

use crate::decode::complete::absent;
use crate::empties::is_omitted;
use crate::kinds::Nature;
use crate::schema::{Field, MessageId, Other, Type, schema};
use parts::{PartKind, Writer};

/// Whether kind and version are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeMeta {
    /// A single object.
    Written,
    /// An item of a list.
    LeftOut,
}

/// Writes an object with kind and version, and a newline after it.
pub fn object(value: &Value, nature: &Nature) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1024);
    object_into(value, nature, TypeMeta::Written, &mut bytes);
    bytes.push(b'\n');
    bytes
}

/// Appends an object without newline. Objects of custom kinds always have kind and version.
pub fn object_into(value: &Value, nature: &Nature, type_meta: TypeMeta, bytes: &mut Vec<u8>) {
    write_object(value, nature, type_meta, &mut Writer::new(bytes));
}

/// Appends an object with kind and version, without newline, and returns the positions of its parts. Parts that it
/// shares with an object that was written before are copied from that text.
pub fn object_with_parts(
    value: &Value,
    nature: &Nature,
    previous: Option<PreviousText<'_>>,
    bytes: &mut Vec<u8>,
) -> TextParts {
    let mut writer = Writer { bytes, previous, parts: Some(TextParts::default()) };
    write_object(value, nature, TypeMeta::Written, &mut writer);
    writer.parts.unwrap_or_default()
}

fn write_object(value: &Value, nature: &Nature, type_meta: TypeMeta, writer: &mut Writer<'_>) {
    match nature {
        Nature::BuiltIn(id) => message(value, *id, type_meta, writer),
        Nature::Custom(_) => anything(value, writer),
    }
}

/// Writes the start of a list, up to its items; it ends with `]}` and a newline.
pub fn list_start(kind: &str, api_version: &str, metadata: &Value, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b"{\"kind\":");
    text::string(kind, bytes);
    bytes.extend_from_slice(b",\"apiVersion\":");
    text::string(api_version, bytes);
    bytes.extend_from_slice(b",\"metadata\":");
    match schema().find("meta/v1.ListMeta") {
        // An empty continue token must be written.
        Some(list_meta) if metadata["continue"] != "" => {
            message(metadata, list_meta, TypeMeta::LeftOut, &mut Writer::new(bytes));
        }
        _ => anything(metadata, &mut Writer::new(bytes)),
    }
    bytes.extend_from_slice(b",\"items\":[");
}

/// Writes a list and a newline.
pub fn list<'a>(
    kind: &str,
    api_version: &str,
    metadata: &Value,
    items: impl IntoIterator<Item = &'a Value>,
    nature: &Nature,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1024);
    list_start(kind, api_version, metadata, &mut bytes);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        object_into(item, nature, TypeMeta::LeftOut, &mut bytes);
    }
    bytes.extend_from_slice(b"]}\n");
    bytes
}

/// Writes a value without a schema, its members sorted by name, without newline.
pub fn plain(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    anything(value, &mut Writer::new(&mut bytes));
    bytes
}

fn message(value: &Value, id: MessageId, type_meta: TypeMeta, writer: &mut Writer<'_>) {
    let Value::Object(members) = value else { return anything(value, writer) };
    let mut object = Members::open(writer);
    if type_meta == TypeMeta::Written {
        for key in ["kind", "apiVersion"] {
            if let Some(Value::String(value)) = members.get(key).filter(|_| schema().field(id, key).is_none())
            {
                text::string(value, object.member(key).bytes);
            }
        }
    }
    let present = members.iter().filter_map(|(name, value)| Some((schema().position(id, name)?, value)));
    let mut present: Vec<(usize, &Value)> = present.collect();
    present.sort_unstable_by_key(|(position, _)| *position);
    let mut never_absent = schema().never_absent(id).iter().copied().peekable();
    for (position, value) in present {
        while let Some(earlier) = never_absent.next_if(|earlier| *earlier < position) {
            absent_field(schema().field_at(id, earlier), &mut object);
        }
        let field = schema().field_at(id, position);
        if !is_omitted(field, value) {
            typed(value, &field.kind, object.field(field.json));
            never_absent.next_if_eq(&position);
        }
    }
    never_absent.for_each(|position| absent_field(schema().field_at(id, position), &mut object));
    object.close();
}

/// Writes a field that the object lacks, if it is written even then.
fn absent_field(field: &Field, object: &mut Members<'_, '_>) {
    if let Some(value) = absent(field) {
        // The value is temporary: none of its parts is shared.
        typed(&value, &field.kind, &mut Writer::new(object.field(field.json).bytes));
    }
}

fn typed(value: &Value, kind: &Type, writer: &mut Writer<'_>) {
    match (value, kind) {
        (Value::Object(_), Type::Message(id) | Type::Inline(id) | Type::Or(_, id)) => {
            writer.part(value, PartKind::Message(*id), |writer| {
                message(value, *id, TypeMeta::Written, writer);
            });
        }
        (Value::Array(elements), Type::List(element)) => {
            list_of(elements, writer, |value, writer| typed(value, element, writer));
        }
        (Value::Array(_), Type::Or(Other::List, id)) => {
            typed(value, &Type::List(Box::new(Type::Message(*id))), writer);
        }
        (Value::Object(entries), Type::Map(kind)) => {
            map(entries, writer, |value, writer| typed(value, kind, writer));
        }
        _ => anything(value, writer),
    }
}

fn anything(value: &Value, writer: &mut Writer<'_>) {
    match value {
        Value::Null => writer.bytes.extend_from_slice(b"null"),
        Value::Bool(boolean) => writer.bytes.extend_from_slice(if *boolean { b"true" } else { b"false" }),
        Value::Number(number) => text::number(number, writer.bytes),
        Value::String(value) => text::string(value, writer.bytes),
        Value::Array(elements) => list_of(elements, writer, anything),
        Value::Object(entries) => {
            writer.part(value, PartKind::Anything, |writer| map(entries, writer, anything));
        }
    }
}

fn list_of(elements: &[Value], writer: &mut Writer<'_>, write: impl Fn(&Value, &mut Writer<'_>)) {
    writer.bytes.push(b'[');
    for (index, value) in elements.iter().enumerate() {
        if index > 0 {
            writer.bytes.push(b',');
        }
        write(value, writer);
    }
    writer.bytes.push(b']');
}

fn map(entries: &Map, writer: &mut Writer<'_>, write: impl Fn(&Value, &mut Writer<'_>)) {
    let mut object = Members::open(writer);
    for (key, value) in entries {
        write(value, object.member(key));
    }
    object.close();
}

/// Writes the members of an object.
struct Members<'w, 'a> {
    writer: &'w mut Writer<'a>,
    first: bool,
}

impl<'w, 'a> Members<'w, 'a> {
    fn open(writer: &'w mut Writer<'a>) -> Self {
        writer.bytes.push(b'{');
        Self { writer, first: true }
    }

    /// Starts a member; its value is written next.
    fn member(&mut self, key: &str) -> &mut Writer<'a> {
        self.separate();
        text::string(key, self.writer.bytes);
        self.writer.bytes.push(b':');
        self.writer
    }

    /// Starts a member that is a field of the schema: its name has nothing to escape.
    fn field(&mut self, name: &'static str) -> &mut Writer<'a> {
        self.separate();
        let bytes = &mut *self.writer.bytes;
        bytes.reserve(name.len() + 3);
        bytes.push(b'"');
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b"\":");
        self.writer
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.bytes.push(b',');
        }
    }

    fn close(self) {
        self.writer.bytes.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn written(value: &Value, message: &str) -> String {
        String::from_utf8(object(value, &schema().find(message).unwrap().into())).unwrap()
    }

    /// A2.1, A0.4: kind and version first, then the order of the schema, no spaces, a newline at the end.
    #[test]
    fn fields_are_in_the_order_of_the_schema() {
        let value = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2", "a": "1"}, "immutable": true,
            "metadata": {"uid": "u", "name": "n", "labels": {"z": "", "a": "<&>"}}
        });
        assert_eq!(
            written(&value, "core/v1.ConfigMap"),
            "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\",\"uid\":\"u\",\
             \"labels\":{\"a\":\"\\u003c\\u0026\\u003e\",\"z\":\"\"}},\"immutable\":true,\
             \"data\":{\"a\":\"1\",\"b\":\"2\"}}\n"
        );
    }

    /// A2.7: fields that are never omitted are written, although the object lacks them.
    #[test]
    fn an_object_without_status_is_written_with_one() {
        let value = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "n"}});
        assert_eq!(
            written(&value, "core/v1.Service"),
            "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\"},\"spec\":{},\
             \"status\":{\"loadBalancer\":{}}}\n"
        );
    }

    /// A2.1: items of lists have neither kind nor version, and no items are `[]`.
    #[test]
    fn items_have_no_kind() {
        let nature = schema().find("core/v1.ConfigMap").unwrap().into();
        let item = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "n"}});
        let meta = json!({"resourceVersion": "5"});
        assert_eq!(
            String::from_utf8(list("ConfigMapList", "v1", &meta, [&item], &nature)).unwrap(),
            "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"},\
             \"items\":[{\"metadata\":{\"name\":\"n\"}}]}\n"
        );
        assert!(list("ConfigMapList", "v1", &json!({}), [], &nature).ends_with(b"\"items\":[]}\n"));
    }

    /// A0.4: floats are written as Go writes them, integers without a fraction.
    #[test]
    fn numbers_are_written_as_go_writes_them() {
        let table = [
            ("1.0", "1"),
            ("-2.50", "-2.5"),
            ("1e3", "1000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("0.000001", "0.000001"),
            ("0.00000015", "1.5e-7"),
            ("9223372036854775807", "9223372036854775807"),
            ("18446744073709551615", "18446744073709552000"),
        ];
        for (read, expected) in table {
            let value: Value = gantry_json::from_str(read).unwrap();
            assert_eq!(String::from_utf8(plain(&value)).unwrap(), expected, "{read}");
        }
    }

    /// Fields of references that are called `kind` or `apiVersion` stay in the order of the schema.
    #[test]
    fn a_kind_within_an_object_is_a_field_as_any_other() {
        let owner = json!({"kind": "Pod", "apiVersion": "v1", "name": "n", "uid": "u"});
        let meta = json!({"ownerReferences": [owner]});
        let text = written(&json!({"metadata": meta}), "core/v1.ConfigMap");
        assert!(
            text.contains("[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"n\",\"uid\":\"u\"}]"),
            "{text}"
        );
    }
}
