//! What every answer gets before it leaves: its layout, its encoding, and the headers that all answers have.
//!
//! Nothing here looks at what an answer means. Streams pass untouched but for their headers.

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

use crate::Surroundings;
use crate::accept::{Media, media};
use crate::answer::{Answer, Body};
use crate::query::Query;

pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Bodies beyond this are compressed for those who can read it.
const COMPRESS_FROM: usize = 128 << 10;

/// Programs behind which somebody is looking.
const READ_BY_PEOPLE: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// Makes the response of an answer to a request.
pub(crate) fn finish(
    answer: Result<Answer, Refusal>,
    parts: &Parts,
    surroundings: &dyn Surroundings,
) -> Response<Body> {
    let answer = answer.unwrap_or_else(|refusal| Answer::refused(&refusal));
    let mut response = answer.into_response();
    lay_out(&mut response, parts);
    compress(&mut response, parts);
    let given = parts.headers.get(AUDIT_ID).cloned();
    if let Some(id) = given.or_else(|| HeaderValue::from_str(&surroundings.uid()).ok()) {
        response.headers_mut().insert(AUDIT_ID, id);
    }
    if response.status() == StatusCode::FORBIDDEN {
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

/// Text of a header, if it is one.
pub(crate) fn header(parts: &Parts, name: HeaderName) -> &str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether a client can read what is compressed.
pub(crate) fn reads_gzip(parts: &Parts) -> bool {
    let mut codings = header(parts, ACCEPT_ENCODING).split(',');
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(quality.trim(), "q=0" | "q=0.0")
    })
}

/// Compresses, quickly rather than well.
pub(crate) fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// JSON for people, or YAML, where that is wanted.
fn lay_out(response: &mut Response<Body>, parts: &Parts) {
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
    } else if refused || is_for_people(parts) {
        *body = encode::pretty(body).into();
    }
}

fn is_for_people(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    // The parameter decides, whatever the program; most requests have neither.
    if query.contains("pretty") {
        let query = Query::parse(query);
        if query.first("pretty").is_some() {
            return query.flag("pretty");
        }
    }
    let agent = header(parts, USER_AGENT);
    READ_BY_PEOPLE.iter().any(|program| agent.starts_with(program))
}

fn compress(response: &mut Response<Body>, parts: &Parts) {
    let done = response.headers().contains_key(CONTENT_ENCODING);
    let Body::Whole(Some(body)) = response.body_mut() else { return };
    if done || body.len() <= COMPRESS_FROM || !reads_gzip(parts) {
        return;
    }
    let Some(compressed) = gzip(body) else { return };
    *body = compressed;
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
}
