//! Unsupported requests for custom kinds, and their messages.

use super::*;
use crate::harness::round_trip;

const MACHINES: &str = "/apis/example.com/v1/machines";

/// A server that defines cluster-scoped machines.
async fn with_machines() -> ApiServer {
    let server = server().await;
    let mut machines = definition();
    machines["metadata"]["name"] = json!("machines.example.com");
    machines["spec"]["names"] = json!({"plural": "machines", "kind": "Machine"});
    machines["spec"]["scope"] = json!("Cluster");
    define(&server, machines).await;
    server
}

/// A1.2: in a group of custom kinds, undefined resources and the wrong scope get 404 as plain text.
#[tokio::test]
async fn undefined_resources_are_not_found() {
    let server = with_widgets().await;
    for (method, path) in [
        (Method::GET, "/apis/example.com/v9"),
        (Method::GET, "/apis/example.com/v9/namespaces/default/widgets"),
        (Method::GET, "/apis/example.com/v1/namespaces/default/gadgets"),
        (Method::POST, "/apis/example.com/v1/widgets"),
        (Method::DELETE, "/apis/example.com/v1/widgets"),
        (Method::GET, "/apis/example.com/v1/widgets/a"),
        (Method::PUT, "/apis/example.com/v1/widgets/a/status"),
    ] {
        let response = round_trip(&server, method.clone(), path, &[], "").await;
        assert_eq!((response.status, response.text()), (404, "404 page not found\n"), "{method} {path}");
    }
    assert_eq!(get(&server, "/apis/example.com/v1/widgets").await.0, 200, "all namespaces can be listed");
    let (status, response) = get(&server, "/apis/apps/v1/nonsense").await;
    assert_eq!((status, &response["reason"]), (404, &json!("NotFound")), "built-in groups return a Status");

    let server = with_machines().await;
    let elsewhere = MACHINES.replace("/machines", "/namespaces/default/machines");
    for (method, part) in
        [(Method::GET, ""), (Method::POST, ""), (Method::GET, "/a"), (Method::PUT, "/a/scale")]
    {
        let response = round_trip(&server, method, &format!("{elsewhere}{part}"), &[], "").await;
        assert_eq!((response.status, response.text()), (404, "404 page not found\n"), "{part}");
    }
    assert_eq!(get(&server, MACHINES).await.0, 200);
}

/// Unsupported verbs are refused with the verb and the kind.
#[tokio::test]
async fn unsupported_verbs_are_named() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let one = format!("{WIDGETS}/a");
    let about = json!({"group": "example.com", "kind": "widgets"});
    for (method, part, verb) in [
        (Method::POST, "status", "create"),
        (Method::DELETE, "status", "delete"),
        (Method::DELETE, "scale", "delete"),
    ] {
        let (status, response) = call(&server, method, &format!("{one}/{part}"), Value::Null).await;
        let message = format!("{verb} is not supported on resources of kind \"widgets.example.com\"");
        assert_eq!((status, &response["message"]), (405, &json!(message)));
        assert_eq!(response["details"], about);
    }
    let (status, response) = get(&server, &format!("{one}/nonsense")).await;
    assert_eq!((status, &response["message"]), (404, &json!("widgets.example.com \"a\" not found")));
    let (status, response) = call(&server, Method::PUT, WIDGETS, widget("a", json!({"size": 1}))).await;
    assert_eq!((status, &response["message"]), (400, &json!("name must be provided")));
}

/// Appendix E: a body of another version is refused; one of another kind is invalid.
#[tokio::test]
async fn a_body_of_another_kind_is_invalid() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let one = format!("{WIDGETS}/a");
    let mut other = widget("a", json!({"size": 1}));
    other["apiVersion"] = json!("example.org/v1");
    let (status, response) = call(&server, Method::POST, WIDGETS, other).await;
    let message = "the API version in the data (example.org/v1) does not match the expected API version (example.com/v1)";
    assert_eq!((status, &response["message"]), (400, &json!(message)));

    let mut other = widget("a", json!({"size": 1}));
    other["kind"] = json!("Gadget");
    let invalid = "Gadget.example.com \"a\" is invalid: kind: Invalid value: \"Gadget\": must be Widget";
    for (method, path) in [(Method::POST, WIDGETS), (Method::PUT, &one)] {
        let (status, response) = call(&server, method, path, other.clone()).await;
        assert_eq!((status, &response["message"]), (422, &json!(invalid)), "{response}");
        assert_eq!(response["details"]["kind"], "Gadget");
    }
    let (status, response) = patch(&server, &one, MERGE, json!({"kind": "Gadget"})).await;
    assert_eq!((status, &response["message"]), (422, &json!(invalid)), "{response}");
    let (status, response) = patch(&server, &one, MERGE, json!({"apiVersion": "example.com/v2"})).await;
    let invalid = "Widget.example.com \"a\" is invalid: apiVersion: Invalid value: \"example.com/v2\": must be example.com/v1";
    assert_eq!((status, &response["message"]), (422, &json!(invalid)), "{response}");
    let (status, response) = patch(&server, &one, MERGE, json!({"kind": null})).await;
    assert_eq!(status, 422, "{response}");
    assert!(response["message"].as_str().unwrap().contains("Object 'Kind' is missing in"), "{response}");
}

/// A9.3: bodies are JSON or YAML; there is no protobuf of custom kinds.
#[tokio::test]
async fn bodies_are_text() {
    let server = with_widgets().await;
    let yaml = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 1\n";
    let of = |kind| [("content-type", kind)];
    assert_eq!(round_trip(&server, Method::POST, WIDGETS, &of("application/yaml"), yaml).await.status, 201);
    let kind = of("application/vnd.kubernetes.protobuf");
    let response = round_trip(&server, Method::POST, WIDGETS, &kind, &b"k8s\0"[..]).await;
    assert_eq!(response.status, 400);
    let message = response.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("does not implement the protobuf marshalling interface"), "{message}");
    let response = round_trip(&server, Method::POST, WIDGETS, &of("application/cbor"), "x").await;
    assert_eq!(response.status, 415);
    let options = &b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions"[..];
    let response = round_trip(&server, Method::DELETE, &format!("{WIDGETS}/a"), &kind, options).await;
    assert_eq!(response.status, 200, "options of a delete are of a built-in kind: {}", response.text());
}
