//! Gets and lists: form and version of objects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_json::{Value, json};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{Key, Store as _, Transaction};
use harness::{Noon, call, round_trip, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A2.1, A2.2, A2.7: kind and apiVersion first, the resource version after the uid, required fields present.
#[tokio::test]
async fn an_object_is_read_byte_for_byte_as_it_was_written() {
    let server = server().await;
    let map = json!({"metadata": {"name": "a", "labels": {"b": "2", "a": "1"}}, "data": {"k": "<v>"}});
    let created = round_trip(&server, Method::POST, MAPS, &[], map.to_string()).await;
    assert_eq!(created.status, 201);
    let text = created.text();
    assert!(
        text.starts_with(
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":""#
        ),
        "{text}"
    );
    let version = created.json()["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let behind =
        format!(r#"","resourceVersion":"{version}","creationTimestamp":"2026-01-01T12:00:00Z","labels":"#);
    assert!(text.contains(&behind), "{text}");
    assert!(text.contains(r#""labels":{"a":"1","b":"2"}"#), "{text}");
    assert!(text.ends_with("\"data\":{\"k\":\"\\u003cv\\u003e\"}}\n"), "{text}");
    let read = round_trip(&server, Method::GET, &format!("{MAPS}/a"), &[], "").await;
    assert_eq!(read.text(), text);
    let services = "/api/v1/namespaces/default/services";
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let (_, service) = call(&server, Method::POST, services, service).await;
    assert_eq!(service["status"], json!({"loadBalancer": {}}));
}

/// A2.1: items have neither kind nor version, and are ordered by `namespace/name`.
#[tokio::test]
async fn items_of_lists_have_no_kind_and_are_ordered_by_namespace_and_name() {
    let server = server().await;
    for namespace in ["x", "x-z"] {
        call(&server, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": namespace}})).await;
        for name in ["b", "a"] {
            let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
            call(&server, Method::POST, &maps, json!({"metadata": {"name": name}})).await;
        }
    }
    let listed = round_trip(
        &server,
        Method::GET,
        "/api/v1/configmaps?fieldSelector=metadata.namespace!%3Dkube-system",
        &[],
        "",
    )
    .await;
    let start = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":""#;
    assert!(listed.text().starts_with(start), "{}", listed.text());
    let list = listed.json();
    let places = list["items"].as_array().unwrap().iter().map(|item| {
        assert_eq!((item.get("kind"), item.get("apiVersion")), (None, None));
        let text = |field: &str| item["metadata"][field].as_str().unwrap();
        format!("{}/{}", text("namespace"), text("name"))
    });
    assert_eq!(places.collect::<Vec<_>>(), ["x-z/a", "x-z/b", "x/a", "x/b"]);
    let empty = round_trip(&server, Method::GET, "/api/v1/namespaces/default/secrets", &[], "").await;
    assert!(empty.text().ends_with("\"items\":[]}\n"), "{}", empty.text());
}

/// A2.3, O4.6: every write gets the next revision of the whole store.
#[tokio::test]
async fn versions_grow_with_every_write_of_any_kind() {
    let server = server().await;
    let version =
        |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    let (_, map) = call(&server, Method::POST, MAPS, json!({"metadata": {"name": "a"}})).await;
    let secrets = "/api/v1/namespaces/default/secrets";
    let (_, secret) = call(&server, Method::POST, secrets, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(version(&secret), version(&map) + 1);
    call(&server, Method::DELETE, &format!("{secrets}/a"), Value::Null).await;
    let (_, list) = call(&server, Method::GET, secrets, Value::Null).await;
    assert_eq!(version(&list), version(&secret) + 1, "a deletion is a write");
}

/// A4.5, A4.3: a get may require a minimum version, and times out if it is not reached.
#[tokio::test]
async fn a_read_can_require_a_minimum_version() {
    let server = server().await;
    call(&server, Method::POST, MAPS, json!({"metadata": {"name": "a"}})).await;
    let get = |query: &'static str| call(&server, Method::GET, query, Value::Null);
    assert_eq!(get("/api/v1/namespaces/default/configmaps/a?resourceVersion=0").await.0, 200);
    assert_eq!(get("/api/v1/namespaces/default/configmaps/a?resourceVersion=2").await.0, 200);
    let (status, refused) = get("/api/v1/namespaces/default/configmaps/a?resourceVersion=abc").await;
    let message =
        "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax";
    assert_eq!((status, &refused["message"]), (500, &json!(message)));
    let (status, late) = get("/api/v1/namespaces/default/configmaps/a?resourceVersion=99999").await;
    assert_eq!(
        (status, &late["reason"], &late["details"]["retryAfterSeconds"]),
        (504, &json!("Timeout"), &json!(1))
    );
}

/// A0.5, A0.8: a namespaced object is found in its namespace only; unsupported methods are refused.
#[tokio::test]
async fn objects_are_found_in_their_scope_only() {
    let server = server().await;
    let missing = "the server could not find the requested resource";
    for path in
        ["/api/v1/configmaps/a", "/api/v1/namespaces/default/nodes", "/api/v1/namespaces/default/nodes/n"]
    {
        let (status, refused) = call(&server, Method::GET, path, Value::Null).await;
        assert_eq!((status, &refused["message"]), (404, &json!(missing)), "{path}");
    }
    let (status, refused) =
        call(&server, Method::POST, "/api/v1/configmaps", json!({"metadata": {"name": "a"}})).await;
    assert_eq!((status, &refused["reason"]), (405, &json!("MethodNotAllowed")));
    for method in [Method::HEAD, Method::OPTIONS] {
        assert_eq!(call(&server, method, MAPS, Value::Null).await.0, 405);
    }
    let endpoints = round_trip(&server, Method::GET, "/api/v1/namespaces/default/endpoints", &[], "").await;
    let advice = "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\"";
    assert_eq!(endpoints.header("warning"), advice, "A2.24: a warning is a header");
}

/// A2.7: objects stored by another server are served, listed and watched in our form.
#[tokio::test]
async fn objects_stored_by_another_server_are_served_in_our_form() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
    server.prepare().await.unwrap();
    let key = Key::new("/registry/pods/default/p").unwrap();
    let foreign = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"web"},"name":"p","namespace":"default"},
        "spec":{"containers":[{"image":"nginx","name":"c"}]}}"#;
    store.commit(Transaction::create(key, foreign)).await.unwrap();
    let (status, pod) = call(&server, Method::GET, "/api/v1/namespaces/default/pods/p", Value::Null).await;
    assert_eq!(
        (status, &pod["spec"]["dnsPolicy"], &pod["status"]),
        (200, &json!("ClusterFirst"), &json!({})),
        "{pod}"
    );
    let listed =
        round_trip(&server, Method::GET, "/api/v1/pods?labelSelector=app%3Dweb", &[], "").await.json();
    assert_eq!(listed["items"][0]["spec"]["restartPolicy"], "Always");
    assert_eq!(listed["items"][0].get("kind"), None);
}
