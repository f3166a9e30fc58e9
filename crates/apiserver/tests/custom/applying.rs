//! Server-side apply of custom kinds, from end to end.

use super::*;

const SCREWS: &str = "/apis/example.com/v1/screws";

/// A server that defines screws with this schema of their spec.
async fn with_screws(spec: &Value) -> ApiServer {
    let server = server().await;
    define(&server, screws(spec)).await;
    server
}

fn screws(spec: &Value) -> Value {
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "screws.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "screws", "kind": "Screw"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec, "status": {"type": "object", "properties": {
                    "turns": {"type": "integer"},
                }}},
            }}, "subresources": {"status": {}}}],
        },
    })
}

async fn redefine(server: &ApiServer, spec: &Value) {
    let path = format!("{DEFINITIONS}/screws.example.com");
    let mut later = screws(spec);
    later["metadata"]["resourceVersion"] = get(server, &path).await.1["metadata"]["resourceVersion"].clone();
    let (status, response) = call(server, Method::PUT, &path, later).await;
    assert_eq!(status, 200, "{response}");
}

/// An apply configuration of a screw's spec.
async fn state(server: &ApiServer, query: &str, spec: Value) -> (u16, Value) {
    let statement =
        json!({"kind": "Screw", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": spec});
    patch(server, &format!("{SCREWS}/a?{query}"), APPLY, statement).await
}

fn owned(object: &Value, manager: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["manager"] == manager);
    entry.map_or(Value::Null, |entry| entry["fieldsV1"].clone())
}

/// Appendix E: managers share an object, conflict, and one forces.
#[tokio::test]
async fn managers_share_an_object_of_a_custom_kind() {
    let spec = json!({"type": "object", "properties": {
        "length": {"type": "integer"}, "colour": {"type": "string"},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    }});
    let server = with_screws(&spec).await;
    let (status, made) = state(&server, "fieldManager=m1", json!({"length": 1, "tags": ["x"]})).await;
    assert_eq!((status, &made["metadata"]["generation"]), (201, &json!(1)), "{made}");
    let (status, shared) = state(&server, "fieldManager=m2", json!({"colour": "red", "tags": ["y"]})).await;
    assert_eq!((status, &shared["spec"]["tags"]), (200, &json!(["x", "y"])), "{shared}");
    patch(&server, &format!("{SCREWS}/a?fieldManager=m3"), MERGE, json!({"spec": {"length": 5}})).await;
    let (status, refused) = state(&server, "fieldManager=m1", json!({"length": 1, "tags": ["x"]})).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(refused["details"]["causes"][0]["field"], ".spec.length", "{refused}");
    assert!(
        refused["message"].as_str().unwrap().contains("conflict with \"m3\" using example.com/v1"),
        "{refused}"
    );
    let (status, forced) = state(&server, "fieldManager=m1&force=true", json!({"length": 1})).await;
    assert_eq!(
        (status, &forced["spec"]),
        (200, &json!({"length": 1, "colour": "red", "tags": ["y"]})),
        "{forced}"
    );
    assert_eq!(owned(&forced, "m3"), Value::Null);
    let (_, same) = state(&server, "fieldManager=m1&force=true", json!({"length": 1})).await;
    assert_eq!(same["metadata"]["resourceVersion"], forced["metadata"]["resourceVersion"]);
    let statement = json!({"kind": "Screw", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "status": {"turns": 3}});
    let (status, turned) =
        patch(&server, &format!("{SCREWS}/a/status?fieldManager=m4"), APPLY, statement).await;
    assert_eq!((status, &turned["status"]["turns"]), (200, &json!(3)), "{turned}");
    assert_eq!(
        (&turned["metadata"]["generation"], owned(&turned, "m4")),
        (&forced["metadata"]["generation"], json!({"f:status": {"f:turns": {}}}))
    );
}

/// Appendix E: `null` is applied to nullable fields and refused elsewhere; a default replaces it.
#[tokio::test]
async fn null_is_applied_to_nullable_fields() {
    let inner = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let mut nullable = inner.clone();
    nullable["nullable"] = json!(true);
    let spec = json!({"type": "object", "properties": {
        "no": inner, "yes": nullable, "text": {"type": "string"},
        "defaulted": {"type": "string", "default": "d"},
    }});
    let server = with_screws(&spec).await;
    let full = json!({"a": "1", "b": "2"});
    let (status, made) =
        state(&server, "fieldManager=m", json!({"no": full, "yes": full, "defaulted": null})).await;
    assert_eq!((status, &made["spec"]["defaulted"]), (201, &json!("d")), "{made}");
    let (status, response) = state(&server, "fieldManager=m", json!({"no": full, "yes": null})).await;
    assert_eq!((status, response["spec"].get("yes")), (200, Some(&Value::Null)), "{response}");
    for (wrong, why) in [
        (json!({"no": null}), "spec.no in body must be of type object: \"null\""),
        (json!({"text": null}), "spec.text in body must be of type string: \"null\""),
    ] {
        let (status, response) = state(&server, "fieldManager=m", wrong).await;
        assert_eq!(status, 422, "{response}");
        assert!(response["message"].as_str().unwrap().contains(why), "{response}");
    }
    let mut other = json!({"kind": "Screw", "apiVersion": "example.com/v1", "metadata": {"name": "b"}});
    other["spec"] = json!({"no": null, "text": null});
    let (status, response) = call(&server, Method::POST, SCREWS, other.clone()).await;
    assert_eq!((status, &response["spec"]), (201, &json!({"defaulted": "d"})), "a create ignores `null`");
    other["metadata"]["name"] = json!("c");
    let (status, response) = patch(&server, &format!("{SCREWS}/c?fieldManager=m"), APPLY, other).await;
    assert_eq!(status, 422, "{response}");
}

/// Appendix E: a formatted string is a scalar in managed fields; the format is validated as usual.
#[tokio::test]
async fn formatted_strings_are_tracked_as_scalars() {
    let spec = json!({"type": "object", "properties": {
        "at": {"type": "string", "format": "date-time"}, "plain": {"type": "string"},
        "bytes": {"type": "string", "format": "byte"}, "odd": {"type": "string", "format": "made-up"},
    }});
    let server = with_screws(&spec).await;
    for (wrong, status, why) in [
        (json!({"at": 5}), 422, "spec.at in body must be of type"),
        (json!({"odd": 5}), 422, "spec.odd in body must be of type string: \"integer\""),
        (json!({"at": {"a": 1}}), 500, ".spec.at: expected any scalar, got &{map[a:1]}"),
        (json!({"plain": 5}), 500, ".spec.plain: expected string, got &value.valueUnstructured{Value:5}"),
        (json!({"bytes": 5}), 500, ".spec.bytes: expected string, got &value.valueUnstructured{Value:5}"),
    ] {
        let (code, response) = state(&server, "fieldManager=m", wrong.clone()).await;
        assert_eq!(code, status, "{wrong}: {response}");
        assert!(response["message"].as_str().unwrap().contains(why), "{wrong}: {response}");
    }
}

/// Appendix E: managed fields of an earlier schema are read by the current one.
#[tokio::test]
async fn managed_fields_survive_a_change_of_the_schema() {
    let list = |kind: &str| {
        let mut list = json!({"type": "array", "x-kubernetes-list-type": kind, "items": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
        }});
        if kind == "map" {
            list["x-kubernetes-list-map-keys"] = json!(["name"]);
        }
        json!({"type": "object", "properties": {"parts": list, "size": {"type": "integer"}}})
    };
    let server = with_screws(&list("atomic")).await;
    let (status, made) =
        state(&server, "fieldManager=m1", json!({"parts": [{"name": "a", "n": 1}], "size": 1})).await;
    assert_eq!((status, owned(&made, "m1")), (201, json!({"f:spec": {"f:parts": {}, "f:size": {}}})));
    redefine(&server, &list("map")).await;
    let (status, both) = state(&server, "fieldManager=m2", json!({"parts": [{"name": "b", "n": 2}]})).await;
    assert_eq!(status, 200, "{both}");
    assert_eq!(both["spec"]["parts"], json!([{"name": "a", "n": 1}, {"name": "b", "n": 2}]));
    redefine(&server, &list("atomic")).await;
    let (status, response) =
        state(&server, "fieldManager=m2", json!({"parts": [{"name": "c", "n": 3}]})).await;
    assert_eq!(status, 409, "{response}");
    let (status, response) =
        state(&server, "fieldManager=m2&force=true", json!({"parts": [{"name": "c", "n": 3}]})).await;
    assert_eq!((status, &response["spec"]["parts"]), (200, &json!([{"name": "c", "n": 3}])), "{response}");
}

/// Client-side apply: the last applied configuration is an annotation, and a merge patch has the changes since.
#[tokio::test]
async fn kubectl_applies_with_merge_patches() {
    let spec = json!({"type": "object", "properties": {"length": {"type": "integer"}, "colour": {"type": "string"}}});
    let server = with_screws(&spec).await;
    let last = "kubectl.kubernetes.io/last-applied-configuration";
    let body = json!({"kind": "Screw", "apiVersion": "example.com/v1", "spec": {"length": 1, "colour": "red"},
        "metadata": {"name": "a", "annotations": {last: "{\"spec\":{\"length\":1,\"colour\":\"red\"}}\n"}}});
    let path = format!("{SCREWS}?fieldManager=kubectl-client-side-apply&fieldValidation=Strict");
    assert_eq!(call(&server, Method::POST, &path, body).await.0, 201);
    let change = json!({"metadata": {"annotations": {last: "{\"spec\":{\"length\":2}}\n"}}, "spec": {"length": 2, "colour": null}});
    let path = format!("{SCREWS}/a?fieldManager=kubectl-client-side-apply&fieldValidation=Strict");
    let (status, response) = patch(&server, &path, MERGE, change).await;
    assert_eq!((status, &response["spec"]), (200, &json!({"length": 2})), "{response}");
    let (status, response) = state(&server, "fieldManager=kubectl", json!({"length": 3})).await;
    assert_eq!((status, &response["spec"]["length"]), (200, &json!(3)), "{response}");
}
