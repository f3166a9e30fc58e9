//! Filters of all responses: pretty-printing, YAML, compression, common headers.
//!
//! They do not depend on the meaning of a response. Streams only get headers.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use gantry_schema::encode;
use http::Response;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, VARY};

use crate::Environment;
use crate::error::ApiError;
use crate::request_info::RequestInfo;
use crate::response::{ApiResponse, Body};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Larger bodies are compressed.
const COMPRESS_FROM: usize = 128 << 10;

/// Converts a handler's result into the final response.
pub(crate) fn apply(
    result: Result<ApiResponse, ApiError>,
    info: &RequestInfo,
    environment: &dyn Environment,
) -> Response<Body> {
    let response = result.unwrap_or_else(|error| ApiResponse::error(&error));
    let is_indented = response.is_indented || info.wants_pretty();
    let mut response = if info.wants_yaml() {
        response.in_yaml().into_response()
    } else if is_indented {
        indented(response.into_response())
    } else {
        response.into_response()
    };
    compress(&mut response, info);
    let given = info.headers.get(AUDIT_ID).cloned();
    if let Some(id) = given.or_else(|| HeaderValue::from_str(&environment.uid()).ok()) {
        response.headers_mut().insert(AUDIT_ID, id);
    }
    response
}

/// Compresses with the fastest level.
pub(crate) fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Pretty-prints JSON, unless indentation would make it very much longer.
fn indented(mut response: Response<Body>) -> Response<Body> {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    if is_json
        && let Body::Whole(Some(body)) = response.body_mut()
        && let Some(indented) = encode::pretty_within(body, encode::indented_bytes_max(body.len()))
    {
        *body = indented.into();
    }
    response
}

fn compress(response: &mut Response<Body>, info: &RequestInfo) {
    let done = response.headers().contains_key(CONTENT_ENCODING);
    let Body::Whole(Some(body)) = response.body_mut() else { return };
    if done || body.len() <= COMPRESS_FROM || !info.accepts_gzip() {
        return;
    }
    let Some(compressed) = gzip(body) else { return };
    *body = compressed;
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
}
