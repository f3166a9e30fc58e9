//! OpenAPI documents over HTTP: tags, hashes, redirects. What stands in them is the registry's.
//!
//! A document is made when somebody first wants it and kept compressed: most clients read it so, and it is a tenth of
//! the size. The index of version 3 needs the hash of every document; they are made one after the other for that.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flate2::read::GzDecoder;
use gantry_openapi as openapi;
use gantry_registry::encode;
use gantry_registry::kinds::{GroupVersion, Kinds};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, ETAG, EXPIRES, LAST_MODIFIED, LOCATION, VARY};
use http::request::Parts;
use serde_json::{Map, Value, json};

use super::discovery::{etag, is_known};
use crate::ApiServer;
use crate::answer::Answer;
use crate::catalogue::Catalogue;
use crate::finish::{gzip, header, reads_gzip};
use crate::query::Query;

/// What old clients ask for, and what they are told they get.
const PROTOBUF_ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const JSON: &str = "application/json";
/// The documents of a catalogue, as far as somebody wanted them.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// What is compiled in is described there already.
    built_in: Option<Arc<Catalogue>>,
    v2_json: OnceLock<Document>,
    v2_protobuf: OnceLock<Document>,
    /// By path below `/openapi/v3/`: `apis/apps/v1`.
    v3: OnceLock<BTreeMap<String, Arc<Document>>>,
    v3_index: OnceLock<Document>,
}

/// Documents are as old as the program, which does not know its age.
const MODIFIED: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
/// Documents with a hash in their address never change, which is for caches a year.
const YEAR_SECONDS: i64 = 365 * 24 * 60 * 60;

/// A document, compressed, and what clients know it by.
#[derive(Debug)]
struct Document {
    compressed: Bytes,
    etag: String,
}

impl Shelf {
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
            let known = self.built_in.as_ref().map(|built_in| built_in.shelf.v3(&built_in.kinds));
            let versions = openapi::group_versions(kinds).into_iter().filter_map(|one| {
                let place = place(one);
                let made = match known.and_then(|known| known.get(&place)) {
                    Some(document) => Arc::clone(document),
                    None => Arc::new(Document::new(&openapi::v3(kinds, one.group, one.version)?)),
                };
                Some((place, made))
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
            let paths: Map<_, _> = addresses.collect();
            Document::new(&encode::plain(&json!({"paths": Value::Object(paths)})))
        })
    }
}

/// Answers a path below `/openapi`; `None` for any other.
pub(super) async fn path(server: &ApiServer, path: &str, parts: &Parts) -> Option<Answer> {
    let rest = path.trim_end_matches('/').strip_prefix("/openapi/")?;
    let catalogue = server.catalogue().await;
    let Catalogue { kinds, shelf, .. } = catalogue.as_ref();
    match rest {
        "v2" => Some(v2(shelf, kinds, parts)),
        "v3" => Some(shelf.v3_index(kinds).answer(JSON, parts)),
        rest => {
            let place = rest.strip_prefix("v3/")?;
            Some(match shelf.v3(kinds).get(place) {
                Some(document) => v3(server, document, place, parts),
                None => Answer::empty(404),
            })
        }
    }
}

fn v2(shelf: &Shelf, kinds: &Kinds, parts: &Parts) -> Answer {
    // Old clients read nothing but protobuf; the first form that is wanted and there is wins.
    let wanted = wanted(parts).find_map(|media| match media {
        PROTOBUF_ASKED | PROTOBUF => Some(shelf.v2_protobuf(kinds).answer(PROTOBUF, parts)),
        media if is_json(media) => Some(shelf.v2_json(kinds).answer(JSON, parts)),
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

fn v3(server: &ApiServer, document: &Document, place: &str, parts: &Parts) -> Answer {
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
