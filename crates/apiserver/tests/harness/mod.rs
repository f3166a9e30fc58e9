//! The API in process: no socket, a store in memory.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "every story file uses its part of this")]

pub mod cluster;
pub mod gated_store;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gantry_apiserver::{ApiServer, Body, Environment, Settings};
use gantry_json::Value;
use gantry_primitives::Timestamp;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;

/// An environment in which it is always noon and uids count up.
#[derive(Debug, Default)]
pub struct Noon(AtomicU64);

impl Noon {
    /// The current time.
    pub const NOW: Timestamp = Timestamp::from_secs(1_767_268_800);
}

impl Environment for Noon {
    fn now(&self) -> Timestamp {
        Self::NOW
    }
    fn uid(&self) -> String {
        format!("{:08x}-0000-4000-8000-000000000000", 1 + self.0.fetch_add(1, Ordering::Relaxed))
    }
    fn name_suffix(&self) -> String {
        format!("x{:04}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub async fn server() -> ApiServer {
    let server = ApiServer::new(
        Arc::new(MemoryStore::new(HistoryLimits::default())),
        Arc::new(Noon::default()),
        Settings::default(),
    );
    server.prepare().await.unwrap();
    server
}

pub async fn send(
    server: &ApiServer,
    method: Method,
    path: &str,
    kind: &str,
    body: &Value,
) -> Response<Body> {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .header("user-agent", "story/1");
    server.handle(request.body(bytes.into()).unwrap()).await
}

pub async fn read(response: Response<Body>) -> (u16, Value) {
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, gantry_json::from_slice(&bytes).unwrap_or(Value::Null))
}

pub async fn call(server: &ApiServer, method: Method, path: &str, body: Value) -> (u16, Value) {
    read(send(server, method, path, "application/json", &body).await).await
}

/// A response as sent.
pub struct ReceivedResponse {
    pub status: u16,
    pub headers: http::HeaderMap,
    pub body: bytes::Bytes,
}

impl ReceivedResponse {
    /// The value of a header; empty if absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        gantry_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// Sends a request with these headers and this body, and reads the whole response.
pub async fn round_trip(
    server: &ApiServer,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<bytes::Bytes>,
) -> ReceivedResponse {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = server.handle(request.body(body.into()).unwrap()).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    ReceivedResponse { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// The SHA-512 of a document in upper-case hexadecimal.
pub fn sha512(document: &[u8]) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, document);
    digest.as_ref().iter().fold(String::new(), |text, byte| text + &format!("{byte:02X}"))
}
