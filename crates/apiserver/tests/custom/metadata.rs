//! The metadata of custom objects follows the rules of any object.

use super::*;
use crate::harness::round_trip;

fn with_metadata(metadata: &Value) -> Value {
    json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": metadata, "spec": {"size": 1}})
}

/// Appendix E: malformed metadata is refused with the messages of Go's decoder.
#[tokio::test]
async fn malformed_metadata_is_refused() {
    let server = with_widgets().await;
    let table = [
        (
            json!({"name": "a", "labels": {"a": 42, "b": "c"}}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
        (json!("a"), "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
        (
            json!({"name": "a", "finalizers": "a/b"}),
            "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string",
        ),
    ];
    for (metadata, problem) in table {
        let (status, response) = call(&server, Method::POST, WIDGETS, with_metadata(&metadata)).await;
        assert_eq!(status, 400, "{response}");
        let expected = format!("Widget in version \"v1\" cannot be handled as a Widget: {problem}");
        assert_eq!(response["message"], expected);
    }
    let odd = json!({"name": "a", "colour": 42, "generation": null, "labels": {"a": "b"}});
    let (status, made) = call(&server, Method::POST, WIDGETS, with_metadata(&odd)).await;
    assert_eq!((status, &made["metadata"]["generation"]), (201, &json!(1)), "{made}");
    assert!(made["metadata"].get("colour").is_none());
    let (status, response) =
        patch(&server, &format!("{WIDGETS}/a"), MERGE, json!({"metadata": {"labels": {"a": 1}}})).await;
    assert_eq!((status, &response["details"]["causes"][0]["field"]), (422, &json!("patch")), "{response}");
}

/// Appendix E: a finalizer without a domain gets a warning only.
#[tokio::test]
async fn finalizers_without_a_domain_get_a_warning() {
    let server = with_widgets().await;
    let table = [
        (json!(["example.com/done"]), ""),
        (
            json!(["done"]),
            "metadata.finalizers: \"done\": prefer a domain-qualified finalizer name to avoid accidental conflicts with \
             other finalizer writers",
        ),
        (json!(["done", "foregroundDeletion"]), ""),
        (
            json!(["done", "done.example.com"]),
            "metadata.finalizers: \"done.example.com\": prefer a domain-qualified finalizer name including a path (/) to \
             avoid accidental conflicts with other finalizer writers",
        ),
    ];
    let headers = [("content-type", APPLY), ("user-agent", "story/1")];
    for (finalizers, warning) in table {
        let statement = with_metadata(&json!({"name": "a", "finalizers": finalizers}));
        let path = format!("{WIDGETS}/a?fieldManager=m");
        let response = round_trip(&server, Method::PATCH, &path, &headers, statement.to_string()).await;
        assert!(response.status < 300, "{}", response.text());
        let expected = if warning.is_empty() { String::new() } else { format!("299 - {}", json!(warning)) };
        assert_eq!(response.header("warning"), expected, "{finalizers}");
    }
    let both = with_metadata(&json!({"name": "b", "finalizers": ["orphan", "foregroundDeletion", "a b"]}));
    let (status, response) = call(&server, Method::POST, WIDGETS, both).await;
    assert_eq!(status, 422, "{response}");
}

/// Names, labels, annotations and owners are validated as in any object.
#[tokio::test]
async fn metadata_is_validated_as_that_of_any_object() {
    let server = with_widgets().await;
    let table = [
        (json!({"name": "A"}), "metadata.name"),
        (json!({"generateName": "A-"}), "metadata.generateName"),
        (json!({}), "metadata.name"),
        (json!({"name": "a", "labels": {"a": "b c"}}), "metadata.labels"),
        (json!({"name": "a", "annotations": {"a b": ""}}), "metadata.annotations"),
        (
            json!({"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "b"}]}),
            "metadata.ownerReferences[0].uid",
        ),
    ];
    for (metadata, field) in table {
        let (status, response) = call(&server, Method::POST, WIDGETS, with_metadata(&metadata)).await;
        let causes = response["details"]["causes"].as_array().unwrap();
        assert!(status == 422 && causes.iter().any(|cause| cause["field"] == field), "{response}");
    }
    let (status, made) =
        call(&server, Method::POST, WIDGETS, with_metadata(&json!({"generateName": "a-"}))).await;
    assert_eq!(status, 201, "{made}");
    make(&server, "b", json!({"size": 1})).await;
    let path = format!("{WIDGETS}/b");
    let (status, response) =
        patch(&server, &path, MERGE, json!({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}))
            .await;
    assert_eq!(status, 200, "the creation time is unchanged: {response}");
    assert_eq!(response["metadata"]["creationTimestamp"], "2026-01-01T12:00:00Z");
    let (status, response) = patch(&server, &path, MERGE, json!({"metadata": {"name": "c"}})).await;
    assert_eq!(status, 400, "{response}");
    let (status, _) = patch(&server, &path, MERGE, json!({"metadata": {"namespace": "other"}})).await;
    assert_eq!(status, 400);
    let (status, _) = patch(&server, &path, MERGE, json!({"metadata": {"uid": "x"}})).await;
    assert!(matches!(status, 409 | 422));
}
