//! Objects embedded in objects of custom kinds.

use super::*;

const HOLDERS: &str = "/apis/example.com/v1/holders";

/// A definition of holders with these properties.
#[expect(clippy::needless_pass_by_value, reason = "properties are written where they are used")]
fn definition(properties: Value) -> Value {
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "holders.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "holders", "kind": "Holder"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": properties,
            }}}],
        },
    })
}

/// A server that defines holders of an embedded object, of a nested one, and of one with a default.
async fn with_holders() -> ApiServer {
    let server = server().await;
    let any = json!({
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
    });
    let (mut nested, mut by_default) = (any.clone(), any.clone());
    nested["properties"] = json!({"held": any.clone()});
    by_default["default"] = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}});
    let properties = json!({
                    "held": any, "nested": nested, "byDefault": by_default,
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "many": {"type": "object", "additionalProperties": any},
    });
    define(&server, definition(properties)).await;
    server
}

#[expect(clippy::needless_pass_by_value, reason = "parts are written where they are used")]
fn holder(name: &str, parts: Value) -> Value {
    let mut holder = json!({"kind": "Holder", "apiVersion": "example.com/v1", "metadata": {"name": name}});
    holder.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
    holder
}

fn pod(metadata: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
}

/// Appendix E: embedded metadata has the fields of the metadata of any object; without a schema, everything is
/// preserved.
#[tokio::test]
async fn embedded_metadata_has_known_fields_only() {
    let server = with_holders().await;
    let odd = pod(&json!({"name": "a", "colour": "red", "creationTimestamp": null}));
    let mut nested = odd.clone();
    nested["held"] = odd.clone();
    let parts = json!({"held": odd, "nested": nested, "free": odd, "many": {"x": odd}});
    let (status, made) = call(&server, Method::POST, HOLDERS, holder("a", parts)).await;
    assert_eq!(status, 201, "{made}");
    let plain = json!({"name": "a"});
    for pointer in ["/held", "/nested", "/nested/held", "/many/x"] {
        assert_eq!(made.pointer(&format!("{pointer}/metadata")), Some(&plain), "{pointer}: {made}");
    }
    assert_eq!(made["free"]["metadata"]["colour"], "red");
    assert_eq!(made["byDefault"]["metadata"], json!({"labels": {"a": "b"}}));
}

/// Appendix E: malformed metadata is refused before validation.
#[tokio::test]
async fn malformed_embedded_metadata_is_refused() {
    let server = with_holders().await;
    let table = [
        (
            json!({"held": pod(&json!({"name": "a", "namespace": 42}))}),
            "held.metadata: Invalid value: {\"name\":\"a\",\"namespace\":42}: json: cannot unmarshal number into Go struct \
             field ObjectMeta.namespace of type string",
        ),
        (
            json!({"many": {"x": pod(&json!("a"))}}),
            "many[x].metadata: Invalid value: \"a\": json: cannot unmarshal string into Go value of type v1.ObjectMeta",
        ),
        (json!({"held": {"apiVersion": "v1", "kind": 1}}), "held.kind: Invalid value: 1: must be a string"),
    ];
    for (parts, problem) in table {
        let (status, response) = call(&server, Method::POST, HOLDERS, holder("a", parts)).await;
        assert_eq!(status, 400, "{response}");
        let expected = format!("Holder in version \"v1\" cannot be handled as a Holder: {problem}");
        assert_eq!(response["message"], expected);
    }
}

/// Appendix E: embedded objects are validated as objects, on create and on update.
#[tokio::test]
async fn invalid_embedded_objects_are_refused() {
    let server = with_holders().await;
    let wrong = json!({"apiVersion": "v1", "kind": "%", "metadata": {"name": ".."}});
    let mut nested = wrong.clone();
    nested["held"] = wrong.clone();
    let mut new = holder("a", json!({"held": wrong, "nested": nested}));
    new["metadata"]["labels"] = json!({"a": "x y"});
    let expect = |response: &Value| {
        let causes = response["details"]["causes"].as_array().unwrap();
        let fields: Vec<_> = causes.iter().map(|cause| cause["field"].as_str().unwrap()).collect();
        assert_eq!(
            fields,
            [
                "metadata.labels",
                "held.kind",
                "held.metadata.name",
                "nested.kind",
                "nested.metadata.name",
                "nested.held.kind",
                "nested.held.metadata.name",
            ],
            "{response}"
        );
    };
    let (status, response) = call(&server, Method::POST, HOLDERS, new.clone()).await;
    assert_eq!(status, 422);
    expect(&response);
    let (_, made) = call(&server, Method::POST, HOLDERS, holder("a", json!({}))).await;
    new["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    let (status, response) = call(&server, Method::PUT, &format!("{HOLDERS}/a"), new).await;
    assert_eq!(status, 422);
    expect(&response);
}

/// Appendix E: unknown fields in defaults of embedded metadata are dropped.
#[tokio::test]
async fn defaults_of_embedded_metadata_have_known_fields_only() {
    let server = server().await;
    let default =
        json!({"apiVersion": "foos/v1", "kind": "Foo", "metadata": {"name": "Bar", "unknown": "x"}});
    let text = |default: &str| json!({"type": "string", "default": default});
    let one = |metadata: Value| {
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
            "apiVersion": text("foos/v1"), "kind": text("Foo"), "metadata": metadata,
        }})
    };
    let properties = json!({
                    "fields": one(json!({"type": "object", "properties": {"name": text("Bar"), "unknown": text("x")}})),
                    "metadata_": one(json!({"type": "object", "default": default["metadata"]})),
                    "whole": {"type": "object", "x-kubernetes-embedded-resource": true,
                        "x-kubernetes-preserve-unknown-fields": true, "default": default},
                    "around": {"type": "object", "default": {"held": default}, "properties": {
                        "held": {"type": "object", "x-kubernetes-embedded-resource": true,
                            "x-kubernetes-preserve-unknown-fields": true},
                    }},
    });
    define(&server, definition(properties)).await;
    let parts = json!({"fields": {"metadata": {}}, "metadata_": {}});
    let (status, made) = call(&server, Method::POST, HOLDERS, holder("a", parts)).await;
    assert_eq!(status, 201, "{made}");
    let expected = json!({"apiVersion": "foos/v1", "kind": "Foo", "metadata": {"name": "Bar"}});
    for pointer in ["/fields", "/metadata_", "/whole", "/around/held"] {
        assert_eq!(made.pointer(pointer), Some(&expected), "{pointer}: {made}");
    }
    assert_eq!(get(&server, &format!("{HOLDERS}/a")).await.1, made);
}

/// Appendix E: a stored object is readable under a later definition, and re-encoded when it is valid.
#[tokio::test]
async fn stored_objects_are_readable_under_later_definitions() {
    let server = server().await;
    let mut held = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    define(&server, definition(json!({"held": held}))).await;
    let metadata =
        json!({"name": "x", "unknown": 42, "annotations": {"a": 42, "b": "c"}, "labels": {"l": "x y"}});
    let wrong = json!({"kind": 7, "apiVersion": "v1", "metadata": metadata});
    call(&server, Method::POST, HOLDERS, holder("a", json!({"held": wrong}))).await;
    let path = format!("{DEFINITIONS}/holders.example.com");
    held["x-kubernetes-embedded-resource"] = json!(true);
    let mut later = definition(json!({"held": held}));
    later["metadata"]["resourceVersion"] = get(&server, &path).await.1["metadata"]["resourceVersion"].clone();
    assert_eq!(call(&server, Method::PUT, &path, later).await.0, 200);
    let (status, mut found) = get(&server, &format!("{HOLDERS}/a")).await;
    let expected = json!({"apiVersion": "v1", "metadata": {"name": "x", "labels": {"l": "x y"}}});
    assert_eq!((status, &found["held"]), (200, &expected), "{found}");
    assert_eq!(get(&server, HOLDERS).await.1["items"][0]["held"], expected);
    found["metadata"]["labels"] = json!({"l": "m"});
    let (status, response) = call(&server, Method::PUT, &format!("{HOLDERS}/a"), found.clone()).await;
    assert_eq!(status, 422, "{response}");
    found["held"] = pod(&json!({"name": "x"}));
    let (status, response) = call(&server, Method::PUT, &format!("{HOLDERS}/a"), found).await;
    assert_eq!(status, 200, "{response}");
}
