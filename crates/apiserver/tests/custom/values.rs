//! Values: empty ones, `null`, numbers, and reads after a schema change.

use super::*;
use crate::harness::round_trip;

const ZEROS: &str = "/apis/example.com/v1/zeros";

fn zeros(properties: &Value) -> Value {
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "zeros.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "zeros", "kind": "Zero"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}],
        },
    })
}

fn zero(name: &str, parts: &Value) -> Value {
    let mut zero = json!({"kind": "Zero", "apiVersion": "example.com/v1", "metadata": {"name": name}});
    zero.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
    zero
}

/// An object without kind, version and metadata.
fn content(object: &Value) -> Value {
    let mut content = object.clone();
    content
        .as_object_mut()
        .unwrap()
        .retain(|name, _| !matches!(name.as_str(), "kind" | "apiVersion" | "metadata"));
    content
}

/// Appendix E: empty values are preserved, and `null` where it is allowed.
#[tokio::test]
async fn empty_values_stay() {
    let server = server().await;
    let empty = json!({"string": "", "boolean": false, "number": 0, "integer": 0, "array": [], "object": {}});
    let mut properties = json!({});
    let (mut sent, mut expected) = (json!({}), json!({}));
    for (kind, value) in empty.as_object().unwrap() {
        let mut plain = json!({"type": kind});
        if kind == "array" {
            plain["items"] = json!({"type": "string"});
        }
        properties[kind] = plain.clone();
        plain["nullable"] = json!(true);
        properties[format!("{kind}_null")] = plain.clone();
        plain["default"] = value.clone();
        plain.as_object_mut().unwrap().remove("nullable");
        properties[format!("{kind}_default")] = plain;
        for part in [&mut sent, &mut expected] {
            part[kind] = value.clone();
            part[format!("{kind}_null")] = Value::Null;
        }
        expected[format!("{kind}_default")] = value.clone();
    }
    define(&server, zeros(&properties)).await;
    let (status, made) = call(&server, Method::POST, ZEROS, zero("a", &sent)).await;
    assert_eq!((status, content(&made)), (201, expected.clone()));
    assert_eq!(content(&get(&server, &format!("{ZEROS}/a")).await.1), expected);
}

/// Appendix E: integers keep all digits, and floats are formatted as in Go.
#[tokio::test]
async fn numbers_are_preserved() {
    let server = server().await;
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    define(&server, zeros(&json!({"free": any, "real": {"type": "number"}, "whole": {"type": "integer"}})))
        .await;
    let body = r#"{"kind":"Zero","apiVersion":"example.com/v1","metadata":{"name":"a"},
        "free":{"large":9223372036854775807,"exact":1.50},"real":42.0,"whole":3.0}"#;
    let kind = [("content-type", "application/json")];
    let response = round_trip(&server, Method::POST, ZEROS, &kind, body).await;
    assert_eq!(response.status, 201, "{}", response.text());
    assert!(
        response.text().contains(r#""free":{"exact":1.5,"large":9223372036854775807}"#),
        "{}",
        response.text()
    );
    assert!(response.text().contains(r#""real":42,"whole":3}"#), "{}", response.text());
    let path = format!("{ZEROS}/a");
    let version = response.json()["metadata"]["resourceVersion"].clone();
    for change in [json!({"real": 42}), json!({})] {
        let (_, same) = patch(&server, &path, MERGE, change).await;
        assert_eq!(same["metadata"]["resourceVersion"], version, "nothing changed");
    }
}

/// Appendix E: an int-or-string field accepts integers and strings.
#[tokio::test]
async fn int_or_string_accepts_both() {
    let server = server().await;
    define(&server, zeros(&json!({"port": {"x-kubernetes-int-or-string": true}}))).await;
    for (name, port) in [("a", json!(80)), ("b", json!("http"))] {
        let (status, made) = call(&server, Method::POST, ZEROS, zero(name, &json!({"port": port}))).await;
        assert_eq!((status, &made["port"]), (201, &port), "{made}");
        let (status, made) = patch(
            &server,
            &format!("{ZEROS}/{name}?fieldManager=m"),
            APPLY,
            zero(name, &json!({"port": port})),
        )
        .await;
        assert_eq!((status, &made["port"]), (200, &port), "{made}");
    }
    for port in [json!(1.5), json!(true), json!({"a": 1}), json!([1])] {
        let (status, response) = call(&server, Method::POST, ZEROS, zero("c", &json!({"port": port}))).await;
        assert_eq!(status, 422, "{response}");
    }
}

/// Appendix E: preserved at the root, pruned below it, and preserved again below that.
#[tokio::test]
async fn unknown_members_are_preserved_level_by_level() {
    let server = server().await;
    let keeps = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let inner = json!({"keeps": keeps, "cuts": {"type": "object"}});
    let mut definition = zeros(&json!({
        "keeps": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": inner},
        "cuts": {"type": "object", "properties": inner},
    }));
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"] =
        json!(true);
    define(&server, definition).await;
    let some = json!({"x": "y", "deep": {"x": "y"}, "cuts": {"x": "y"}, "keeps": {"x": "y"}});
    let new = zero("a", &json!({"x": "y", "cuts": some, "keeps": some}));
    let (status, made) = call(&server, Method::POST, ZEROS, new).await;
    let expected = json!({
        "x": "y", "cuts": {"cuts": {}, "keeps": {"x": "y"}},
        "keeps": {"x": "y", "deep": {"x": "y"}, "cuts": {}, "keeps": {"x": "y"}},
    });
    assert_eq!((status, content(&made)), (201, expected));
}

/// Appendix E: a changed schema applies to every later read: get, list and watch.
#[tokio::test]
async fn reads_apply_the_current_schema() {
    let server = server().await;
    let spec = |more: Value| {
        let mut properties = json!({"a": {"type": "string"}});
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"spec": {"type": "object", "properties": properties}})
    };
    define(&server, zeros(&spec(json!({"b": {"type": "string"}})))).await;
    let (_, made) =
        call(&server, Method::POST, ZEROS, zero("a", &json!({"spec": {"a": "1", "b": "2"}}))).await;
    let before = made["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() - 1;
    let path = format!("{DEFINITIONS}/zeros.example.com");
    let mut later = zeros(&spec(json!({"c": {"type": "string", "default": "C"}})));
    later["metadata"]["resourceVersion"] = get(&server, &path).await.1["metadata"]["resourceVersion"].clone();
    assert_eq!(call(&server, Method::PUT, &path, later).await.0, 200);
    let expected = json!({"a": "1", "c": "C"});
    assert_eq!(get(&server, &format!("{ZEROS}/a")).await.1["spec"], expected);
    assert_eq!(get(&server, &format!("{ZEROS}/a?resourceVersion=0")).await.1["spec"], expected);
    assert_eq!(get(&server, ZEROS).await.1["items"][0]["spec"], expected);
    let watch = format!("{ZEROS}?watch=true&resourceVersion={before}&timeoutSeconds=1");
    let response = round_trip(&server, Method::GET, &watch, &[], "").await;
    let event: Value = gantry_json::from_str(response.text().lines().next().unwrap()).unwrap();
    assert_eq!((&event["type"], &event["object"]["spec"]), (&json!("ADDED"), &expected), "{event}");
    // A write of another field stores the object according to the new schema.
    let (status, response) =
        patch(&server, &format!("{ZEROS}/a"), MERGE, json!({"metadata": {"labels": {"x": "y"}}})).await;
    assert_eq!((status, &response["spec"]), (200, &expected), "{response}");
}
