//! Writes: field manager, validation and retries.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::RefusalKind;
use gantry_runtime::ResourcePath;
use tokio::time::Instant;

use crate::script::{ScriptedResponse, api};

const PODS: &str = "/api/v1/namespaces/shop/pods";

/// A2.23: strict validation and a field manager.
#[tokio::test(start_paused = true)]
async fn a_write_is_strict_and_has_a_field_manager() {
    let (api, log) = api(|request, _| ScriptedResponse::Whole(201, request.body.clone()));
    let stored: Value =
        api.create(&ResourcePath::path(PODS), &json!({"metadata": {"name": "a"}})).await.unwrap();
    assert_eq!(stored["metadata"]["name"], "a");
    let request = &log.all()[0];
    assert!(
        request.has_parameter("fieldManager=scripted") && request.has_parameter("fieldValidation=Strict"),
        "{}",
        request.query
    );
}

/// A busy server is retried after the delay that it requests.
#[tokio::test(start_paused = true)]
async fn retry_after_is_respected() {
    let (api, log) = api(|_, nth| match nth {
        0 => ScriptedResponse::Busy(429, "3"),
        1 => ScriptedResponse::Busy(503, "4"),
        _ => ScriptedResponse::Whole(200, json!({})),
    });
    let began = Instant::now();
    api.get::<Value>(&ResourcePath::path(PODS)).await.unwrap();
    assert_eq!((log.all().len(), began.elapsed().as_secs()), (3, 7));
}

/// Retries are limited, and other failures are returned to the caller.
#[tokio::test(start_paused = true)]
async fn other_failures_are_returned_to_the_caller() {
    let (busy, log) = api(|_, _| ScriptedResponse::Busy(429, "1"));
    assert_eq!(busy.get::<Value>(&ResourcePath::path(PODS)).await.unwrap_err().code, Some(429));
    assert_eq!(log.all().len(), 11);
    let (broken, log) =
        api(|_, _| ScriptedResponse::Whole(500, json!({"kind": "Status", "message": "internal error"})));
    let failure = broken.get::<Value>(&ResourcePath::path(PODS)).await.unwrap_err();
    assert_eq!((failure.to_string().as_str(), failure.kind()), ("internal error", RefusalKind::Other));
    assert_eq!(log.all().len(), 1);
}

/// A request without a response times out.
#[tokio::test(start_paused = true)]
async fn a_request_without_a_response_times_out() {
    let (api, _) = api(|_, _| ScriptedResponse::Watch(Vec::new(), crate::script::Then::StayOpen));
    let began = Instant::now();
    let failure = api.get::<Value>(&ResourcePath::path(PODS)).await.unwrap_err();
    assert_eq!(failure.to_string(), "no response within 30 s");
    assert_eq!((failure.code, began.elapsed()), (None, Duration::from_secs(30)));
}
