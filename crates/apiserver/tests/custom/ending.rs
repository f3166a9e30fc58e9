//! The end of a definition: its objects go first.

use std::time::Duration;

use http_body_util::BodyExt as _;

use super::*;

const WIDGET_DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";

/// Appendix E: a definition that is deleted takes its objects with it, and then its group is gone.
#[tokio::test]
async fn a_definition_takes_its_objects_with_it() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let (status, answer) = call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(answer["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert!(conditions(&answer).contains(&"Terminating=True/InstanceDeletionPending".to_owned()), "{answer}");
    assert_eq!(get(&server, WIDGET_DEFINITION).await.0, 404);
    assert_eq!(get(&server, "/apis/example.com").await.0, 404);
    // Whoever defines widgets anew finds none of the old ones.
    define(&server, definition()).await;
    assert_eq!(get(&server, WIDGETS).await.1["items"], json!([]));
}

/// Appendix E: what is held by a finalizer holds its definition, and nothing new is made meanwhile.
#[tokio::test]
async fn an_object_that_is_held_holds_its_definition() {
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
    let (status, refused) = call(&server, Method::POST, WIDGETS, widget("b", json!({"size": 1}))).await;
    assert_eq!(status, 405, "{refused}");

    let path = format!("{WIDGETS}/a");
    let (_, going) = get(&server, &path).await;
    assert!(going["metadata"]["deletionTimestamp"].is_string(), "{going}");
    let (status, answer) = patch(&server, &path, MERGE, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(get(&server, WIDGET_DEFINITION).await.0, 404);
    assert_eq!(get(&server, WIDGETS).await.0, 404);
}

/// A watch tells of every object that goes, and ends with the kind.
#[tokio::test]
async fn a_watch_ends_with_its_kind() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let watch =
        send(&server, Method::GET, &format!("{WIDGETS}?watch=true&resourceVersion=0"), "", &Value::Null)
            .await;
    call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
    let told = tokio::time::timeout(Duration::from_secs(10), watch.into_body().collect()).await;
    let told = String::from_utf8(told.expect("it ends").unwrap().to_bytes().to_vec()).unwrap();
    assert!(told.contains("\"type\":\"ADDED\"") && told.contains("\"type\":\"DELETED\""), "{told}");
}

/// A watch ends when what is watched has changed its shape: whoever watches should look again.
#[tokio::test]
async fn a_watch_ends_when_the_definition_changes() {
    let server = with_widgets().await;
    let watch = send(&server, Method::GET, &format!("{WIDGETS}?watch=true"), "", &Value::Null).await;
    let change = json!({"spec": {"names": {"categories": ["all", "toys"]}}});
    let (status, answer) = patch(&server, WIDGET_DEFINITION, MERGE, change).await;
    assert_eq!(status, 200, "{answer}");
    let told = tokio::time::timeout(Duration::from_secs(10), watch.into_body().collect()).await;
    assert!(told.expect("it ends").unwrap().to_bytes().is_empty());
}
