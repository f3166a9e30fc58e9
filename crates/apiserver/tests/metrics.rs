//! Metrics of requests and watches, under Kubernetes' names.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use harness::{call, round_trip, server};
use http::{Method, Request};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn metrics(server: &ApiServer) -> String {
    let response = round_trip(server, Method::GET, "/metrics", &[], "").await;
    assert!(response.header("content-type").starts_with("text/plain"));
    response.text().to_owned()
}

/// The value of a sample whose line contains all these texts.
fn sample(text: &str, words: &[&str]) -> Option<f64> {
    let line =
        text.lines().find(|line| !line.starts_with('#') && words.iter().all(|word| line.contains(word)))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// A1.9: requests are counted by labels and status, and timed.
#[tokio::test]
async fn requests_are_counted_by_verb_resource_and_code() {
    let server = server().await;
    call(&server, Method::POST, MAPS, json!({"metadata": {"name": "a"}})).await;
    call(&server, Method::POST, MAPS, json!({"metadata": {"name": "a"}})).await;
    call(&server, Method::GET, MAPS, Value::Null).await;
    call(&server, Method::GET, "/no/such/path/of/a-client", Value::Null).await;
    let text = metrics(&server).await;
    let posts = |code: &str| {
        sample(&text, &["apiserver_request_total{", "resource=\"configmaps\"", "verb=\"POST\"", code])
    };
    assert_eq!((posts("code=\"201\""), posts("code=\"409\"")), (Some(1.0), Some(1.0)), "{text}");
    let lists = [
        "apiserver_request_duration_seconds_count",
        "resource=\"configmaps\"",
        "verb=\"LIST\"",
        "scope=\"namespace\"",
    ];
    assert_eq!(sample(&text, &lists), Some(1.0), "{text}");
    let stored = |text: &str| sample(text, &["apiserver_storage_objects", "\"configmaps\""]).unwrap();
    call(&server, Method::DELETE, &format!("{MAPS}/a"), Value::Null).await;
    assert!((stored(&text) - stored(&metrics(&server).await) - 1.0).abs() < 0.1, "one object fewer");
    assert!(sample(&text, &["etcd_request_duration_seconds_count", "operation=\"txn\""]).unwrap() >= 1.0);
    assert!(!text.contains("a-client"), "paths of clients are no labels");
    assert_eq!(
        sample(&text, &["apiserver_current_inflight_requests", "readOnly"]),
        Some(1.0),
        "this request"
    );
}

/// A1.9: a watch is counted while it is open.
#[tokio::test]
async fn watches_are_counted_until_they_end() {
    let server = server().await;
    let request = Request::get(format!("{MAPS}?watch=1")).body(bytes::Bytes::new()).unwrap();
    let watch = server.handle(request).await;
    let running = ["apiserver_longrunning_requests", "verb=\"WATCH\"", "resource=\"configmaps\""];
    assert_eq!(sample(&metrics(&server).await, &running), Some(1.0));
    drop(watch);
    assert_eq!(sample(&metrics(&server).await, &running), Some(0.0));
}

/// Every line is a comment or a sample, and every family is described once.
#[tokio::test]
async fn the_text_is_well_formed() {
    let server = server().await;
    let text = metrics(&server).await;
    let families: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let mut once = families.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), families.len());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(!name.contains(' ') || name.contains('{'), "{line}");
    }
    if cfg!(target_os = "linux") {
        assert!(sample(&text, &["process_resident_memory_bytes"]).unwrap() > 1e6);
        assert!(sample(&text, &["process_start_time_seconds"]).unwrap() > 1.6e9);
    }
}
