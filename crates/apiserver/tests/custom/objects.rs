//! Custom objects: get, list, watch, table.

use super::*;
use crate::harness::round_trip;

/// Appendix E: keys are sorted, and items of lists have a kind.
#[tokio::test]
async fn items_have_a_kind_and_keys_are_sorted() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let one = round_trip(&server, Method::GET, &format!("{WIDGETS}/a"), &[], "").await;
    assert!(
        one.text().starts_with(r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"creation"#)
    );
    assert!(one.text().ends_with("}\n"));
    let list = round_trip(&server, Method::GET, WIDGETS, &[], "").await.json();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("WidgetList"), &json!("example.com/v1")));
    assert_eq!(list["items"][0]["kind"], "Widget");
    assert_eq!(list["items"][0]["metadata"]["resourceVersion"], one.json()["metadata"]["resourceVersion"]);
}

/// Appendix E: a body must have a kind.
#[tokio::test]
async fn a_body_without_kind_is_refused() {
    let server = with_widgets().await;
    let (status, response) = call(&server, Method::POST, WIDGETS, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(status, 400);
    let message = response["message"].as_str().unwrap();
    assert!(message.contains("Object 'Kind' is missing in '{\"metadata\":{\"name\":\"a\"}}'"), "{message}");
    let version = json!({"kind": "Widget", "apiVersion": "example.com/v2", "metadata": {"name": "a"}});
    let (status, response) = call(&server, Method::POST, WIDGETS, version).await;
    assert_eq!(status, 400);
    assert_eq!(
        response["message"],
        "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)"
    );
}

/// Table: the columns of the definition, wide ones included.
#[tokio::test]
async fn tables_have_the_columns_of_the_definition() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 3})).await;
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = round_trip(&server, Method::GET, WIDGETS, &accept, "").await.json();
    let columns: Vec<_> = table["columnDefinitions"].as_array().unwrap().iter().collect();
    let names: Vec<_> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Name", "Size", "Colour", "Age"]);
    assert_eq!(columns[2]["priority"], 1);
    assert_eq!(table["rows"][0]["cells"], json!(["a", 3, "red", "0s"]));
}

/// Field selectors: metadata, and the selectable fields of the definition.
#[tokio::test]
async fn objects_are_selected_by_the_fields_of_the_definition() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    make(&server, "b", json!({"size": 1, "colour": "blue"})).await;
    let (_, list) = get(&server, &format!("{WIDGETS}?fieldSelector=spec.colour%3Dblue")).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(list["items"][0]["metadata"]["name"], "b");
    let (status, refused) = get(&server, &format!("{WIDGETS}?fieldSelector=spec.size%3D1")).await;
    assert_eq!((status, refused["message"].as_str().unwrap()), (400, "field label not supported: spec.size"));
}

/// PartialObjectMetadata, which the garbage collector watches.
#[tokio::test]
async fn objects_are_reduced_to_their_metadata() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let accept = [("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")];
    let list = round_trip(&server, Method::GET, WIDGETS, &accept, "").await.json();
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    assert!(list["items"][0].get("spec").is_none());
}

/// Appendix E: a deletion returns a Status.
#[tokio::test]
async fn a_deleted_object_is_a_success() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let options =
        json!({"kind": "DeleteOptions", "apiVersion": "example.com/v1", "propagationPolicy": "Background"});
    let (status, response) = call(&server, Method::DELETE, &format!("{WIDGETS}/a"), options).await;
    assert_eq!((status, &response["status"]), (200, &json!("Success")), "{response}");
    assert_eq!(response["details"]["kind"], "widgets");
    assert_eq!(response["details"]["group"], "example.com");
}

/// A9.2: YAML on request.
#[tokio::test]
async fn objects_are_shown_in_yaml() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let yaml = [("accept", "application/yaml")];
    let one = round_trip(&server, Method::GET, &format!("{WIDGETS}/a"), &yaml, "").await;
    assert!(
        one.status == 200 && one.text().starts_with("apiVersion: example.com/v1\nkind: Widget\n"),
        "{}",
        one.text()
    );
    let list = round_trip(&server, Method::GET, WIDGETS, &yaml, "").await;
    assert!(list.status == 200 && list.text().contains("kind: WidgetList"), "{}", list.text());
    let none = round_trip(&server, Method::GET, &format!("{WIDGETS}/b"), &yaml, "").await;
    assert!(none.status == 404 && none.text().contains("reason: NotFound"), "{}", none.text());
}
