//! OpenAPI documents over HTTP: tags, hashes, redirects. What stands in them is the registry's.
//!
//! A document is made when somebody first wants it and kept compressed: most clients read it so, and it is a tenth of
//! the size. The index of version 3 needs the hash of every document; they are made one after the other for that.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::read::GzDecoder;
use gantry_registry::kinds::{GroupVersion, kinds};
use gantry_registry::{encode, openapi};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, ETAG, EXPIRES, LAST_MODIFIED, LOCATION, VARY};
use http::request::Parts;
use serde_json::{Map, Value, json};

use super::discovery::{etag, is_known};
use crate::ApiServer;
use crate::answer::Answer;
use crate::finish::{gzip, header, reads_gzip};
use crate::query::Query;

/// What old clients ask for, and what they are told they get.
const PROTOBUF_ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const JSON: &str = "application/json";
/// Documents are as old as the program, which does not know its age.
const MODIFIED: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
/// Documents with a hash in their address never change, which is for caches a year.
const YEAR_SECONDS: i64 = 365 * 24 * 60 * 60;

/// A document, compressed, and what clients know it by.
struct Document {
    compressed: Bytes,
    etag: String,
}

static V2_JSON: LazyLock<Document> = LazyLock::new(|| Document::new(&openapi::v2(kinds())));
static V2_PROTOBUF: LazyLock<Document> = LazyLock::new(|| Document::new(&openapi::gnostic(kinds())));
/// By path below `/openapi/v3/`: `apis/apps/v1`.
static V3: LazyLock<BTreeMap<String, Document>> = LazyLock::new(|| {
    let versions = openapi::group_versions(kinds()).into_iter().filter_map(|one| {
        let document = openapi::v3(kinds(), one.group, one.version)?;
        Some((place(one), Document::new(&document)))
    });
    versions.collect()
});
static V3_INDEX: LazyLock<Document> = LazyLock::new(|| {
    let paths: Map<_, _> = V3
        .iter()
        .map(|(path, document)| (path.clone(), json!({"serverRelativeURL": document.address(path)})))
        .collect();
    Document::new(&encode::plain(&json!({"paths": Value::Object(paths)})))
});

/// Answers a path below `/openapi`; `None` for any other.
pub(super) fn path(server: &ApiServer, path: &str, parts: &Parts) -> Option<Answer> {
    match path.trim_end_matches('/').strip_prefix("/openapi/")? {
        "v2" => Some(v2(parts)),
        "v3" => Some(V3_INDEX.answer(JSON, parts)),
        rest => rest.strip_prefix("v3/").map(|place| v3(server, place, parts)),
    }
}

fn v2(parts: &Parts) -> Answer {
    // Old clients read nothing but protobuf; the first form that is wanted and there is wins.
    let wanted = wanted(parts).find_map(|media| match media {
        PROTOBUF_ASKED | PROTOBUF => Some(V2_PROTOBUF.answer(PROTOBUF, parts)),
        media if is_json(media) => Some(V2_JSON.answer(JSON, parts)),
        _ => None,
    });
    wanted.unwrap_or_else(|| Answer::empty(406))
}

/// The media types that a client accepts, in its order.
fn wanted(parts: &Parts) -> impl Iterator<Item = &str> {
    let accept = match header(parts, ACCEPT) {
        "" => "*/*",
        accept => accept,
    };
    accept.split(',').map(|clause| clause.split(';').next().unwrap_or_default().trim())
}

fn is_json(media: &str) -> bool {
    matches!(media, JSON | "*/*" | "application/*")
}

fn v3(server: &ApiServer, place: &str, parts: &Parts) -> Answer {
    let Some(document) = V3.get(place) else { return Answer::empty(404) };
    if !wanted(parts).any(is_json) {
        return Answer::empty(406);
    }
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    match query.first("hash") {
        None | Some("") => document.answer(JSON, parts),
        Some(hash) if hash == document.hash() => document
            .answer(JSON, parts)
            .with(CACHE_CONTROL, "public, immutable".to_owned())
            .with(EXPIRES, server.surroundings.now().plus(YEAR_SECONDS).http_date()),
        Some(_) => Answer::empty(301).with(LOCATION, document.address(place)),
    }
}

/// `api/v1` or `apis/apps/v1`.
fn place(version: GroupVersion) -> String {
    let root = if version.group.is_empty() { "api" } else { "apis" };
    format!("{root}/{version}")
}

impl Document {
    fn new(document: &[u8]) -> Self {
        Self { compressed: gzip(document).unwrap_or_default(), etag: etag(document) }
    }

    fn hash(&self) -> &str {
        self.etag.trim_matches('"')
    }

    fn address(&self, place: &str) -> String {
        format!("/openapi/v3/{place}?hash={}", self.hash())
    }

    fn answer(&self, media: &'static str, parts: &Parts) -> Answer {
        let answer = if is_known(parts, &self.etag) {
            Answer::empty(304)
        } else if reads_gzip(parts) {
            Answer::json(200, self.compressed.clone())
                .of_type(media)
                .with(CONTENT_ENCODING, "gzip".to_owned())
        } else {
            Answer::json(200, self.plain()).of_type(media)
        };
        answer
            .with(ETAG, self.etag.clone())
            .with(LAST_MODIFIED, MODIFIED.to_owned())
            .with(VARY, "Accept-Encoding, Accept".to_owned())
    }

    fn plain(&self) -> Bytes {
        let mut document = Vec::with_capacity(self.compressed.len() * 10);
        // What was compressed here can be read here; if not, an empty document says so soon enough.
        let _ = GzDecoder::new(&*self.compressed).read_to_end(&mut document);
        document.into()
    }
}
