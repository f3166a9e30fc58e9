//! Deletion of definitions: their objects are deleted first.

use std::time::Duration;

use http_body_util::BodyExt as _;

use super::*;

const WIDGET_DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";

/// Appendix E: deleting a definition deletes its objects, then its group.
#[tokio::test]
async fn deleting_a_definition_deletes_its_objects() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let (status, response) = call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(response["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert!(
        conditions(&response).contains(&"Terminating=True/InstanceDeletionPending".to_owned()),
        "{response}"
    );
    assert_eq!(get(&server, WIDGET_DEFINITION).await.0, 404);
    assert_eq!(get(&server, "/apis/example.com").await.0, 404);
    // A new definition of widgets has none of the old ones.
    define(&server, definition()).await;
    assert_eq!(get(&server, WIDGETS).await.1["items"], json!([]));
}

/// Appendix E: objects with finalizers block the deletion, and no new ones can be created.
#[tokio::test]
async fn finalizers_of_objects_block_the_definition() {
    let server = with_widgets().await;
    let mut held = widget("a", json!({"size": 1}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    call(&server, Method::POST, WIDGETS, held).await;
    call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    let (_, found) = get(&server, WIDGET_DEFINITION).await;
    assert!(
        conditions(&found).contains(&"Terminating=True/InstanceDeletionInProgress".to_owned()),
        "{found}"
    );
    let new = widget("b", json!({"size": 1}));
    let (status, refused) = call(&server, Method::POST, WIDGETS, new.clone()).await;
    assert_eq!(status, 403, "{refused}");
    assert_eq!(
        refused["message"],
        "widgets.example.com \"b\" is forbidden: create not allowed while custom resource definition is terminating"
    );
    let apply = format!("{WIDGETS}/b?fieldManager=story&dryRun=All");
    assert_eq!(patch(&server, &apply, APPLY, new).await.0, 403, "an apply that creates is refused as well");

    let path = format!("{WIDGETS}/a");
    let (_, going) = get(&server, &path).await;
    assert!(going["metadata"]["deletionTimestamp"].is_string(), "{going}");
    let (status, response) = patch(&server, &path, MERGE, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(status, 200, "{response}");
    assert_eq!(get(&server, WIDGET_DEFINITION).await.0, 404);
    assert_eq!(get(&server, WIDGETS).await.0, 404);
}

/// Appendix E: a definition with another finalizer is kept after its objects are deleted, and no new ones can be
/// created.
#[tokio::test]
async fn a_terminating_definition_rejects_creates() {
    let server = server().await;
    let mut held = definition();
    held["metadata"]["finalizers"] = json!(["hold"]);
    define(&server, held).await;
    make(&server, "a", json!({"size": 1})).await;
    call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    let (_, found) = get(&server, WIDGET_DEFINITION).await;
    assert_eq!(found["metadata"]["finalizers"], json!(["hold"]), "{found}");
    assert!(conditions(&found).contains(&"Terminating=False/InstanceDeletionCompleted".to_owned()));
    assert_eq!(get(&server, WIDGETS).await.1["items"], json!([]));
    let (status, _) = call(&server, Method::POST, WIDGETS, widget("b", json!({"size": 1}))).await;
    assert_eq!(status, 403);
    patch(&server, WIDGET_DEFINITION, MERGE, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(get(&server, WIDGET_DEFINITION).await.0, 404);
}

/// Appendix E: a definition whose objects cannot be read reports it and is kept; others are not blocked.
#[tokio::test]
async fn a_definition_with_a_stuck_deletion_does_not_block_others() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let mut old = version("v1");
    old["storage"] = json!(false);
    let spec = json!({
        "versions": [version("v2"), old],
        "conversion": {"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"},
        }},
    });
    let (status, response) = patch(&server, WIDGET_DEFINITION, MERGE, json!({"spec": spec})).await;
    assert_eq!(status, 200, "{response}");
    let (status, response) = call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    assert_eq!(status, 200, "{response}");
    let (_, found) = get(&server, WIDGET_DEFINITION).await;
    assert!(conditions(&found).contains(&"Terminating=True/InstanceDeletionFailed".to_owned()), "{found}");
    let why = found["status"]["conditions"].as_array().unwrap().last().unwrap()["message"].as_str().unwrap();
    assert!(why.starts_with("could not list instances: conversion webhook for example.com/v1"), "{why}");

    let mut other = definition();
    other["metadata"]["name"] = json!("gadgets.example.org");
    other["spec"]["group"] = json!("example.org");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget"});
    define(&server, other).await;
    assert_eq!(get(&server, "/apis/example.org/v1/gadgets").await.0, 200);
    // Objects in a version that can be read are deleted, and so is the definition.
    patch(
        &server,
        WIDGET_DEFINITION,
        MERGE,
        json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}}),
    )
    .await;
    assert_eq!(get(&server, WIDGET_DEFINITION).await.0, 404);
}

/// A watch delivers the deletion of every object, and ends with the kind.
#[tokio::test]
async fn a_watch_ends_with_its_kind() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let watch =
        send(&server, Method::GET, &format!("{WIDGETS}?watch=true&resourceVersion=0"), "", &Value::Null)
            .await;
    call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    let response = tokio::time::timeout(Duration::from_secs(60), watch.into_body().collect()).await;
    let response = String::from_utf8(response.expect("the watch ends").unwrap().to_bytes().to_vec()).unwrap();
    assert!(
        response.contains("\"type\":\"ADDED\"") && response.contains("\"type\":\"DELETED\""),
        "{response}"
    );
}

/// A watch ends when the schema has changed, so that clients list again.
#[tokio::test]
async fn a_watch_ends_when_the_definition_changes() {
    let server = with_widgets().await;
    let watch = send(&server, Method::GET, &format!("{WIDGETS}?watch=true"), "", &Value::Null).await;
    let change = json!({"spec": {"names": {"categories": ["all", "toys"]}}});
    let (status, response) = patch(&server, WIDGET_DEFINITION, MERGE, change).await;
    assert_eq!(status, 200, "{response}");
    let response = tokio::time::timeout(Duration::from_secs(60), watch.into_body().collect()).await;
    assert!(response.expect("the watch ends").unwrap().to_bytes().is_empty());
}
