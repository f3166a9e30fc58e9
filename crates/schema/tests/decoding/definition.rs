//! A definition in every format.

use gantry_json::{Value, json};
use gantry_schema::decode::{self, Format, Gvk};
use gantry_schema::encode;

use crate::protobuf_writer;

const WRITTEN: &str = include_str!("definition.yaml");

fn definition() -> Gvk<'static> {
    Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
}

fn read(body: &[u8], format: Format) -> Value {
    let decoded = decode::object(body, format, definition()).unwrap();
    assert_eq!(decoded.findings, []);
    decoded.object
}

fn schema_in(body: &Value) -> Value {
    json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": body}}]}})
}

fn schema_of(definition: &Value) -> &Value {
    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

/// Appendix E: a definition is the same in YAML, JSON and protobuf, and is written in the order of its fields.
#[test]
fn a_definition_is_the_same_in_every_format() {
    let id = definition().message().unwrap();
    let from_yaml = read(WRITTEN.as_bytes(), Format::Yaml);
    let json = encode::object(&from_yaml, &id.into());
    assert_eq!(read(&json, Format::Json), from_yaml);
    assert_eq!(read(&protobuf_writer::body(&from_yaml, id), Format::Protobuf), from_yaml);
    let text = String::from_utf8(json).unwrap();
    let port = r#""port":{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}"#;
    let free = r#""free":{"type":"object","default":{},"additionalProperties":true,"nullable":true}"#;
    let replicas =
        r#"{"type":"integer","format":"int32","default":1,"maximum":100,"minimum":0,"multipleOf":0.5}"#;
    let status =
        r#""status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}"#;
    let v1 = r#""versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"description":"#;
    for part in [port, free, replicas, status, v1] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

/// Appendix E: a value with an alternative type keeps its type, and a value of neither type is dropped or refused.
#[test]
fn parts_of_a_schema_may_be_of_several_types() {
    let id = definition().message().unwrap();
    let written = json!({
        "items": [{"type": "string"}, {"not": {"format": "x"}}], "additionalItems": false,
        "additionalProperties": {"maximum": 1e3, "minimum": 0.25}, "enum": [null, 1, "a", {"b": []}],
        "dependencies": {"a": ["b", "c"], "b": {"type": "object"}}, "example": [1], "default": null,
    });
    let object = read(schema_in(&written).to_string().as_bytes(), Format::Json);
    let mut kept = written.clone();
    kept["additionalProperties"]["maximum"] = json!(1000);
    kept.as_object_mut().unwrap().remove("default");
    assert_eq!(*schema_of(&object), kept);
    assert_eq!(read(&protobuf_writer::body(&object, id), Format::Protobuf)["spec"], object["spec"]);
    let neither = read(schema_in(&json!({"items": 5, "type": "array"})).to_string().as_bytes(), Format::Json);
    assert_eq!(*schema_of(&neither), json!({"type": "array"}));
    let wrong = schema_in(&json!({"additionalProperties": "yes"})).to_string();
    let refused = decode::object(wrong.as_bytes(), Format::Json, definition()).unwrap_err();
    assert!(refused.message.contains("boolean or JSON schema expected"), "{refused}");
}

/// Appendix E, A2.23: unknown fields of a schema are findings, but not those of schemas with an alternative type.
#[test]
fn unknown_fields_are_reported_where_kubernetes_reports_them() {
    let written = schema_in(&json!({
        "nope": 1, "properties": {"a": {"nope": 1}}, "items": {"nope": 1}, "additionalProperties": {"nope": 1},
    }));
    let decoded = decode::object(written.to_string().as_bytes(), Format::Json, definition()).unwrap();
    let messages: Vec<_> = decoded.findings.iter().map(ToString::to_string).collect();
    let place = "spec.versions[0].schema.openAPIV3Schema";
    assert_eq!(
        messages,
        [format!("unknown field \"{place}.nope\""), format!("unknown field \"{place}.properties.a.nope\""),]
    );
}

/// Appendix E: schemas that are nested too deeply are refused in every format.
#[test]
fn schemas_are_nested_only_so_deep() {
    let levels = 5_000;
    let body = format!(
        r#"{{"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{}{{}}{}}}}}]}}}}"#,
        r#"{"not":"#.repeat(levels),
        "}".repeat(levels)
    );
    assert!(
        decode::object(body.as_bytes(), Format::Json, definition())
            .unwrap_err()
            .message
            .contains("max depth")
    );
    let not = |inner: Vec<u8>, number: u32| {
        let mut message = Vec::new();
        protobuf_writer::bytes(number, &inner, &mut message);
        message
    };
    let schema = (0..levels).fold(Vec::new(), |inner, _| not(inner, 28));
    let raw = [1, 4, 7, 2].into_iter().fold(schema, not);
    let body = [b"k8s\0".to_vec(), not(raw, 2)].concat();
    let refused = decode::object(&body, Format::Protobuf, definition()).unwrap_err();
    assert!(refused.message.contains("max depth"), "{refused}");
}
