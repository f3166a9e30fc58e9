//! Lists: pages, versions, selectors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_json::{Value, json};
use gantry_store::Store as _;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use harness::{Noon, call, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn get(server: &ApiServer, query: &str) -> (u16, Value) {
    call(server, Method::GET, &format!("{MAPS}{query}"), Value::Null).await
}

async fn with_maps(server: &ApiServer, names: &[&str]) {
    for name in names {
        let labels = json!({"first": &name[..1]});
        call(server, Method::POST, MAPS, json!({"metadata": {"name": name, "labels": labels}})).await;
    }
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

/// A4.1, A0.9: zero and negative limits mean no limit; malformed numbers and watch-only parameters are refused.
#[tokio::test]
async fn zero_and_negative_limits_mean_no_limit() {
    let server = server().await;
    with_maps(&server, &["a", "b"]).await;
    for query in ["?limit=0", "?limit=-1", "?limit=5", "?unknown=1"] {
        assert_eq!(names(&get(&server, query).await.1), ["a", "b"], "{query}");
    }
    let (status, refused) = get(&server, "?limit=abc").await;
    assert_eq!(
        (status, &refused["message"]),
        (400, &json!("strconv.ParseInt: parsing \"abc\": invalid syntax"))
    );
    let (status, refused) = get(&server, "?sendInitialEvents=true").await;
    assert_eq!(status, 422);
    assert!(
        refused["message"].as_str().unwrap().ends_with("sendInitialEvents is forbidden for list"),
        "{refused}"
    );
}

/// A4.2, A4.3: any version, at least a version, exactly a version.
#[tokio::test]
async fn a_list_is_at_the_requested_version() {
    let server = server().await;
    with_maps(&server, &["a"]).await;
    let (_, before) = get(&server, "").await;
    let version = before["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    with_maps(&server, &["b"]).await;
    let exact = format!("?resourceVersion={version}&resourceVersionMatch=Exact");
    let (_, past) = get(&server, &exact).await;
    assert_eq!((names(&past), &past["metadata"]["resourceVersion"]), (vec!["a"], &json!(version)));
    let limited = format!("?resourceVersion={version}&limit=10");
    assert_eq!(names(&get(&server, &limited).await.1), ["a"], "with a limit it is exactly that version");
    let at_least = format!("?resourceVersion={version}");
    assert_eq!(names(&get(&server, &at_least).await.1), ["a", "b"]);
    assert_eq!(
        names(&get(&server, "?resourceVersion=0&limit=1").await.1),
        ["a", "b"],
        "a list of any version ignores the limit"
    );
    let (status, refused) = get(&server, "?resourceVersion=x").await;
    assert_eq!(status, 400);
    assert!(refused["message"].as_str().unwrap().starts_with("invalid resource version: "), "{refused}");
    let (status, late) = get(&server, "?resourceVersion=99999").await;
    assert_eq!((status, &late["details"]["causes"][0]["reason"]), (504, &json!("ResourceVersionTooLarge")));
}

/// A4.4, A4.2: a page of a compacted version is refused with a token for an inconsistent continuation.
#[tokio::test]
async fn a_list_that_lost_its_version_can_go_on_without() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
    server.prepare().await.unwrap();
    with_maps(&server, &["a", "b", "c"]).await;
    let (_, first) = get(&server, "?limit=1").await;
    let token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    let version = first["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    with_maps(&server, &["d"]).await;
    let current = store.bounds().await.unwrap().current;
    store.compact(current).await.unwrap();
    let (status, expired) = get(&server, &format!("?limit=1&continue={token}")).await;
    assert_eq!((status, &expired["reason"], expired.get("details")), (410, &json!("Expired"), None));
    let message = expired["message"].as_str().unwrap();
    assert!(
        message
            .starts_with("The provided continue parameter is too old to display a consistent list result.")
    );
    let fresh = expired["metadata"]["continue"].as_str().expect("a token to continue");
    assert_eq!(names(&get(&server, &format!("?continue={fresh}")).await.1), ["b", "c", "d"]);
    let (status, refused) =
        get(&server, &format!("?resourceVersion={version}&resourceVersionMatch=Exact")).await;
    let too_old = "The resourceVersion for the provided list is too old.";
    assert_eq!((status, &refused["message"]), (410, &json!(too_old)));
    let (status, refused) = get(&server, &format!("?continue={fresh}&resourceVersion=1")).await;
    let message = "specifying resource version is not allowed when using continue";
    assert_eq!((status, &refused["message"]), (400, &json!(message)));
    assert_eq!(get(&server, "?continue=nonsense").await.0, 400);
}

/// A4.4: a token with a version that the server has not reached gets the response of a list of that version.
#[tokio::test]
async fn a_continue_token_of_a_future_version_times_out() {
    let server = server().await;
    with_maps(&server, &["a"]).await;
    let current = get(&server, "").await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    // {"v":"meta.k8s.io/v1","rv":1000000000,"start":"/default/a\u0000"}
    let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAwMDAwMDAwMCwic3RhcnQiOiIvZGVmYXVsdC9hXHUwMDAwIn0";
    let (status, refused) = get(&server, &format!("?limit=1&continue={token}")).await;
    let message = format!("Timeout: Too large resource version: 1000000000, current: {current}");
    assert_eq!((status, &refused["reason"], &refused["message"]), (504, &json!("Timeout"), &json!(message)));
    assert_eq!(refused["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

/// A4.6: a namespace that does not exist is empty.
#[tokio::test]
async fn a_namespace_that_does_not_exist_is_empty() {
    let server = server().await;
    let (status, list) =
        call(&server, Method::GET, "/api/v1/namespaces/nowhere/configmaps", Value::Null).await;
    assert_eq!((status, &list["items"]), (200, &json!([])));
}

/// A4.7, A4.8: label selectors, field selectors, unsupported fields.
#[tokio::test]
async fn lists_apply_selectors() {
    let server = server().await;
    with_maps(&server, &["a1", "a2", "b1"]).await;
    for (query, found) in [
        ("?labelSelector=first%3Da", vec!["a1", "a2"]),
        ("?labelSelector=first%20notin%20(a)", vec!["b1"]),
        ("?labelSelector=!first", vec![]),
        ("?fieldSelector=metadata.name%3Da2", vec!["a2"]),
        ("?fieldSelector=metadata.name!%3Da2&labelSelector=first%3Da", vec!["a1"]),
        ("?fieldSelector=metadata.namespace%3Dother", vec![]),
    ] {
        assert_eq!(names(&get(&server, query).await.1), found, "{query}");
    }
    let (status, refused) = get(&server, "?fieldSelector=data.x%3D1").await;
    let message = "\"data.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
    assert_eq!((status, &refused["message"]), (400, &json!(message)));
    let (status, refused) = get(&server, "?labelSelector=a%20b").await;
    let message = "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt";
    assert_eq!((status, &refused["message"]), (400, &json!(message)));
}
