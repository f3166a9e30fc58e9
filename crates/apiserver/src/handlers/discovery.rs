//! Discovery: groups, versions, resources. The documents are built once per catalogue.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aws_lc_rs::digest::{SHA512, digest};
use bytes::Bytes;
use gantry_json::{Value, json};
use gantry_openapi as openapi;
use gantry_schema::encode;
use gantry_schema::kinds::discovery as render;
use gantry_schema::kinds::{Kinds, kinds};
use http::Method;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY, X_CONTENT_TYPE_OPTIONS};

use super::{health, metrics, openapi as documents};
use crate::ApiServer;
use crate::accept::{Offer, View, negotiate};
use crate::catalogue::Catalogue;
use crate::error::ApiError;
use crate::request_info::RequestInfo;
use crate::response::ApiResponse;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A document and its ETag.
#[derive(Debug)]
struct TaggedDocument {
    bytes: Bytes,
    etag: String,
}

/// All discovery documents of a catalogue.
#[derive(Debug)]
pub(crate) struct DiscoveryDocuments {
    groups: Bytes,
    group: BTreeMap<&'static str, Bytes>,
    resources: BTreeMap<(&'static str, &'static str), Bytes>,
    aggregated_core: TaggedDocument,
    aggregated_groups: TaggedDocument,
}

impl DiscoveryDocuments {
    pub(crate) fn of(kinds: &Kinds) -> Self {
        let named = kinds.groups().iter().filter_map(|group| {
            render::group(kinds, group.name).map(|document| (group.name, encode_line(&document)))
        });
        let versions = openapi::group_versions(kinds).into_iter().filter_map(|one| {
            let document = render::resource_list(kinds, one.group, one.version)?;
            Some(((one.group, one.version), encode_line(&document)))
        });
        Self {
            groups: encode_line(&render::group_list(kinds)),
            group: named.collect(),
            resources: versions.collect(),
            aggregated_core: with_etag(&render::aggregated_core(kinds)),
            aggregated_groups: with_etag(&render::aggregated_groups(kinds)),
        }
    }
}

/// Handles a path that is not about resources.
pub(super) async fn path(
    server: &ApiServer,
    path: &str,
    info: &RequestInfo,
) -> Result<ApiResponse, ApiError> {
    if let Some(response) = health::path(server, path, info).await {
        return Ok(response);
    }
    if let Some(response) = documents::path(server, path, info).await {
        return Ok(response);
    }
    match path.trim_end_matches('/') {
        "" => pretty_json(&json!({"paths": paths(&server.catalogue().await.kinds)}), info),
        "/version" => pretty_json(&version(), info),
        "/metrics" => Ok(metrics::respond(server).await),
        _ => Ok(page_not_found()),
    }
}

/// The list of groups, or aggregated discovery.
pub(super) fn groups(catalogue: &Catalogue, info: &RequestInfo) -> Result<ApiResponse, ApiError> {
    require_get(info)?;
    let documents = catalogue.documents();
    Ok(match view(info)? {
        View::Discovery => aggregated(&documents.aggregated_groups, info),
        _ => ApiResponse::json(200, documents.groups.clone()),
    })
}

/// A group, or the resources of one version of it.
pub(super) fn group(
    catalogue: &Catalogue,
    group: &str,
    version: Option<&str>,
    info: &RequestInfo,
) -> Result<ApiResponse, ApiError> {
    require_get(info)?;
    let (view, documents) = (view(info)?, catalogue.documents());
    match version {
        None if group.is_empty() && view == View::Discovery => {
            Ok(aggregated(&documents.aggregated_core, info))
        }
        None if group.is_empty() => Ok(ApiResponse::value(200, render::legacy_root(info.host()))),
        None => Ok(documents
            .group
            .get(group)
            .map_or_else(page_not_found, |body| ApiResponse::json(200, body.clone()))),
        Some(version) => match documents.resources.get(&(group, version)) {
            Some(body) => Ok(ApiResponse::json(200, body.clone())),
            None if kinds().group(group).is_some() => Err(ApiError::ResourceNotFound),
            None => Ok(page_not_found()),
        },
    }
}

/// Returns 404 as plain text.
pub(super) fn page_not_found() -> ApiResponse {
    ApiResponse::text(404, "404 page not found\n").with(X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned())
}

/// Whether the client has the document with this ETag.
pub(super) fn is_known(info: &RequestInfo, etag: &str) -> bool {
    info.header(IF_NONE_MATCH).split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag)
}

/// The quoted SHA-512 of a document.
pub(super) fn etag(document: &[u8]) -> String {
    let digest = digest(&SHA512, document);
    let mut etag = String::with_capacity(2 + 2 * digest.as_ref().len());
    etag.push('"');
    for byte in digest.as_ref() {
        let _ = write!(etag, "{byte:02X}");
    }
    etag.push('"');
    etag
}

fn aggregated(document: &TaggedDocument, info: &RequestInfo) -> ApiResponse {
    let response = if is_known(info, &document.etag) {
        ApiResponse::empty(304)
    } else {
        ApiResponse::json(200, document.bytes.clone()).of_type(AGGREGATED)
    };
    response
        .with(ETAG, document.etag.clone())
        .with(VARY, "Accept".to_owned())
        .with(CACHE_CONTROL, "public".to_owned())
}

fn encode_line(document: &Value) -> Bytes {
    let mut bytes = encode::plain(document);
    bytes.push(b'\n');
    bytes.into()
}

fn with_etag(document: &Value) -> TaggedDocument {
    let bytes = encode_line(document);
    TaggedDocument { etag: etag(&bytes), bytes }
}

/// Responds with pretty-printed JSON, as Kubernetes does for these documents.
fn pretty_json(document: &Value, info: &RequestInfo) -> Result<ApiResponse, ApiError> {
    require_get(info)?;
    Ok(ApiResponse::json(200, encode::pretty(&encode::plain(document))))
}

fn view(info: &RequestInfo) -> Result<View, ApiError> {
    negotiate(info.accept(), Offer::Discovery)
}

fn require_get(info: &RequestInfo) -> Result<(), ApiError> {
    if info.method == Method::GET { Ok(()) } else { Err(ApiError::MethodNotAllowed) }
}

/// All non-resource paths, sorted.
fn paths(kinds: &Kinds) -> Vec<String> {
    let fixed = ["/api", "/apis", "/metrics", "/openapi/v2", "/openapi/v3", "/version"];
    let mut all: Vec<_> = fixed.into_iter().map(str::to_owned).chain(health::paths()).collect();
    for group in kinds.groups() {
        let root = if group.name.is_empty() { "/api".to_owned() } else { format!("/apis/{}", group.name) };
        all.extend(group.versions.iter().map(|version| format!("{root}/{version}")));
        all.push(root);
    }
    all.sort();
    all.dedup();
    all
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "37",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "36",
        "gitVersion": "v1.37.0", "gitCommit": "gantry", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "linux/amd64",
    })
}
