//! Selectable fields of custom kinds.

use super::*;
use crate::harness::round_trip;

const SHIRTS: &str = "/apis/example.com/v1/namespaces/default/shirts";

async fn with_shirts() -> ApiServer {
    let server = server().await;
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "string"}, "count": {"type": "integer"}, "sold": {"type": "boolean"},
    }});
    let definition = json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "shirts.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "shirts", "kind": "Shirt"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                "selectableFields":
                    [{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.count"}, {"jsonPath": ".spec.sold"}],
            }],
        },
    });
    define(&server, definition).await;
    for (name, spec) in [
        ("a", json!({"size": "S", "count": 0, "sold": false})),
        ("b", json!({"size": "M", "count": 3, "sold": true})),
        ("c", json!({"count": 3})),
    ] {
        let new = json!({"kind": "Shirt", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": spec});
        assert_eq!(call(&server, Method::POST, SHIRTS, new).await.0, 201);
    }
    server
}

async fn selected(server: &ApiServer, selector: &str) -> String {
    let selector = selector.replace('=', "%3D").replace(',', "%2C");
    let (status, list) = get(server, &format!("{SHIRTS}?fieldSelector={selector}")).await;
    assert_eq!(status, 200, "{list}");
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// Field selectors: strings, numbers and booleans are compared as strings; absent fields are empty.
#[tokio::test]
async fn fields_are_compared_as_strings() {
    let server = with_shirts().await;
    for (selector, expected) in [
        ("spec.size=S", "a"),
        ("spec.size!=S", "b c"),
        ("spec.size=", "c"),
        ("spec.count=3", "b c"),
        ("spec.count=0", "a"),
        ("spec.sold=true", "b"),
        ("spec.sold=false", "a"),
        ("spec.count=3,spec.sold!=true", "c"),
        ("metadata.name=b,spec.size=M", "b"),
        ("metadata.namespace=default,spec.size=M", "b"),
    ] {
        assert_eq!(selected(&server, selector).await, expected, "{selector}");
    }
}

/// Field selectors: watches deliver objects that start and cease to match, and collections are deleted by them.
#[tokio::test]
async fn watches_and_deletions_select_by_fields() {
    let server = with_shirts().await;
    let (_, list) = get(&server, SHIRTS).await;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    patch(&server, &format!("{SHIRTS}/a"), MERGE, json!({"spec": {"size": "M"}})).await;
    patch(&server, &format!("{SHIRTS}/b"), MERGE, json!({"spec": {"size": "L"}})).await;
    let watch =
        format!("{SHIRTS}?watch=true&resourceVersion={version}&timeoutSeconds=1&fieldSelector=spec.size%3DM");
    let response = round_trip(&server, Method::GET, &watch, &[], "").await;
    let events = response.text().lines().map(|line| gantry_json::from_str::<Value>(line).unwrap());
    let events: Vec<_> =
        events.map(|event| format!("{} {}", event["type"], event["object"]["metadata"]["name"])).collect();
    assert_eq!(events, ["\"ADDED\" \"a\"", "\"DELETED\" \"b\""]);
    let (status, response) =
        call(&server, Method::DELETE, &format!("{SHIRTS}?fieldSelector=spec.size%3DM"), Value::Null).await;
    assert_eq!(status, 200, "{response}");
    assert_eq!(selected(&server, "spec.size!=M").await, "b c");
    assert_eq!(selected(&server, "spec.size=M").await, "");
}

/// A list of custom objects always has the field `continue`, which is empty if there is no next page.
#[tokio::test]
async fn a_list_of_custom_objects_has_an_empty_continue() {
    let server = with_shirts().await;
    for query in ["", "?fieldSelector=metadata.name%3Da", "?labelSelector=none"] {
        let (_, list) = get(&server, &format!("{SHIRTS}{query}")).await;
        assert_eq!(list["metadata"]["continue"], "", "{query}");
    }
    let (_, page) = get(&server, &format!("{SHIRTS}?limit=1")).await;
    assert_ne!(page["metadata"]["continue"], "");
}
