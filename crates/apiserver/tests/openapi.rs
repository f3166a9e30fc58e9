//! OpenAPI over HTTP: media types, ETags, hashes, redirects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::io::Read as _;

use gantry_apiserver::ApiServer;
use gantry_json::json;
use harness::{ReceivedResponse, round_trip, server, sha512};
use http::Method;

const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

async fn get(server: &ApiServer, path: &str, headers: &[(&str, &str)]) -> ReceivedResponse {
    round_trip(server, Method::GET, path, headers, "").await
}

/// A1.13, A1.14, A0.15: version 2 is served in protobuf for old clients, in JSON for others, and in no other form.
#[tokio::test]
async fn version_two_is_served_in_protobuf_and_json() {
    let server = server().await;
    let protobuf = get(&server, "/openapi/v2", &[("accept", PROTOBUF)]).await;
    assert_eq!(protobuf.header("content-type"), "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    assert_eq!(&protobuf.body[..5], b"\x0a\x032.0");
    assert_eq!(protobuf.header("vary"), "Accept-Encoding, Accept");
    assert!(!protobuf.header("etag").is_empty() && !protobuf.header("last-modified").is_empty());
    for accept in ["application/json", "*/*"] {
        let response = get(&server, "/openapi/v2", &[("accept", accept)]).await;
        assert_eq!(
            (response.header("content-type"), &response.json()["swagger"]),
            ("application/json", &json!("2.0"))
        );
    }
    let refused = get(&server, "/openapi/v2", &[("accept", "text/html")]).await;
    assert_eq!((refused.status, refused.body.len()), (406, 0));
    let json_first = format!("application/json,{PROTOBUF}");
    assert_eq!(get(&server, "/openapi/v2", &[("accept", &json_first)]).await.json()["swagger"], "2.0");
    let etag = protobuf.header("etag").to_owned();
    let known = get(&server, "/openapi/v2", &[("accept", PROTOBUF), ("if-none-match", &etag)]).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
}

/// A1.13, A9.7: documents are sent compressed on request.
#[tokio::test]
async fn documents_are_compressed_on_request() {
    let server = server().await;
    let plain = get(&server, "/openapi/v3/apis/apps/v1", &[]).await;
    let packed = get(&server, "/openapi/v3/apis/apps/v1", &[("accept-encoding", "gzip")]).await;
    assert_eq!((packed.header("content-encoding"), plain.header("content-encoding")), ("gzip", ""));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
}

/// A1.15, A1.16: the index links every document with its hash; another hash is redirected.
#[tokio::test]
async fn the_index_leads_to_documents_by_their_hash() {
    let server = server().await;
    let index = get(&server, "/openapi/v3", &[]).await.json();
    for (path, entry) in index["paths"].as_object().unwrap() {
        let url = entry["serverRelativeURL"].as_str().unwrap();
        let response = get(&server, url, &[]).await;
        let hash = sha512(&response.body);
        assert_eq!(url, format!("/openapi/v3/{path}?hash={hash}"));
        assert_eq!(response.header("etag"), format!("\"{hash}\""));
        assert_eq!(response.header("cache-control"), "public, immutable");
        assert_eq!(response.header("expires"), "Fri, 01 Jan 2027 12:00:00 GMT", "a year after noon");
    }
    let path = "/openapi/v3/apis/apps/v1";
    let right = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap();
    let moved = get(&server, &format!("{path}?hash=OLD"), &[]).await;
    assert_eq!((moved.status, moved.header("location")), (301, right));
    let plain = get(&server, path, &[]).await;
    assert_eq!((plain.status, plain.header("cache-control")), (200, "no-cache, private"));
    let known = get(&server, path, &[("if-none-match", plain.header("etag"))]).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    let unknown = get(&server, "/openapi/v3/apis/apps/v9", &[]).await;
    assert_eq!((unknown.status, unknown.body.len()), (404, 0), "A0.15: one of two errors without a body");
}
