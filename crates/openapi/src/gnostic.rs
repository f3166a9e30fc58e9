//! An OpenAPI 2 document in protobuf: gnostic's message `Document`, which kubectl before 1.27 requests (A1.13).
//!
//! Only the parts that our own documents contain are written; field numbers are those of gnostic's `OpenAPIv2.proto`.

use gantry_json::{SmolStr, Value};

use super::{Parts, VERSION};

/// Encodes a document of encoded paths and definitions.
pub(super) fn document(paths: &Parts, definitions: &Parts) -> Vec<u8> {
    let (mut info, mut all, mut defined) = (Message::default(), Message::default(), Message::default());
    info.bytes(1, b"Kubernetes");
    info.bytes(2, VERSION.as_bytes());
    for (name, item) in paths {
        all.named(2, name, item);
    }
    for (name, definition) in definitions {
        defined.named(1, name, definition);
    }
    let mut message = Message::default();
    message.bytes(1, b"2.0");
    message.message(2, &info);
    message.message(8, &all);
    message.message(9, &defined);
    message.0
}

/// A message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }

    /// A string, if there is one.
    fn text(&mut self, field: u32, value: &Value) {
        if let Some(text) = value.as_str() {
            self.bytes(field, text.as_bytes());
        }
    }

    fn texts(&mut self, field: u32, values: &Value) {
        for value in elements(values) {
            self.text(field, value);
        }
    }

    fn boolean(&mut self, field: u32, value: &Value) {
        if value.as_bool() == Some(true) {
            self.varint(u64::from(field) << 3);
            self.varint(1);
        }
    }

    /// An integer, if there is one.
    fn count(&mut self, field: u32, value: &Value) {
        if let Some(count) = value.as_u64() {
            self.varint(u64::from(field) << 3);
            self.varint(count);
        }
    }

    /// A number, if there is one.
    fn number(&mut self, field: u32, value: &Value) {
        if let Some(number) = value.as_f64() {
            self.varint(u64::from(field) << 3 | 1);
            self.0.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Any value, as YAML, of which JSON is a subset.
    fn any(&mut self, field: u32, value: &Value) {
        let mut any = Message::default();
        any.bytes(2, value.to_string().as_bytes());
        self.message(field, &any);
    }

    /// An entry of a map.
    fn named(&mut self, field: u32, name: &str, value: &[u8]) {
        let mut entry = Message::default();
        entry.bytes(1, name.as_bytes());
        entry.bytes(2, value);
        self.message(field, &entry);
    }

    fn extensions(&mut self, field: u32, value: &Value) {
        for (name, extension) in members(value).filter(|(name, _)| name.starts_with("x-")) {
            let mut entry = Message::default();
            entry.bytes(1, name.as_bytes());
            entry.any(2, extension);
            self.message(field, &entry);
        }
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&SmolStr, &Value)> {
    value.as_object().into_iter().flatten()
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One schema.
pub(super) fn schema(value: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, &value["$ref"]);
    message.text(2, &value["format"]);
    message.text(3, &value["title"]);
    message.text(4, &value["description"]);
    limits(value, &mut message);
    message.texts(19, &value["required"]);
    for one in elements(&value["enum"]) {
        message.any(20, one);
    }
    match &value["additionalProperties"] {
        Value::Null => {}
        values => {
            let mut item = Message::default();
            item.boolean(2, values);
            if values.is_object() {
                item.bytes(1, &schema(values));
            }
            message.message(21, &item);
        }
    }
    if value["type"].is_string() {
        let mut item = Message::default();
        item.text(1, &value["type"]);
        message.message(22, &item);
    }
    if value["items"].is_object() {
        let mut item = Message::default();
        item.bytes(1, &schema(&value["items"]));
        message.message(23, &item);
    }
    if value["properties"].is_object() {
        let mut properties = Message::default();
        for (name, property) in members(&value["properties"]) {
            properties.named(1, name, &schema(property));
        }
        message.message(25, &properties);
    }
    if value["externalDocs"].is_object() {
        let mut docs = Message::default();
        docs.text(1, &value["externalDocs"]["description"]);
        docs.text(2, &value["externalDocs"]["url"]);
        message.message(29, &docs);
    }
    if let Some(example) = value.get("example") {
        message.any(30, example);
    }
    message.extensions(31, value);
    message.0
}

/// The bounds of a value.
fn limits(value: &Value, message: &mut Message) {
    for (field, key) in [(6, "multipleOf"), (7, "maximum"), (9, "minimum")] {
        message.number(field, &value[key]);
    }
    for (field, key) in [(8, "exclusiveMaximum"), (10, "exclusiveMinimum"), (16, "uniqueItems")] {
        message.boolean(field, &value[key]);
    }
    let counts = [(11, "maxLength"), (12, "minLength"), (14, "maxItems"), (15, "minItems")];
    for (field, key) in counts.into_iter().chain([(17, "maxProperties"), (18, "minProperties")]) {
        message.count(field, &value[key]);
    }
    message.text(13, &value["pattern"]);
}

/// The operations at one path.
pub(super) fn path_item(value: &Value) -> Vec<u8> {
    let mut message = Message::default();
    for (field, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if value[method].is_object() {
            message.message(field, &operation(&value[method]));
        }
    }
    for parameter in elements(&value["parameters"]) {
        message.message(9, &parameters_item(parameter));
    }
    message.0
}

fn operation(value: &Value) -> Message {
    let mut message = Message::default();
    message.texts(1, &value["tags"]);
    message.text(5, &value["operationId"]);
    message.texts(6, &value["produces"]);
    message.texts(7, &value["consumes"]);
    for parameter in elements(&value["parameters"]) {
        message.message(8, &parameters_item(parameter));
    }
    let mut responses = Message::default();
    for (code, response) in members(&value["responses"]) {
        responses.named(1, code, &response_value(response).0);
    }
    message.message(9, &responses);
    message.extensions(13, value);
    message
}

fn response_value(value: &Value) -> Message {
    let (mut response, mut item, mut outer) = (Message::default(), Message::default(), Message::default());
    response.text(1, &value["description"]);
    item.bytes(1, &schema(&value["schema"]));
    response.message(2, &item);
    outer.message(1, &response);
    outer
}

/// Encodes a parameter in the two messages that give its type.
fn parameters_item(value: &Value) -> Message {
    let (mut parameter, mut item) = (Message::default(), Message::default());
    if value["in"] == "body" {
        let mut body = Message::default();
        body.text(2, &value["name"]);
        body.text(3, &value["in"]);
        body.boolean(4, &value["required"]);
        body.bytes(5, &schema(&value["schema"]));
        parameter.message(1, &body);
    } else {
        let (mut inner, mut outer) = (Message::default(), Message::default());
        inner.boolean(1, &value["required"]);
        inner.text(2, &value["in"]);
        inner.text(4, &value["name"]);
        let in_query = value["in"] == "query";
        let (kind, unique) = if in_query { (6, 20) } else { (5, 19) };
        inner.text(kind, &value["type"]);
        inner.boolean(unique, &value["uniqueItems"]);
        outer.message(if in_query { 3 } else { 4 }, &inner);
        parameter.message(2, &outer);
    }
    item.message(1, &parameter);
    item
}
