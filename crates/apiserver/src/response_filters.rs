//! Filters of all responses: pretty-printing, YAML, compression, common headers.
//!
//! They do not depend on the meaning of a response. Streams only get headers.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use gantry_registry::{Refusal, encode};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Response, StatusCode};

use crate::Environment;
use crate::accept::{Media, media};
use crate::query::Query;
use crate::response::{ApiResponse, Body};

pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Larger bodies are compressed.
const COMPRESS_FROM: usize = 128 << 10;

/// User agents that get pretty-printed JSON by default.
const PRETTY_USER_AGENTS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// Converts a handler's result into the final response.
pub(crate) fn apply(
    answer: Result<ApiResponse, Refusal>,
    parts: &Parts,
    environment: &dyn Environment,
) -> Response<Body> {
    let answer = answer.unwrap_or_else(|refusal| ApiResponse::refused(&refusal));
    let mut response = answer.into_response();
    format_body(&mut response, parts);
    compress(&mut response, parts);
    let given = parts.headers.get(AUDIT_ID).cloned();
    if let Some(id) = given.or_else(|| HeaderValue::from_str(&environment.uid()).ok()) {
        response.headers_mut().insert(AUDIT_ID, id);
    }
    if response.status() == StatusCode::FORBIDDEN {
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

/// The value of a header; empty if absent or not text.
pub(crate) fn header(parts: &Parts, name: HeaderName) -> &str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether the client accepts gzip.
pub(crate) fn accepts_gzip(parts: &Parts) -> bool {
    let mut codings = header(parts, ACCEPT_ENCODING).split(',');
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(quality.trim(), "q=0" | "q=0.0")
    })
}

/// Compresses with the fastest level.
pub(crate) fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Converts JSON to YAML or pretty-prints it, where requested.
fn format_body(response: &mut Response<Body>, parts: &Parts) {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let refused = response.status() == StatusCode::NOT_ACCEPTABLE;
    let Body::Whole(Some(body)) = response.body_mut() else { return };
    if !is_json {
        return;
    }
    let accept = header(parts, ACCEPT);
    if accept.contains("yaml") && media(accept) == Media::Yaml {
        if let Some(yaml) = encode::yaml(body) {
            *body = yaml.into();
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/yaml"));
        }
    } else if refused || wants_pretty(parts) {
        *body = encode::pretty(body).into();
    }
}

fn wants_pretty(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    // The parameter takes precedence over the user agent.
    if query.contains("pretty") {
        let query = Query::parse(query);
        if query.first("pretty").is_some() {
            return query.flag("pretty");
        }
    }
    let agent = header(parts, USER_AGENT);
    PRETTY_USER_AGENTS.iter().any(|program| agent.starts_with(program))
}

fn compress(response: &mut Response<Body>, parts: &Parts) {
    let done = response.headers().contains_key(CONTENT_ENCODING);
    let Body::Whole(Some(body)) = response.body_mut() else { return };
    if done || body.len() <= COMPRESS_FROM || !accepts_gzip(parts) {
        return;
    }
    let Some(compressed) = gzip(body) else { return };
    *body = compressed;
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
}
