//! `status` and `scale` of custom kinds.

use super::*;

/// Appendix E: `status` is written through its subresource only.
#[tokio::test]
async fn the_status_is_a_separate_subresource() {
    let server = with_widgets().await;
    let mut new = widget("a", json!({"size": 1}));
    new["status"] = json!({"ready": 7});
    let (_, made) = call(&server, Method::POST, WIDGETS, new).await;
    assert!(made.get("status").is_none(), "{made}");
    let path = format!("{WIDGETS}/a");
    let mut reported = made.clone();
    reported["status"] = json!({"ready": 1});
    reported["spec"]["size"] = json!(9);
    let (status, response) = call(&server, Method::PUT, &format!("{path}/status"), reported).await;
    assert_eq!(status, 200, "{response}");
    assert_eq!((&response["status"]["ready"], &response["spec"]["size"]), (&json!(1), &json!(1)));
    let (_, response) =
        patch(&server, &path, MERGE, json!({"status": {"ready": 5}, "spec": {"size": 2}})).await;
    assert_eq!((&response["status"]["ready"], &response["spec"]["size"]), (&json!(1), &json!(2)));
}

/// Appendix E: a write to `status` does not change metadata or finalizers.
#[tokio::test]
async fn a_status_write_does_not_change_metadata() {
    let server = with_widgets().await;
    let mut new = widget("a", json!({"size": 1}));
    new["metadata"]["finalizers"] = json!(["example.com/hold"]);
    new["metadata"]["labels"] = json!({"tier": "front"});
    call(&server, Method::POST, WIDGETS, new).await;
    let change = json!({
        "metadata": {"labels": {"tier": "back"}, "annotations": {"note": "x"}, "finalizers": null},
        "status": {"ready": 1},
    });
    let (status, response) = patch(&server, &format!("{WIDGETS}/a/status"), MERGE, change).await;
    assert_eq!((status, &response["status"]["ready"]), (200, &json!(1)), "{response}");
    let metadata = &response["metadata"];
    assert_eq!(metadata["labels"], json!({"tier": "front"}));
    assert_eq!(metadata["finalizers"], json!(["example.com/hold"]));
    assert!(metadata.get("annotations").is_none(), "{metadata}");
    let owners: Vec<_> = metadata["managedFields"].as_array().unwrap().iter().collect();
    assert_eq!((owners.len(), &owners[1]["subresource"]), (2, &json!("status")), "{metadata}");
    assert_eq!(owners[1]["fieldsV1"], json!({"f:status": {".": {}, "f:ready": {}}}));
}

/// Appendix E: `scale` reads and writes the paths of the definition.
#[tokio::test]
async fn scale_reads_and_writes_the_paths_of_the_definition() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 3})).await;
    let path = format!("{WIDGETS}/a");
    let report = json!({"status": {"ready": 2, "selector": "app=a"}});
    patch(&server, &format!("{path}/status"), MERGE, report).await;
    let (status, scale) = get(&server, &format!("{path}/scale")).await;
    assert_eq!((status, &scale["kind"]), (200, &json!("Scale")), "{scale}");
    assert_eq!(scale["spec"], json!({"replicas": 3}));
    assert_eq!(scale["status"], json!({"replicas": 2, "selector": "app=a"}));
    let (status, scale) =
        patch(&server, &format!("{path}/scale"), MERGE, json!({"spec": {"replicas": 5}})).await;
    assert_eq!((status, &scale["spec"]["replicas"]), (200, &json!(5)), "{scale}");
    assert_eq!(get(&server, &path).await.1["spec"]["size"], 5);
}

/// A kind whose definition has no subresources serves none.
#[tokio::test]
async fn a_kind_without_subresources_serves_none() {
    let server = server().await;
    let mut plain = definition();
    plain["spec"]["versions"][0].as_object_mut().unwrap().remove("subresources");
    define(&server, plain).await;
    let mut new = widget("a", json!({"size": 1}));
    new["status"] = json!({"ready": 7});
    let (_, made) = call(&server, Method::POST, WIDGETS, new).await;
    assert_eq!(made["status"]["ready"], 7, "without the subresource, the status is an ordinary field");
    for part in ["status", "scale"] {
        assert_eq!(get(&server, &format!("{WIDGETS}/a/{part}")).await.0, 404, "{part}");
    }
    let path = format!("{WIDGETS}/a");
    let (_, response) = patch(&server, &path, MERGE, json!({"status": {"ready": 8}})).await;
    assert_eq!((&response["status"]["ready"], &response["metadata"]["generation"]), (&json!(8), &json!(2)));
}
