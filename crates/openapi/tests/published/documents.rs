//! The schemas of a kind and of its list.

use gantry_json::{Value, json};
use gantry_openapi as openapi;

use crate::{V2_META, V3_META, v2, v2_definition, v3, v3_definition, widgets, with};

fn named(kind: &str) -> Value {
    json!([{"group": "shop.example.com", "version": "v1", "kind": kind}])
}

/// Appendix E: a kind has `apiVersion`, `kind` and `metadata`, whatever its schema declares for them.
#[test]
fn a_kind_has_api_version_kind_and_metadata() {
    let head = |metadata: &Value| json!({"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": metadata});
    let (of_v2, of_v3) = (head(&json!({"$ref": V2_META})), head(&json!({"allOf": [{"$ref": V3_META}]})));
    let written = [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"metadata": {"type": "object"}, "kind": {"type": "string", "pattern": "W"}}}),
    ];
    for schema in written {
        let wanted = |head: &Value| json!({"type": "object", "properties": head, "x-kubernetes-group-version-kind": named("Widget")});
        assert_eq!(v2_definition(&schema), wanted(&of_v2), "{schema}");
        assert_eq!(v3_definition(&schema), wanted(&of_v3), "{schema}");
    }
}

/// Appendix E: keywords at the root of a schema are published with the kind.
#[test]
fn the_outermost_schema_is_that_of_the_kind() {
    let schema = json!({
        "type": "object", "description": "Something to sell.", "required": ["spec"],
        "properties": {"spec": {"type": "object"}},
        "x-kubernetes-validations": [{"rule": "self.metadata.name != 'x'"}],
    });
    for published in [v2_definition(&schema), v3_definition(&schema)] {
        for key in ["description", "required", "x-kubernetes-validations"] {
            assert_eq!(published[key], schema[key], "{key}");
        }
        assert_eq!(published["properties"]["spec"], json!({"type": "object"}));
    }
}

/// Appendix E: a kind that preserves unknown fields has no properties in OpenAPI 2: kubectl would refuse all others.
#[test]
fn a_kind_that_preserves_unknown_fields_has_no_properties_in_openapi_2() {
    let schema = json!({
        "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"spec": {"type": "object"}},
    });
    let bare = json!({"type": "object", "x-kubernetes-group-version-kind": named("Widget")});
    assert_eq!(v2_definition(&schema), bare);
    let v3 = v3_definition(&schema);
    assert_eq!(v3["x-kubernetes-preserve-unknown-fields"], true);
    assert!(v3["properties"]["spec"].is_object() && v3["properties"]["metadata"].is_object());
    assert_eq!(v2_definition(&Value::Null), bare, "a kind without a schema");
    assert_eq!(v3_definition(&Value::Null), bare, "a kind without a schema");
}

/// Appendix E: a list has the name in the definition, and its items are of the kind.
#[test]
fn a_list_has_the_list_kind_of_the_definition() {
    let schema = json!({"type": "object"});
    let (v2, v3) = (v2(&schema), v3(&schema));
    for (schemas, prefix) in
        [(&v2["definitions"], "#/definitions/"), (&v3["components"]["schemas"], "#/components/schemas/")]
    {
        let list = &schemas["com.example.shop.v1.Widgets"];
        assert_eq!(
            list["properties"]["items"],
            json!({"type": "array", "items": {"$ref": format!("{prefix}com.example.shop.v1.Widget")}})
        );
        assert_eq!(list["required"], json!(["items"]));
        assert_eq!(list["x-kubernetes-group-version-kind"], named("Widgets"));
        assert!(list["properties"]["metadata"].to_string().contains("ListMeta"), "{list}");
    }
}

/// Appendix E: a kind and its list have the selectable fields, if there are any.
#[test]
fn fields_to_select_by_are_named() {
    const KEY: &str = "x-kubernetes-selectable-fields";
    let mut definition = widgets(&json!({"type": "object"}));
    for (fields, wanted) in [
        (Value::Null, Value::Null),
        (
            json!([{"jsonPath": ".spec.colour"}, {"jsonPath": ".size"}]),
            json!([{"fieldPath": "spec.colour"}, {"fieldPath": "size"}]),
        ),
    ] {
        definition["spec"]["versions"][0]["selectableFields"] = fields;
        let kinds = with(std::slice::from_ref(&definition));
        let document: Value = gantry_json::from_slice(&openapi::v2(&kinds)).unwrap();
        for name in ["Widget", "Widgets"] {
            let schema = &document["definitions"][format!("com.example.shop.v1.{name}")];
            assert_eq!(schema[KEY], wanted, "{name}");
        }
    }
}

/// Appendix E: all references in a document are to definitions that it contains, and it is the same each time.
#[test]
fn every_reference_is_to_a_definition_in_the_document() {
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true});
    let schema = json!({"type": "object", "properties": {"template": embedded}});
    for document in [v2(&schema), v3(&schema)] {
        let text = document.to_string();
        let references = text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        for reference in references {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
    }
    assert_eq!(v3(&schema).to_string(), v3(&schema).to_string());
}
