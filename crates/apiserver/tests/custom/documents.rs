//! Discovery and OpenAPI of custom kinds.

use super::*;
use crate::harness::round_trip;

/// Appendix E: groups, versions and resources appear with the definition.
#[tokio::test]
async fn discovery_lists_custom_kinds() {
    let server = with_widgets().await;
    let (_, groups) = get(&server, "/apis").await;
    let group = groups["groups"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&group["name"], &group["preferredVersion"]["version"]),
        (&json!("example.com"), &json!("v1"))
    );
    assert_eq!(get(&server, "/apis/example.com").await.1["kind"], "APIGroup");
    let (_, resources) = get(&server, "/apis/example.com/v1").await;
    let names: Vec<_> =
        resources["resources"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["widgets", "widgets/status", "widgets/scale"]);
    let widgets = &resources["resources"][0];
    assert_eq!(widgets["shortNames"], json!(["wd"]));
    assert_eq!(widgets["categories"], json!(["all"]));
    assert_eq!(widgets["singularName"], "widget");
    let accept = [("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")];
    let before = round_trip(&server, Method::GET, "/apis", &accept, "").await;
    let aggregated = before.json();
    let group = aggregated["items"].as_array().unwrap().last().unwrap();
    assert_eq!(group["metadata"]["name"], "example.com");
    assert_eq!(group["versions"][0]["resources"][0]["resource"], "widgets");

    call(&server, Method::DELETE, &format!("{DEFINITIONS}/widgets.example.com"), Value::Null).await;
    let after = round_trip(&server, Method::GET, "/apis", &accept, "").await;
    assert_ne!(before.header("etag"), after.header("etag"), "A1.5: cached documents are outdated");
    assert!(!after.text().contains("example.com"));
}

/// OpenAPI: `kubectl explain` and client-side validation get the fields.
#[tokio::test]
async fn openapi_describes_custom_kinds() {
    let server = with_widgets().await;
    let (_, index) = get(&server, "/openapi/v3").await;
    let address = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let (status, document) = get(&server, &address).await;
    assert_eq!(status, 200);
    let schema = &document["components"]["schemas"]["com.example.v1.Widget"];
    assert_eq!(schema["properties"]["spec"]["properties"]["size"]["type"], "integer", "{schema}");
    let named = json!([{"group": "example.com", "version": "v1", "kind": "Widget"}]);
    assert_eq!(schema["x-kubernetes-group-version-kind"], named);
    let (_, all) = get(&server, "/openapi/v2").await;
    assert_eq!(all["definitions"]["com.example.v1.Widget"]["x-kubernetes-group-version-kind"], named);
    assert!(all["definitions"]["io.k8s.api.apps.v1.Deployment"].is_object(), "the others are still there");
}

/// A1.2, A1.4: discovery of a terminating definition lists no verbs that create objects.
#[tokio::test]
async fn discovery_of_a_terminating_definition_has_no_create() {
    let server = with_widgets().await;
    let mut held = widget("a", json!({"size": 1}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    call(&server, Method::POST, WIDGETS, held).await;
    let all = json!(["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]);
    assert_eq!(get(&server, "/apis/example.com/v1").await.1["resources"][0]["verbs"], all);

    call(&server, Method::DELETE, &format!("{DEFINITIONS}/widgets.example.com"), Value::Null).await;
    let few = json!(["delete", "deletecollection", "get", "list", "watch"]);
    assert_eq!(get(&server, "/apis/example.com/v1").await.1["resources"][0]["verbs"], few);
    let accept = [("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")];
    let aggregated = round_trip(&server, Method::GET, "/apis", &accept, "").await.json();
    let group = aggregated["items"].as_array().unwrap().last().unwrap();
    assert_eq!(group["versions"][0]["resources"][0]["verbs"], few);
    let parts = &group["versions"][0]["resources"][0]["subresources"];
    assert_eq!((&parts[0]["subresource"], &parts[1]["subresource"]), (&json!("status"), &json!("scale")));
}
