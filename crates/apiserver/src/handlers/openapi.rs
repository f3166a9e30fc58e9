//! Serves the OpenAPI documents: ETags, hashes, redirects. The crate `openapi` renders them.
//!
//! A document is built on first use and kept compressed: most clients accept gzip, and it is a tenth of the size. The
//! index of version 3 contains the hash of every document and builds them all.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use flate2::read::GzDecoder;
use gantry_json::{Map, Value, json};
use gantry_openapi as openapi;
use gantry_schema::encode;
use gantry_schema::kinds::{GroupVersion, Kinds};
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, ETAG, EXPIRES, LAST_MODIFIED, LOCATION, VARY};

use super::discovery::{etag, is_known};
use crate::ApiServer;
use crate::catalogue::Catalogue;
use crate::request_info::RequestInfo;
use crate::response::ApiResponse;
use crate::response_filters::gzip;

/// The media type that old clients request, and the one of the response.
const PROTOBUF_ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const JSON: &str = "application/json";
/// The approximate size of the largest document.
const DOCUMENT_BYTES: usize = 1 << 20;

/// The OpenAPI documents of a catalogue, built on first use.
#[derive(Debug)]
pub(crate) struct OpenApiCache {
    /// The documents of the built-in kinds.
    built_in: Option<Arc<Catalogue>>,
    v2_json: OnceLock<Document>,
    v2_protobuf: OnceLock<Document>,
    /// By path below `/openapi/v3/`: `apis/apps/v1`.
    v3: OnceLock<BTreeMap<String, Arc<Document>>>,
    v3_index: OnceLock<Document>,
}

/// The modification time of all documents.
const MODIFIED: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
/// The time that clients may cache documents with a hash in their URL.
const YEAR_SECONDS: i64 = 365 * 24 * 60 * 60;

/// A compressed document and its ETag.
#[derive(Debug)]
struct Document {
    compressed: Bytes,
    etag: String,
    /// The uncompressed document, while it is being sent: all clients that receive it uncompressed share it.
    plain: Mutex<Weak<Vec<u8>>>,
}

/// A share of a document that is being sent.
struct SharedDocument(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedDocument {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl OpenApiCache {
    pub(crate) fn new(built_in: Option<Arc<Catalogue>>) -> Self {
        Self {
            built_in,
            v2_json: OnceLock::new(),
            v2_protobuf: OnceLock::new(),
            v3: OnceLock::new(),
            v3_index: OnceLock::new(),
        }
    }

    fn v2_json(&self, kinds: &Kinds) -> &Document {
        self.v2_json.get_or_init(|| Document::new(&openapi::v2(kinds)))
    }

    fn v2_protobuf(&self, kinds: &Kinds) -> &Document {
        self.v2_protobuf.get_or_init(|| Document::new(&openapi::gnostic(kinds)))
    }

    fn v3(&self, kinds: &Kinds) -> &BTreeMap<String, Arc<Document>> {
        self.v3.get_or_init(|| {
            let known = self.built_in.as_ref().map(|built_in| built_in.openapi.v3(&built_in.kinds));
            let versions = openapi::group_versions(kinds).into_iter().filter_map(|one| {
                let path = document_path(one);
                let made = match known.and_then(|known| known.get(&path)) {
                    Some(document) => Arc::clone(document),
                    None => Arc::new(Document::new(&openapi::v3(kinds, one.group, one.version)?)),
                };
                Some((path, made))
            });
            versions.collect()
        })
    }

    fn v3_index(&self, kinds: &Kinds) -> &Document {
        self.v3_index.get_or_init(|| {
            let addresses = self
                .v3(kinds)
                .iter()
                .map(|(path, document)| (path.clone(), json!({"serverRelativeURL": document.address(path)})));
            let paths: Map = addresses.collect();
            Document::new(&encode::plain(&json!({"paths": Value::Object(paths)})))
        })
    }
}

/// Responds to paths below `/openapi`; `None` for others.
pub(super) async fn path(server: &ApiServer, path: &str, info: &RequestInfo) -> Option<ApiResponse> {
    let rest = path.trim_end_matches('/').strip_prefix("/openapi/")?;
    let catalogue = server.catalogue().await;
    let respond = || document(server, &catalogue, rest, info);
    let (response, slot) = server.heavy_work.run_keeping_slot(DOCUMENT_BYTES, respond).await;
    response.map(|response| response.with_slot(slot))
}

/// Responds with the document at this path below `/openapi/`. It may have to be built, or decompressed for this client.
fn document(
    server: &ApiServer,
    catalogue: &Catalogue,
    path: &str,
    info: &RequestInfo,
) -> Option<ApiResponse> {
    let Catalogue { kinds, openapi, .. } = catalogue;
    match path {
        "v2" => Some(v2(openapi, kinds, info)),
        "v3" => Some(openapi.v3_index(kinds).respond(JSON, info)),
        path => {
            let path = path.strip_prefix("v3/")?;
            Some(match openapi.v3(kinds).get(path) {
                Some(document) => v3(server, document, path, info),
                None => ApiResponse::empty(404),
            })
        }
    }
}

fn v2(openapi: &OpenApiCache, kinds: &Kinds, info: &RequestInfo) -> ApiResponse {
    // Old clients accept only protobuf; the first supported media type is used.
    let wanted = accepted_types(info).find_map(|media| match media {
        PROTOBUF_ASKED | PROTOBUF => Some(openapi.v2_protobuf(kinds).respond(PROTOBUF, info)),
        media if is_json(media) => Some(openapi.v2_json(kinds).respond(JSON, info)),
        _ => None,
    });
    wanted.unwrap_or_else(|| ApiResponse::empty(406))
}

/// The accepted media types, in order.
fn accepted_types(info: &RequestInfo) -> impl Iterator<Item = &str> {
    let accept = match info.accept() {
        "" => "*/*",
        accept => accept,
    };
    accept.split(',').map(|clause| clause.split(';').next().unwrap_or_default().trim())
}

fn is_json(media: &str) -> bool {
    matches!(media, JSON | "*/*" | "application/*")
}

fn v3(server: &ApiServer, document: &Document, path: &str, info: &RequestInfo) -> ApiResponse {
    if !accepted_types(info).any(is_json) {
        return ApiResponse::empty(406);
    }
    match info.query.first("hash") {
        None | Some("") => document.respond(JSON, info),
        Some(hash) if hash == document.hash() => document
            .respond(JSON, info)
            .with(CACHE_CONTROL, "public, immutable".to_owned())
            .with(EXPIRES, server.environment.now().plus(YEAR_SECONDS).http_date()),
        Some(_) => ApiResponse::empty(301).with(LOCATION, document.address(path)),
    }
}

/// `api/v1` or `apis/apps/v1`.
fn document_path(version: GroupVersion) -> String {
    let root = if version.group.is_empty() { "api" } else { "apis" };
    format!("{root}/{version}")
}

impl Document {
    fn new(document: &[u8]) -> Self {
        Self { compressed: gzip(document).unwrap_or_default(), etag: etag(document), plain: Mutex::default() }
    }

    fn hash(&self) -> &str {
        self.etag.trim_matches('"')
    }

    fn address(&self, path: &str) -> String {
        format!("/openapi/v3/{path}?hash={}", self.hash())
    }

    fn respond(&self, media: &'static str, info: &RequestInfo) -> ApiResponse {
        let response = if is_known(info, &self.etag) {
            ApiResponse::empty(304)
        } else if info.accepts_gzip() {
            ApiResponse::shared(media, self.compressed.clone()).with(CONTENT_ENCODING, "gzip".to_owned())
        } else {
            ApiResponse::shared(media, self.plain())
        };
        response
            .with(ETAG, self.etag.clone())
            .with(LAST_MODIFIED, MODIFIED.to_owned())
            .with(VARY, "Accept-Encoding, Accept".to_owned())
    }

    fn plain(&self) -> Bytes {
        // It is replaced as a whole, so it is valid even after a panic.
        let mut plain = self.plain.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = plain.upgrade().unwrap_or_else(|| {
            let mut document = Vec::with_capacity(self.compressed.len() * 10);
            // The bytes were compressed here, so decompressing does not fail.
            let _ = GzDecoder::new(&*self.compressed).read_to_end(&mut document);
            Arc::new(document)
        });
        *plain = Arc::downgrade(&shared);
        Bytes::from_owner(SharedDocument(shared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_share_a_document_while_it_is_sent() {
        let document = Document::new(&vec![b'x'; 100_000]);
        let (one, other) = (document.plain(), document.plain());
        assert_eq!((one.len(), one.as_ptr()), (100_000, other.as_ptr()));
        drop((one, other));
        assert!(document.plain.lock().unwrap().upgrade().is_none(), "afterwards it is not kept");
    }
}
