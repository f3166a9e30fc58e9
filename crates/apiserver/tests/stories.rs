//! The API in process: no socket, a store in memory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::{call, read, send, server};
use http::Method;
use http_body_util::BodyExt as _;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn web() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
    })
}

/// A2.8, A2.16, A2.18: an object is created, read, updated with its version, and refused with an old one.
#[tokio::test]
async fn an_object_is_created_read_and_updated_under_its_version() {
    let server = server().await;
    let (status, created) = call(&server, Method::POST, DEPLOYMENTS, web()).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["metadata"]["generation"], 1);
    assert_eq!(created["spec"]["strategy"]["rollingUpdate"]["maxSurge"], "25%", "defaults are filled in");
    assert_eq!(call(&server, Method::POST, DEPLOYMENTS, web()).await.1["reason"], "AlreadyExists");
    let path = format!("{DEPLOYMENTS}/web");
    let (_, mut found) = call(&server, Method::GET, &path, Value::Null).await;
    assert_eq!(found, created);
    found["spec"]["replicas"] = json!(5);
    let (status, updated) = call(&server, Method::PUT, &path, found.clone()).await;
    assert_eq!((status, &updated["metadata"]["generation"]), (200, &json!(2)));
    let (status, refused) = call(&server, Method::PUT, &path, found).await;
    assert_eq!((status, &refused["reason"]), (409, &json!("Conflict")));
    let (_, again) = call(&server, Method::PUT, &path, updated.clone()).await;
    assert_eq!(
        again["metadata"]["resourceVersion"], updated["metadata"]["resourceVersion"],
        "A2.4: nothing is written"
    );
}

/// O2.1, A0.13: an invalid object is refused with every field.
#[tokio::test]
async fn an_invalid_object_is_refused_by_field() {
    let server = server().await;
    let mut wrong = web();
    wrong["spec"]["replicas"] = json!(-1);
    let (status, refused) = call(&server, Method::POST, DEPLOYMENTS, wrong).await;
    assert_eq!(status, 422);
    let message = "Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(refused["message"], message);
    let (status, refused) =
        call(&server, Method::POST, "/apis/apps/v1/namespaces/nowhere/deployments", web()).await;
    assert_eq!((status, &refused["message"]), (404, &json!("namespaces \"nowhere\" not found")));
}

/// A3.1, A3.22: every kind of patch.
#[tokio::test]
async fn objects_are_patched_in_four_ways() {
    let server = server().await;
    call(&server, Method::POST, DEPLOYMENTS, web()).await;
    let path = format!("{DEPLOYMENTS}/web");
    for (kind, body, replicas) in [
        ("application/merge-patch+json", json!({"spec": {"replicas": 4}}), 4),
        ("application/strategic-merge-patch+json", json!({"spec": {"replicas": 5}}), 5),
        ("application/json-patch+json", json!([{"op": "replace", "path": "/spec/replicas", "value": 6}]), 6),
    ] {
        let (status, patched) = read(send(&server, Method::PATCH, &path, kind, &body).await).await;
        assert_eq!((status, &patched["spec"]["replicas"]), (200, &json!(replicas)), "{kind}: {patched}");
    }
    let statement = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 7}});
    let apply = "application/apply-patch+yaml";
    let unforced = format!("{path}?fieldManager=me");
    let (status, refused) = read(send(&server, Method::PATCH, &unforced, apply, &statement).await).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"story\" using apps/v1: .spec.replicas"
    );
    let forced = format!("{path}?fieldManager=me&force=true");
    let (status, applied) = read(send(&server, Method::PATCH, &forced, apply, &statement).await).await;
    assert_eq!((status, &applied["spec"]["replicas"]), (200, &json!(7)));
}

/// A4.2, A4.4: pages are of one version, and the last one has no next.
#[tokio::test]
async fn pages_of_a_list_are_of_one_version() {
    let server = server().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    for n in 0..5 {
        call(
            &server,
            Method::POST,
            maps,
            json!({"metadata": {"name": format!("c{n}"), "labels": {"odd": (n % 2).to_string()}}}),
        )
        .await;
    }
    let (_, first) = call(&server, Method::GET, &format!("{maps}?limit=2"), Value::Null).await;
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    call(&server, Method::DELETE, &format!("{maps}/c4"), Value::Null).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (_, rest) =
        call(&server, Method::GET, &format!("{maps}?limit=10&continue={token}"), Value::Null).await;
    let names: Vec<_> =
        rest["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["c2", "c3", "c4"], "as it was when the first page was read");
    assert_eq!(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    let selected = format!("{maps}?limit=1&labelSelector=odd%3D1");
    let (_, one) = call(&server, Method::GET, &selected, Value::Null).await;
    assert_eq!(one["metadata"].get("remainingItemCount"), None, "matches of a selector are not counted");
    let token = one["metadata"]["continue"].as_str().expect("the second odd one is on the next page");
    let (_, other) = call(&server, Method::GET, &format!("{selected}&continue={token}"), Value::Null).await;
    assert_eq!(
        (&one["items"][0]["metadata"]["name"], &other["items"][0]["metadata"]["name"]),
        (&json!("c1"), &json!("c3"))
    );
    let (_, odd) = call(&server, Method::GET, &format!("{maps}?labelSelector=odd%3D1"), Value::Null).await;
    assert_eq!(odd["items"].as_array().unwrap().len(), 2);
}

/// A4.9, A4.11, A4.13, A4.16: initial objects, the end bookmark, then changes, under a selector.
#[tokio::test]
async fn a_watch_delivers_changes_of_selected_objects() {
    let server = server().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let labelled = |name: &str, app: &str| json!({"metadata": {"name": name, "labels": {"app": app}}});
    call(&server, Method::POST, maps, labelled("a", "web")).await;
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app%3Dweb";
    let mut stream =
        send(&server, Method::GET, &format!("{maps}?{query}"), "", &Value::Null).await.into_body();
    call(&server, Method::POST, maps, labelled("b", "other")).await;
    call(&server, Method::PUT, &format!("{maps}/b"), labelled("b", "web")).await;
    call(&server, Method::PUT, &format!("{maps}/a"), labelled("a", "other")).await;
    call(&server, Method::DELETE, &format!("{maps}/b"), Value::Null).await;
    let mut events = Vec::new();
    for _ in 0..5 {
        let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        let event: Value = gantry_json::from_slice(&frame).unwrap();
        events.push(format!(
            "{} {}",
            event["type"].as_str().unwrap(),
            event["object"]["metadata"]["name"].as_str().unwrap_or("-")
        ));
    }
    assert_eq!(events, ["ADDED a", "BOOKMARK -", "ADDED b", "DELETED a", "DELETED b"]);
}

/// A2.28, O6.4, A2.21: finalizers delay a deletion until the last one is removed.
#[tokio::test]
async fn finalizers_delay_a_deletion_until_the_last_is_removed() {
    let server = server().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    call(&server, Method::POST, maps, json!({"metadata": {"name": "held", "finalizers": ["example.com/f"]}}))
        .await;
    let path = format!("{maps}/held");
    let (_, lingering) = call(&server, Method::DELETE, &path, Value::Null).await;
    assert_eq!(lingering["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    let free = json!({"metadata": {"finalizers": null}});
    let (status, _) =
        read(send(&server, Method::PATCH, &path, "application/merge-patch+json", &free).await).await;
    assert_eq!(status, 200);
    assert_eq!(call(&server, Method::GET, &path, Value::Null).await.0, 404);
}

/// A1.1, A0.8, A1.7: discovery, health, and absent paths.
#[tokio::test]
async fn discovery_lists_the_served_kinds() {
    let server = server().await;
    let get = |path: &'static str| call(&server, Method::GET, path, Value::Null);
    assert_eq!(get("/version").await.1["gitVersion"], "v1.37.0");
    let groups = get("/apis").await.1;
    assert!(groups["groups"].as_array().unwrap().iter().any(|group| group["name"] == "apps"));
    assert_eq!(
        get("/apis/apps/v1/nonsense").await.1["message"],
        "the server could not find the requested resource"
    );
    assert_eq!(get("/nonsense").await.0, 404);
    assert_eq!(call(&server, Method::HEAD, "/api/v1/pods", Value::Null).await.0, 405);
    assert_eq!(send(&server, Method::GET, "/readyz", "", &Value::Null).await.status(), 200);
}

/// A8.5, O4.3, A3.18: replicas are written through `scale`, increment the generation, and have an owner.
#[tokio::test]
async fn a_workload_is_scaled_through_its_scale() {
    let server = server().await;
    call(&server, Method::POST, DEPLOYMENTS, web()).await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    let (_, scale) = call(&server, Method::GET, &path, Value::Null).await;
    assert_eq!(
        (&scale["kind"], &scale["spec"]["replicas"], &scale["status"]["selector"]),
        (&json!("Scale"), &json!(3), &json!("app=web"))
    );
    let five = json!({"spec": {"replicas": 5}});
    let (status, scaled) =
        read(send(&server, Method::PATCH, &path, "application/merge-patch+json", &five).await).await;
    assert_eq!((status, &scaled["spec"]["replicas"]), (200, &json!(5)), "{scaled}");
    let (_, web) = call(&server, Method::GET, &format!("{DEPLOYMENTS}/web"), Value::Null).await;
    assert_eq!((&web["spec"]["replicas"], &web["metadata"]["generation"]), (&json!(5), &json!(2)));
    let owners = web["metadata"]["managedFields"].as_array().unwrap();
    assert!(owners.iter().any(|entry| entry["subresource"] == "scale"), "{owners:?}");
    let fewer = json!({"spec": {"replicas": -3}});
    let (status, refused) =
        read(send(&server, Method::PATCH, &path, "application/merge-patch+json", &fewer).await).await;
    let message = "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -3: must be greater than or equal to 0";
    assert_eq!((status, &refused["message"]), (422, &json!(message)));
    let outdated = json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web", "resourceVersion": "1"}, "spec": {"replicas": 9}});
    assert_eq!(call(&server, Method::PUT, &path, outdated).await.0, 409);
}
