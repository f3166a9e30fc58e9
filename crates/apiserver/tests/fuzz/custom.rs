//! Requests about custom objects, with a schema that uses every feature.

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use http::Method;

use super::harness;
use super::mutation::{Mutated, Seeds};

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// A server that defines widgets, with two of them.
pub(crate) async fn server() -> ApiServer {
    let server = harness::server().await;
    let (status, response) = harness::call(&server, Method::POST, DEFINITIONS, definition()).await;
    assert_eq!(status, 201, "{response}");
    for name in ["a", "b"] {
        let (status, response) = harness::call(&server, Method::POST, WIDGETS, widget(name)).await;
        assert_eq!(status, 201, "{response}");
    }
    server
}

/// Requests of every kind, most of them without effect.
pub(crate) fn seeds() -> Seeds {
    let operations = json!([
        {"op": "test", "path": "/spec/size", "value": 1}, {"op": "replace", "path": "/spec/size", "value": 2},
        {"op": "add", "path": "/spec/parts/-", "value": {"name": "z"}},
        {"op": "copy", "from": "/spec/free", "path": "/spec/free/again"},
        {"op": "move", "from": "/spec/held", "path": "/spec/many/x"}, {"op": "remove", "path": "/metadata/labels"},
    ]);
    let (merge, apply) = ("application/merge-patch+json", "application/apply-patch+yaml");
    let one = format!("{WIDGETS}/a");
    let change = json!({"metadata": {"labels": {"x": null}}, "spec": {"size": 3, "free": null, "parts": []}});
    let table = [
        ("POST", format!("{WIDGETS}?dryRun=All"), "application/json", widget("c")),
        ("POST", format!("{WIDGETS}?dryRun=All&fieldValidation=Strict"), "application/yaml", widget("c")),
        ("PUT", format!("{one}?dryRun=All"), "application/json", widget("a")),
        ("PATCH", format!("{one}?dryRun=All"), merge, change.clone()),
        ("PATCH", one.clone(), merge, change),
        ("PATCH", format!("{one}?dryRun=All"), "application/json-patch+json", operations),
        ("PATCH", format!("{one}?fieldManager=m&dryRun=All"), apply, widget("a")),
        ("PATCH", format!("{one}?fieldManager=n&force=true"), apply, widget("a")),
        ("PATCH", format!("{WIDGETS}/d?fieldManager=n&dryRun=All"), apply, widget("d")),
        ("PATCH", format!("{one}/status?fieldManager=n&force=true"), apply, widget("a")),
        ("PATCH", format!("{one}/scale"), merge, json!({"spec": {"replicas": 2}})),
        ("GET", format!("{WIDGETS}?fieldSelector=spec.colour%3Dred&limit=1"), "", Value::Null),
        ("POST", format!("{DEFINITIONS}?dryRun=All"), "application/json", definition()),
        ("PATCH", format!("{DEFINITIONS}/widgets.example.com?dryRun=All"), merge, definition()),
    ];
    let mutated = |(method, path, content_type, body): (&str, String, &str, Value)| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Mutated::of(method, &path, content_type, &body)
    };
    Seeds::of(table.map(mutated).to_vec())
}

/// A request with a JSON body in which values are exchanged: each two bytes choose the position and the value.
pub(crate) fn with_unusual_values(seeds: &Seeds, input: &[u8]) -> Mutated {
    let (mut request, edits) = seeds.choose(input);
    let Ok(mut body) = gantry_json::from_slice::<Value>(&request.body) else { return request };
    for edit in edits.chunks_exact(2) {
        let count = places(&mut body, &mut |_| false);
        let mut left = usize::from(edit[0]) % count.max(1);
        places(&mut body, &mut |value| {
            let is_it = left == 0;
            if is_it {
                *value = unusual_value(edit[1], value);
            }
            left = left.wrapping_sub(1);
            is_it
        });
    }
    request.body = body.to_string().into();
    request
}

/// Visits every value until the visitor stops; returns the count.
fn places(value: &mut Value, see: &mut impl FnMut(&mut Value) -> bool) -> usize {
    if see(value) {
        return 1;
    }
    let inner: Vec<&mut Value> = match value {
        Value::Array(elements) => elements.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    };
    1 + inner.into_iter().map(|value| places(value, see)).sum::<usize>()
}

fn unusual_value(choice: u8, value: &Value) -> Value {
    match choice % 20 {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(1.5),
        4 => json!(u64::MAX),
        5 => json!(""),
        6 => json!("red"),
        7 => json!([]),
        8 => json!({}),
        9 => json!([null]),
        10 => json!({"a": null}),
        11 => json!([value, value]),
        12 => json!({"name": value, "metadata": value}),
        13 => (0..130).fold(value.clone(), |inner, _| json!({"a": inner})),
        14 => json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": 1, "labels": [], "x": {}}}),
        15 => json!("2026-01-01T00:00:00Z"),
        16 => json!([{"name": "a"}, {"name": "a"}, {"name": null}, 1]),
        17 => json!("é\u{0}\"\\"),
        18 => {
            json!([{"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"k:{": {}, ".": 1}}, "manager": "m", "operation": "Apply"}])
        }
        _ => json!({"$patch": "delete", "~1": value}),
    }
}

pub(crate) fn widget(name: &str) -> Value {
    let held = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "labels": {"a": "b"}}});
    json!({
        "kind": "Widget", "apiVersion": "example.com/v1",
        "metadata": {"name": name, "labels": {"x": "y"}, "finalizers": ["a/b"], "annotations": {"k": "v"}},
        "spec": {
            "size": 1, "colour": "red", "parts": [{"name": "a", "count": 1}, {"name": "b"}], "tags": ["x", "y"],
            "free": {"any": [{"thing": 1.5}]}, "held": held, "port": "http", "many": {"x": held}, "at": null,
        },
        "status": {"ready": 1, "selector": "a=b"},
    })
}

pub(crate) fn definition() -> Value {
    let held = json!({
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
    });
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 0, "format": "int32", "multipleOf": 1},
        "colour": {"type": "string", "default": "red", "enum": ["red", "blue"]},
        "parts": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "maxItems": 5,
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3}, "count": {"type": "integer", "default": 1},
            }},
        },
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "held": held, "many": {"type": "object", "additionalProperties": held},
        "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "at": {"type": "string", "format": "date-time", "nullable": true},
    }});
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": {
                    "type": "object", "properties": {"ready": {"type": "integer"}, "selector": {"type": "string"}},
                }}}},
                "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready",
                    "labelSelectorPath": ".status.selector",
                }},
                "selectableFields": [{"jsonPath": ".spec.colour"}],
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
            }],
        },
    })
}
