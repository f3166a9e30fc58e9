//! The schemas of values, as written and as published in OpenAPI 2 and 3.

use gantry_json::{Map, Value, json};

use crate::{v2_definition, v3_definition};

/// A schema as it is written, and as OpenAPI 2 and 3 publish it.
type Row = (Value, Value, Value);

/// Checks how values are published, as properties of one object, because documents are large.
fn check(rows: &[Row]) {
    let written: Map =
        rows.iter().enumerate().map(|(index, row)| (index.to_string(), row.0.clone())).collect();
    let schema = json!({"type": "object", "properties": written});
    let (v2, v3) = (v2_definition(&schema), v3_definition(&schema));
    for (index, (written, wanted_v2, wanted_v3)) in rows.iter().enumerate() {
        let index = index.to_string();
        assert_eq!(v2["properties"][&index], *wanted_v2, "OpenAPI 2 of {written}");
        assert_eq!(v3["properties"][&index], *wanted_v3, "OpenAPI 3 of {written}");
    }
}

/// A schema that both publish as it is written.
fn kept(written: Value) -> Row {
    (written.clone(), written.clone(), written)
}

/// A schema that OpenAPI 3 publishes as it is written, and OpenAPI 2 as this one.
fn less(written: Value, v2: Value) -> Row {
    (written.clone(), v2, written)
}

/// Appendix E: most keywords are published as they are written.
#[test]
fn most_keywords_are_published_unchanged() {
    let rows = [
        json!({"type": "string", "description": "Its colour.", "title": "Colour", "enum": ["red", ""], "pattern": "^r"}),
        json!({"type": "string", "format": "date-time", "minLength": 0, "maxLength": 9}),
        json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 9, "exclusiveMaximum": true, "multipleOf": 3}),
        json!({"type": "array", "items": {"type": "number"}, "minItems": 1, "uniqueItems": true}),
        json!({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 3}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]}}}),
        json!({"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
        json!({"type": "object", "x-kubernetes-map-type": "atomic", "externalDocs": {"url": "https://example.com"}}),
        json!({"type": "string", "example": "", "x-kubernetes-validations": [{"rule": "self != 'x'", "message": "no x"}]}),
    ];
    check(&rows.map(kept));
}

/// Appendix E: keywords without an effect are omitted.
#[test]
fn keywords_without_effect_are_omitted() {
    let written = json!({
        "type": "object", "description": "", "nullable": false, "uniqueItems": false, "properties": {}, "required": [],
        "x-kubernetes-embedded-resource": false,
    });
    check(&[(written, json!({"type": "object"}), json!({"type": "object"}))]);
}

/// Appendix E: OpenAPI 2 has no alternatives, and its documents have no defaults.
#[test]
fn alternatives_and_defaults_are_in_openapi_3_only() {
    let written = json!({
        "type": "object", "default": {"a": "x"},
        "properties": {
            "a": {"type": "string", "default": "", "not": {"pattern": "b"}},
            "list": {"type": "array", "items": {"type": "string", "default": "c"}},
        },
        "additionalProperties": {"type": "string", "default": "d"},
        "oneOf": [{"required": ["a"]}, {"required": ["list"]}], "anyOf": [{"required": ["a"]}],
        "allOf": [{"properties": {"a": {"pattern": "x"}}}],
    });
    let v2 = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}},
        "additionalProperties": {"type": "string"},
    });
    check(&[less(written, v2)]);
}

/// Appendix E: nullable values have no type in OpenAPI 2, whose types exclude `null`, and are not required.
#[test]
fn nullable_values_have_no_type_in_openapi_2() {
    let rows = [
        (
            json!({"type": "string", "nullable": true, "description": "Maybe."}),
            json!({"description": "Maybe."}),
        ),
        (json!({"type": "array", "items": {"type": "string"}, "nullable": true}), json!({})),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "nullable": true}),
            json!({"required": ["a"]}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}, "nullable": true}),
            json!({"additionalProperties": {"type": "string"}}),
        ),
        (
            json!({"type": "object", "required": ["a", "b"],
            "properties": {"a": {"type": "string", "nullable": true}, "b": {"type": "string"}}}),
            json!({"type": "object", "required": ["b"], "properties": {"a": {}, "b": {"type": "string"}}}),
        ),
        (
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "nullable": true}}}),
            json!({"type": "object", "properties": {"a": {}}}),
        ),
        (
            json!({"type": "object", "required": ["a"], "additionalProperties": {"type": "string", "nullable": true}}),
            json!({"type": "object", "additionalProperties": {}}),
        ),
    ];
    check(&rows.map(|(written, v2)| less(written, v2)));
}

/// Appendix E: values that preserve unknown fields, and lists of them, have neither type nor properties in OpenAPI 2.
#[test]
fn values_that_preserve_unknown_fields_have_no_type_in_openapi_2() {
    let keeps = json!({"x-kubernetes-preserve-unknown-fields": true});
    let object = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    check(&[
        kept(keeps.clone()),
        less(object.clone(), keeps.clone()),
        less(
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-preserve-unknown-fields": true}),
            keeps.clone(),
        ),
        less(
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-preserve-unknown-fields": true}),
            keeps.clone(),
        ),
        less(json!({"type": "array", "items": object}), json!({"type": "array", "items": keeps})),
        less(json!({"type": "array"}), json!({})),
    ]);
}

/// Appendix E: an int-or-string has no type in OpenAPI 2, and both types in OpenAPI 3, whatever its definition has.
#[test]
fn int_or_string_is_expanded_once() {
    let old = json!({"x-kubernetes-int-or-string": true});
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let with = |key: &str, value: Value| {
        let mut schema = old.clone();
        schema[key] = value;
        schema
    };
    let spelled = with("anyOf", either.clone());
    let in_all = with("allOf", json!([{"anyOf": either}, {"anyOf": [{"minimum": 42}]}]));
    let other = with("anyOf", json!([{"minimum": 42}]));
    let (mut limited, mut both, mut all) = (other.clone(), other.clone(), other.clone());
    limited["allOf"] = json!([{"maximum": 50}]);
    both["allOf"] = json!([{"anyOf": either}]);
    all["allOf"] = json!([{"anyOf": either}, {"maximum": 50}]);
    check(&[
        (old.clone(), old.clone(), spelled.clone()),
        less(spelled, old.clone()),
        less(in_all, old.clone()),
        (other, old.clone(), both),
        (limited, old, all),
    ]);
}

/// Appendix E: an embedded object has `apiVersion`, `kind` and `metadata`; not in OpenAPI 2 if it preserves unknown
/// fields.
#[test]
fn embedded_objects_have_api_version_kind_and_metadata() {
    let embedded = json!({"type": "object", "required": ["kind", "spec"], "x-kubernetes-embedded-resource": true,
        "properties": {"spec": {"type": "object"}}});
    let nested = json!({"type": "object", "properties": {"it": {"type": "array", "items": embedded}}});
    for published in [v2_definition(&nested), v3_definition(&nested)] {
        let within = &published["properties"]["it"]["items"];
        assert_eq!(within["required"], json!(["kind", "spec", "apiVersion"]));
        let names: Vec<_> = within["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["apiVersion", "kind", "metadata", "spec"]);
        assert!(within["properties"]["metadata"].to_string().contains("ObjectMeta"));
    }
    let open = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"it": open}});
    let old = json!({"x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    assert_eq!(v2_definition(&schema)["properties"]["it"], old);
    let new = &v3_definition(&schema)["properties"]["it"];
    assert_eq!((&new["type"], &new["required"]), (&json!("object"), &json!(["kind", "apiVersion"])));
    assert_eq!(new["properties"].as_object().unwrap().len(), 3);
}
