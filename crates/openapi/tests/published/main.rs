//! The published documents of custom kinds: OpenAPI and discovery.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod discovery;
mod documents;
mod paths;
mod protobuf;
mod values;

use std::sync::Arc;

use gantry_json::{Value, json};
use gantry_openapi as openapi;
use gantry_schema::custom::kinds_of;
use gantry_schema::kinds::{Kind, Kinds, kinds};

const V2_META: &str = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const V3_META: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// An accepted definition of widgets with one version, `v1`, with this schema.
fn widgets(schema: &Value) -> Value {
    let names = json!({
        "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "Widgets",
        "shortNames": ["wd"], "categories": ["all"],
    });
    json!({
        "metadata": {"name": "widgets.shop.example.com"},
        "spec": {
            "group": "shop.example.com", "scope": "Namespaced", "names": names,
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                },
            }],
        },
        "status": {
            "acceptedNames": names, "storedVersions": ["v1"],
            "conditions": [{"type": "Established", "status": "True"}],
        },
    })
}

/// The kinds of a definition.
fn defined(definition: &Value) -> Vec<Arc<Kind>> {
    kinds_of(definition, &|name| name.to_owned().leak())
}

/// The built-in kinds and those of these definitions.
fn with(definitions: &[Value]) -> Kinds {
    kinds().and(definitions.iter().flat_map(defined))
}

/// The document in OpenAPI 2 of widgets with this schema.
fn v2(schema: &Value) -> Value {
    gantry_json::from_slice(&openapi::v2(&with(&[widgets(schema)]))).unwrap()
}

/// The same in OpenAPI 3.
fn v3(schema: &Value) -> Value {
    let document = openapi::v3(&with(&[widgets(schema)]), "shop.example.com", "v1");
    gantry_json::from_slice(&document.unwrap()).unwrap()
}

fn v2_definition(schema: &Value) -> Value {
    undescribed(v2(schema)["definitions"]["com.example.shop.v1.Widget"].clone())
}

fn v3_definition(schema: &Value) -> Value {
    undescribed(v3(schema)["components"]["schemas"]["com.example.shop.v1.Widget"].clone())
}

/// Removes the descriptions of `apiVersion`, `kind` and `metadata`.
fn undescribed(mut schema: Value) -> Value {
    for name in ["apiVersion", "kind", "metadata"] {
        if let Some(property) = schema["properties"].get_mut(name) {
            let sentence = property.as_object_mut().unwrap().remove("description");
            assert!(sentence.is_some_and(|text| text.is_string()), "{name} is described");
        }
    }
    if schema["properties"].is_null() {
        schema.as_object_mut().unwrap().remove("properties");
    }
    schema
}
