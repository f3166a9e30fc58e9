//! Watches: start, events, end.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use gantry_apiserver::{ApiServer, Body, Settings};
use gantry_json::{Value, json};
use gantry_store::Store as _;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use harness::{Noon, call, read, round_trip, send, server};
use http::Method;
use http_body_util::BodyExt as _;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An open watch.
struct Reader {
    body: Body,
    lines: VecDeque<Value>,
}

impl Reader {
    async fn of(server: &ApiServer, query: &str) -> Self {
        let response =
            send(server, Method::GET, &format!("{MAPS}?watch=true{query}"), "", &Value::Null).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/json");
        Self { body: response.into_body(), lines: VecDeque::new() }
    }

    /// The next event; `None` is the end.
    async fn next(&mut self) -> Option<Value> {
        while self.lines.is_empty() {
            let data = self.body.frame().await?.unwrap().into_data().unwrap();
            assert_eq!(data.last(), Some(&b'\n'), "A4.9: events are whole lines");
            let lines = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            self.lines.extend(lines.map(|line| gantry_json::from_slice::<Value>(line).unwrap()));
        }
        self.lines.pop_front()
    }

    /// `ADDED a`, for the next few events.
    async fn next_events(&mut self, count: usize) -> Vec<String> {
        let mut events = Vec::new();
        for _ in 0..count {
            let event = self.next().await.expect("the watch has another event");
            events.push(format!(
                "{} {}",
                event["type"].as_str().unwrap(),
                event["object"]["metadata"]["name"].as_str().unwrap_or("-")
            ));
        }
        events
    }
}

async fn put(server: &ApiServer, name: &str, data: &str) -> Value {
    let map = json!({"metadata": {"name": name, "labels": {"data": data}}, "data": {"k": data}});
    let (status, object) = call(server, Method::PUT, &format!("{MAPS}/{name}"), map.clone()).await;
    if status == 404 { call(server, Method::POST, MAPS, map).await.1 } else { object }
}

async fn delete(server: &ApiServer, name: &str) {
    assert_eq!(call(server, Method::DELETE, &format!("{MAPS}/{name}"), Value::Null).await.0, 200);
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

/// A4.9, A4.16, A4.17, A2.3: all changes after a version, in order, each once, with kind and version.
#[tokio::test]
async fn a_watch_delivers_every_change_once_and_in_order() {
    let server = server().await;
    let first = put(&server, "a", "1").await;
    let mut watch = Reader::of(&server, &format!("&resourceVersion={}", version(&first))).await;
    for round in 0..50 {
        put(&server, "a", &format!("r{round}")).await;
        put(&server, "b", &format!("r{round}")).await;
    }
    delete(&server, "a").await;
    let mut before: u64 = version(&first).parse().unwrap();
    for expected in 0..100 {
        let event = watch.next().await.unwrap();
        let now: u64 = version(&event["object"]).parse().unwrap();
        assert_eq!(now, before + 1, "nothing lost, nothing twice");
        before = now;
        assert_eq!(event["object"]["data"]["k"], format!("r{}", expected / 2));
        assert_eq!(
            (&event["object"]["kind"], &event["object"]["apiVersion"]),
            (&json!("ConfigMap"), &json!("v1"))
        );
    }
    let gone = watch.next().await.unwrap();
    assert_eq!((&gone["type"], &gone["object"]["data"]["k"]), (&json!("DELETED"), &json!("r49")));
    assert_eq!(
        version(&gone["object"]),
        (before + 1).to_string(),
        "the last content at the deletion's version"
    );
}

/// A4.11: a watch starts at the current version, with the initial objects, or at a given version.
#[tokio::test]
async fn a_watch_starts_at_the_requested_version() {
    let server = server().await;
    put(&server, "b", "1").await;
    put(&server, "a", "1").await;
    let mut all = Reader::of(&server, "").await;
    let mut zero = Reader::of(&server, "&resourceVersion=0&allowWatchBookmarks=true").await;
    let no_state = "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut from_now = Reader::of(&server, no_state).await;
    put(&server, "c", "1").await;
    assert_eq!(all.next_events(3).await, ["ADDED a", "ADDED b", "ADDED c"]);
    assert_eq!(zero.next_events(4).await, ["ADDED a", "ADDED b", "BOOKMARK -", "ADDED c"]);
    assert_eq!(from_now.next_events(1).await, ["ADDED c"]);
}

/// A4.11, A4.18: from a future version no event is delivered until the store is past it.
#[tokio::test]
async fn a_watch_of_a_future_version_waits() {
    let server = server().await;
    let now: u64 = version(&put(&server, "a", "0").await).parse().unwrap();
    let mut watch = Reader::of(&server, &format!("&resourceVersion={}", now + 2)).await;
    for round in ["1", "2", "3"] {
        put(&server, "a", round).await;
    }
    let event = watch.next().await.unwrap();
    assert_eq!(event["object"]["data"]["k"], "3");
}

/// A4.13, A4.14: initial objects, a bookmark at their version, then changes; parameter combinations are validated.
#[tokio::test]
async fn a_watch_list_marks_the_end_of_the_initial_objects() {
    let server = server().await;
    put(&server, "a", "1").await;
    let query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = Reader::of(&server, query).await;
    let added = watch.next().await.unwrap();
    let end = watch.next().await.unwrap();
    assert_eq!(end["type"], "BOOKMARK");
    assert_eq!(end["object"]["kind"], "ConfigMap");
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    assert!(version(&end["object"]).parse::<u64>().unwrap() >= version(&added["object"]).parse().unwrap());
    put(&server, "a", "2").await;
    assert_eq!(watch.next_events(1).await, ["MODIFIED a"]);
    let mut plain = Reader::of(&server, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").await;
    put(&server, "b", "1").await;
    assert_eq!(plain.next_events(2).await, ["ADDED a", "ADDED b"], "bookmarks are sent on request only");
    for (query, message) in [
        ("sendInitialEvents=true", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        ("resourceVersionMatch=NotOlderThan", "is forbidden for watch unless sendInitialEvents is provided"),
    ] {
        let (status, refused) =
            call(&server, Method::GET, &format!("{MAPS}?watch=1&{query}"), Value::Null).await;
        assert_eq!(status, 422);
        assert!(refused["message"].as_str().unwrap().ends_with(message), "{refused}");
    }
}

/// A4.13: a watch list of a version that is not reached times out.
#[tokio::test]
async fn a_watch_list_of_a_future_version_ends_with_an_error() {
    let server = server().await;
    let query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=99999";
    let mut watch = Reader::of(&server, query).await;
    let error = watch.next().await.unwrap();
    assert_eq!((&error["type"], &error["object"]["code"]), (&json!("ERROR"), &json!(504)));
    assert_eq!(error["object"]["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    assert_eq!(watch.next().await, None);
}

/// A4.12: a compacted version is an error event, and a malformed version fails the request.
#[tokio::test]
async fn a_watch_from_a_compacted_version_is_an_error_event() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
    server.prepare().await.unwrap();
    let first = put(&server, "a", "1").await;
    put(&server, "a", "2").await;
    let current = store.bounds().await.unwrap().current;
    store.compact(current).await.unwrap();
    let mut watch = Reader::of(&server, &format!("&resourceVersion={}", version(&first))).await;
    let error = watch.next().await.unwrap();
    let message = format!("too old resource version: {} ({})", version(&first), current.get());
    assert_eq!((&error["type"], &error["object"]["message"]), (&json!("ERROR"), &json!(message)));
    assert_eq!((&error["object"]["code"], &error["object"]["reason"]), (&json!(410), &json!("Expired")));
    assert_eq!(watch.next().await, None);
    let (status, _) =
        call(&server, Method::GET, &format!("{MAPS}?watch=1&resourceVersion=x"), Value::Null).await;
    assert_eq!(status, 500);
}

/// A4.10, A4.15: a watch ends in time, with a bookmark shortly before, if bookmarks are requested.
#[tokio::test(start_paused = true)]
async fn a_watch_sends_a_bookmark_before_it_ends() {
    let server = server().await;
    let first = put(&server, "a", "1").await;
    let after = format!("&resourceVersion={}&timeoutSeconds=3", version(&first));
    let started = Instant::now();
    let mut watch = Reader::of(&server, &format!("{after}&allowWatchBookmarks=true")).await;
    let mut silent = Reader::of(&server, &after).await;
    // Another object changes: the bookmark must reach versions without events in this watch.
    let (_, secret) =
        call(&server, Method::POST, "/api/v1/namespaces/default/secrets", json!({"metadata": {"name": "s"}}))
            .await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!((&bookmark["type"], version(&bookmark["object"])), (&json!("BOOKMARK"), version(&secret)));
    assert_eq!(bookmark["object"]["kind"], "ConfigMap");
    assert_eq!(watch.next().await, None);
    assert_eq!(silent.next().await, None, "bookmarks are sent on request only");
    let lasted = started.elapsed();
    assert!((Duration::from_secs(2)..=Duration::from_secs(4)).contains(&lasted), "{lasted:?}");
}

/// A4.16, A4.8: an object that starts to match is added, one that ceases to is deleted with its old content at the new
/// version.
#[tokio::test]
async fn a_selector_adds_and_deletes_objects_of_a_watch() {
    let server = server().await;
    put(&server, "a", "in").await;
    let mut watch = Reader::of(&server, "&labelSelector=data%3Din").await;
    let mut by_name = Reader::of(&server, "&fieldSelector=metadata.name%3Db").await;
    put(&server, "b", "out").await;
    let left = put(&server, "a", "out").await;
    put(&server, "b", "in").await;
    delete(&server, "b").await;
    assert_eq!(watch.next_events(1).await, ["ADDED a"]);
    let event = watch.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["data"]["k"]), (&json!("DELETED"), &json!("in")));
    assert_eq!(version(&event["object"]), version(&left));
    assert_eq!(watch.next_events(2).await, ["ADDED b", "DELETED b"]);
    assert_eq!(by_name.next_events(3).await, ["ADDED b", "MODIFIED b", "DELETED b"]);
}

/// A4.19: an object with finalizers is modified first, and deleted with its last content.
#[tokio::test]
async fn the_last_finalizer_ends_in_a_deletion_that_still_shows_it() {
    let server = server().await;
    let map = json!({"metadata": {"name": "a", "finalizers": ["example.com/f"]}});
    let (_, created) = call(&server, Method::POST, MAPS, map).await;
    let mut watch = Reader::of(&server, &format!("&resourceVersion={}", version(&created))).await;
    delete(&server, "a").await;
    let free = json!({"metadata": {"finalizers": null}});
    let merge = "application/merge-patch+json";
    let (status, shown) = read(send(&server, Method::PATCH, &format!("{MAPS}/a"), merge, &free).await).await;
    assert_eq!(
        (status, shown["metadata"].get("finalizers")),
        (200, None),
        "A2.21: the client sees what it wrote"
    );
    assert_eq!(watch.next_events(1).await, ["MODIFIED a"]);
    let gone = watch.next().await.unwrap();
    assert_eq!(
        (&gone["type"], &gone["object"]["metadata"]["finalizers"]),
        (&json!("DELETED"), &json!(["example.com/f"]))
    );
}

/// A0.5, A0.6: the old watch paths, and `watch` on a single object, which is ignored.
#[tokio::test]
async fn old_paths_watch_too() {
    let server = server().await;
    put(&server, "a", "1").await;
    put(&server, "b", "1").await;
    let path = "/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1";
    let all = round_trip(&server, Method::GET, path, &[], "").await;
    assert_eq!(all.text().lines().count(), 2, "{}", all.text());
    let path = "/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=1&watch=";
    let one = round_trip(&server, Method::GET, path, &[], "").await;
    assert_eq!(one.text().lines().count(), 1, "{}", one.text());
    assert_eq!(one.json()["object"]["metadata"]["name"], "b");
    let object = round_trip(&server, Method::GET, &format!("{MAPS}/a?watch=true"), &[], "").await;
    assert_eq!(object.json()["kind"], "ConfigMap");
    for method in [Method::DELETE, Method::PUT, Method::POST] {
        let path = "/api/v1/watch/namespaces/default/configmaps/b";
        assert_eq!(round_trip(&server, method, path, &[], "").await.status, 405, "they support only watches");
    }
}

/// A5.4, A5.6: tables have their columns in the first event only, and metadata has no other fields.
#[tokio::test]
async fn other_forms_are_watched_as_well() {
    let server = server().await;
    put(&server, "a", "1").await;
    put(&server, "b", "1").await;
    let path = format!("{MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=1");
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let events = round_trip(&server, Method::GET, &path, &table, "").await;
    let events: Vec<Value> = events.text().lines().map(|line| gantry_json::from_str(line).unwrap()).collect();
    assert!(events[0]["object"]["columnDefinitions"].is_array(), "{}", events[0]);
    assert!(events[1..].iter().all(|event| event["object"]["columnDefinitions"].is_null()));
    assert_eq!((events.len(), &events[2]["type"]), (3, &json!("BOOKMARK")));
    let partial = [("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")];
    let events = round_trip(&server, Method::GET, &path, &partial, "").await;
    let first: Value = gantry_json::from_str(events.text().lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["object"]["kind"], first["object"].get("data")),
        (&json!("PartialObjectMetadata"), None)
    );
}

/// A4.18: a slow reader gets all events.
#[tokio::test]
async fn a_slow_reader_loses_nothing() {
    let server = server().await;
    let first = put(&server, "a", "0").await;
    let mut watch = Reader::of(&server, &format!("&resourceVersion={}", version(&first))).await;
    for round in 1..=5000 {
        put(&server, "a", &round.to_string()).await;
    }
    for round in 1..=5000 {
        assert_eq!(watch.next().await.unwrap()["object"]["data"]["k"], round.to_string());
    }
}
