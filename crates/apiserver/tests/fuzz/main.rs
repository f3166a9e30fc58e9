//! Fuzzing: any input gets a well-formed response, and the server does not fail.
//!
//! `cargo test` tries a few thousand inputs, `cargo xtask search fuzz` more; with cargo-bolero installed, `cargo
//! bolero test -p gantry-apiserver <target>` searches by coverage. Regressions are in `found.rs`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod custom;
#[path = "../harness/mod.rs"]
mod harness;
mod hostile;
mod mutation;
mod regressions;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::Poll;

use bytes::Bytes;
use gantry_apiserver::ApiServer;
use gantry_json::Value;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use tokio::runtime::{Builder, Runtime};

use mutation::{Mutated, Seeds};

/// The maximum number of chunks that are read of a watch.
const FRAMES_MAX: usize = 3;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().enable_all().build().unwrap());
static SERVER: LazyLock<ApiServer> = LazyLock::new(|| RUNTIME.block_on(custom::server()));
static SEEDS: LazyLock<Seeds> = LazyLock::new(Seeds::recorded);
static CUSTOM: LazyLock<Seeds> = LazyLock::new(custom::seeds);

/// Recorded requests with bytes changed, dropped and repeated: in the path, the query, the headers and the body.
#[test]
fn mutated_requests_get_a_response() {
    bolero::check!().for_each(|input: &[u8]| check_response(&SEEDS.mutate(input)));
}

/// The same with requests about custom objects.
#[test]
fn mutated_requests_about_custom_kinds_get_a_response() {
    bolero::check!().for_each(|input: &[u8]| check_response(&CUSTOM.mutate(input)));
}

/// Custom objects in which values are exchanged: valid JSON with unusual values.
#[test]
fn custom_objects_with_exchanged_values_get_a_response() {
    bolero::check!().for_each(|input: &[u8]| check_response(&custom::with_unusual_values(&CUSTOM, input)));
}

/// Any bytes as a body, in each format.
#[test]
fn any_body_gets_a_response() {
    bolero::check!().for_each(|input: &[u8]| {
        let Some((choice, body)) = input.split_first() else { return };
        check_response(&Mutated::body(*choice, body));
    });
}

/// Any text as a query, on reads and writes.
#[test]
fn any_query_gets_a_response() {
    bolero::check!().for_each(|input: &[u8]| {
        let Some((choice, query)) = input.split_first() else { return };
        check_response(&Mutated::query(*choice, query));
    });
}

/// Sends a request and checks the response.
fn check_response(mutated: &Mutated) {
    let Some(request) = mutated.request() else { return };
    // The server is created before the runtime is entered.
    let server = &*SERVER;
    RUNTIME.block_on(async {
        let response = server.handle(request).await;
        let (parts, mut body) = response.into_parts();
        let mut bytes = Vec::new();
        for _ in 0..FRAMES_MAX {
            // A watch has all its events at once; more would follow further writes.
            let mut next = pin!(body.frame());
            let Poll::Ready(Some(frame)) = poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await
            else {
                break;
            };
            bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        // Kubernetes returns 500 for some bad requests; internal errors have a reason.
        let text = String::from_utf8_lossy(&bytes);
        let is_broken = text.contains("Internal error") || text.contains("cannot be read");
        assert!(!is_broken, "{mutated:?} caused an internal error: {text}");
        let kind = parts.headers.get("content-type").map_or("", |kind| kind.to_str().unwrap());
        assert!(!kind.is_empty() || bytes.is_empty(), "{mutated:?}: no content type: {text}");
        let is_json = kind.starts_with("application/json");
        if parts.status.as_u16() >= 400 && is_json {
            let refusal: Value = gantry_json::from_slice(&bytes).unwrap();
            assert_eq!(
                (&refusal["kind"], &refusal["code"]),
                (&"Status".into(), &parts.status.as_u16().into())
            );
            assert!(refusal["message"].as_str().is_some_and(|message| !message.is_empty()), "{refusal}");
        }
    });
    lives_on();
}

fn lives_on() {
    let request = Request::builder().method(Method::GET).uri("/healthz").body(Bytes::new()).unwrap();
    let server = &*SERVER;
    assert_eq!(RUNTIME.block_on(server.handle(request)).status(), 200);
}
