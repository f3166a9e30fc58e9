//! Content negotiation of requests and responses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::io::Read as _;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use harness::{ReceivedResponse, call, round_trip, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

async fn with_a_map() -> ApiServer {
    let server = server().await;
    let map = json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"k": "<&>"}});
    assert_eq!(call(&server, Method::POST, MAPS, map).await.0, 201);
    server
}

async fn get(server: &ApiServer, path: &str, headers: &[(&str, &str)]) -> ReceivedResponse {
    round_trip(server, Method::GET, path, headers, "").await
}

async fn post(server: &ApiServer, kind: &str, body: &[u8]) -> ReceivedResponse {
    round_trip(server, Method::POST, MAPS, &[("content-type", kind)], body.to_vec()).await
}

/// A0.3: every response has an audit id and is not cached; a given id is returned.
#[tokio::test]
async fn every_response_has_an_audit_id_and_is_not_cached() {
    let server = with_a_map().await;
    for path in [&format!("{MAPS}/a"), &format!("{MAPS}/none"), "/version", "/nowhere"] {
        let response = get(&server, path, &[]).await;
        assert_eq!(response.header("audit-id").len(), 36, "{path}");
        assert_eq!(response.header("cache-control"), "no-cache, private", "{path}");
        assert!(!response.header("content-type").is_empty(), "{path}");
    }
    let response = get(&server, MAPS, &[("audit-id", "my-request-1")]).await;
    assert_eq!(response.header("audit-id"), "my-request-1");
}

/// A0.4: compact with a newline, or pretty-printed without one; HTML is escaped either way.
#[tokio::test]
async fn responses_are_pretty_printed_on_request() {
    let server = with_a_map().await;
    for (query, agent, laid_out) in [
        ("", "x/1", false),
        ("?pretty=true", "x/1", true),
        ("?pretty=1", "x/1", true),
        ("?pretty=false", "x/1", false),
        ("", "curl/8.1", true),
        ("", "Wget/1.2", true),
        ("", "Mozilla/5.0 (X11)", true),
        ("?pretty=false", "curl/8.1", false),
    ] {
        let response = get(&server, &format!("{MAPS}/a{query}"), &[("user-agent", agent)]).await;
        assert_eq!(response.text().contains("\n  \"kind\""), laid_out, "{query} {agent}");
        assert_eq!(response.text().ends_with('\n'), !laid_out, "{query} {agent}");
        assert!(response.text().contains("\\u003c\\u0026\\u003e"), "{query} {agent}");
    }
}

/// A9.1, A9.2, A9.6: JSON if it is accepted; 406 with the supported types otherwise.
#[tokio::test]
async fn the_first_acceptable_form_is_returned() {
    let server = with_a_map().await;
    let path = format!("{MAPS}/a");
    for accept in [
        "",
        "*/*",
        "application/json",
        "application/vnd.kubernetes.protobuf,application/json",
        "application/vnd.kubernetes.protobuf, */*",
        "application/cbor, */*",
        "application/json;q=0.5, text/html",
        "application/json;pretty=1",
    ] {
        let response = get(&server, &path, &[("accept", accept)]).await;
        assert_eq!((response.status, response.header("content-type")), (200, "application/json"), "{accept}");
        assert_eq!(response.json()["data"], json!({"k": "<&>"}), "{accept}");
    }
    for (accept, message) in [
        (
            "text/plain",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ),
        (
            "application/cbor",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ),
        (
            "application/json;as=Foo;v=v1;g=meta.k8s.io",
            "only the following media types are accepted: application/json, application/yaml",
        ),
        (PROTOBUF, "only the following media types are accepted: application/json, application/yaml"),
    ] {
        let response = get(&server, &path, &[("accept", accept)]).await;
        let status = response.json();
        assert_eq!((response.status, &status["reason"]), (406, &json!("NotAcceptable")), "{accept}");
        assert_eq!(status["message"], message, "{accept}");
        assert!(response.text().starts_with("{\n"), "the error is indented if no form is accepted: {accept}");
    }
}

/// A9.2: YAML on request.
#[tokio::test]
async fn yaml_is_written_too() {
    let server = with_a_map().await;
    let response = get(&server, &format!("{MAPS}/a"), &[("accept", "application/yaml")]).await;
    assert_eq!(response.header("content-type"), "application/yaml");
    assert!(
        response.text().contains("kind: ConfigMap\n") && response.text().contains("  k: <&>\n"),
        "{}",
        response.text()
    );
    assert!(
        get(&server, &format!("{MAPS}/b"), &[("accept", "application/yaml")])
            .await
            .text()
            .contains("code: 404")
    );
}

/// A0.14, A0.15, A5.5: errors are Status objects in JSON, whatever is accepted.
#[tokio::test]
async fn errors_are_statuses_in_any_form() {
    let server = server().await;
    for accept in [TABLE, PARTIAL, "*/*", "application/vnd.kubernetes.protobuf,application/json"] {
        let response = get(&server, &format!("{MAPS}/none"), &[("accept", accept)]).await;
        assert_eq!(
            response.json(),
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "configmaps \"none\" not found", "reason": "NotFound",
                "details": {"name": "none", "kind": "configmaps"}, "code": 404,
            }),
            "{accept}"
        );
    }
}

/// A9.3: JSON (any spelling), YAML and protobuf bodies are decoded; everything else is 415.
#[tokio::test]
async fn bodies_are_read_in_three_formats() {
    let server = server().await;
    for (kind, name) in [("application/json; charset=utf-8", "a"), ("APPLICATION/JSON", "b"), ("", "c")] {
        let body = json!({"metadata": {"name": name}}).to_string();
        assert_eq!(post(&server, kind, body.as_bytes()).await.status, 201, "{kind}");
    }
    assert_eq!(post(&server, "application/yaml", b"metadata: {name: from-yaml}\n").await.status, 201);
    for kind in ["application/cbor", "text/plain", "nonsense"] {
        let response = post(&server, kind, b"{\"metadata\":{\"name\":\"z\"}}").await;
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json, application/yaml, application/vnd.kubernetes.protobuf";
        assert_eq!((response.status, &response.json()["message"]), (415, &json!(message)), "{kind}");
        assert_eq!(response.json()["reason"], "UnsupportedMediaType");
    }
    let patch =
        round_trip(&server, Method::PATCH, &format!("{MAPS}/a"), &[("content-type", PROTOBUF)], "k8s\0")
            .await;
    assert_eq!((patch.status, &patch.json()["message"]), (415, &json!("415: Unsupported Media Type")));
    assert_eq!(patch.json()["details"], json!({}));
    // The type of a patch is checked before the accepted types.
    let resize = format!("{}/a/resize", MAPS.replace("configmaps", "pods"));
    for (path, accept) in [(&resize, TABLE), (&format!("{MAPS}/a"), "text/plain")] {
        let headers = [("content-type", "application/json"), ("accept", accept)];
        assert_eq!(round_trip(&server, Method::PATCH, path, &headers, "{}").await.status, 415, "{path}");
    }
}

/// A9.4, A9.5: the protobuf of `kubectl create namespace`, byte by byte, and delete options.
#[tokio::test]
async fn protobuf_bodies_are_decoded() {
    let server = server().await;
    let mut body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x1b".to_vec();
    // metadata { name: "foo" and, as Go writes it, every other plain field, empty }, spec {}, status { phase: "" }.
    body.extend_from_slice(b"\x0a\x13\x0a\x03foo\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00");
    body.extend_from_slice(b"\x12\x00\x1a\x02\x0a\x00\x1a\x00\x22\x00");
    let response =
        round_trip(&server, Method::POST, "/api/v1/namespaces", &[("content-type", PROTOBUF)], body).await;
    assert_eq!(
        (response.status, &response.json()["metadata"]["name"]),
        (201, &json!("foo")),
        "{}",
        response.text()
    );
    call(&server, Method::POST, MAPS, json!({"metadata": {"name": "a"}})).await;
    // DeleteOptions { preconditions { uid: "x" } }.
    let options =
        b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x05\x12\x03\x0a\x01x\x1a\x00\x22\x00".to_vec();
    let kept =
        round_trip(&server, Method::DELETE, &format!("{MAPS}/a"), &[("content-type", PROTOBUF)], options)
            .await;
    assert_eq!((kept.status, &kept.json()["reason"]), (409, &json!("Conflict")), "{}", kept.text());
    assert_eq!(post(&server, PROTOBUF, b"nonsense").await.status, 400);
}

/// A0.11: bodies that are too large or too deep are refused.
#[tokio::test]
async fn bodies_have_limits() {
    let server = server().await;
    let large = format!("{{\"metadata\":{{\"name\":\"a\"}},\"data\":{{\"k\":\"{}\"}}}}", "x".repeat(3 << 20));
    let response = post(&server, "application/json", large.as_bytes()).await;
    let status = response.json();
    assert_eq!((response.status, &status["reason"]), (413, &json!("RequestEntityTooLarge")));
    assert_eq!(status["message"], "Request entity too large: limit is 3145728");
    let deep = format!("{{\"data\":{}1{}}}", "{\"a\":".repeat(10_001), "}".repeat(10_001));
    assert_eq!(post(&server, "application/json", deep.as_bytes()).await.status, 400);
    assert_eq!(get(&server, "/livez", &[]).await.status, 200, "the server still works");
}

/// A9.7: large responses are compressed on request, once, and watches never.
#[tokio::test]
async fn large_responses_are_compressed_and_watches_are_not() {
    let server = with_a_map().await;
    let big = json!({"metadata": {"name": "big"}, "data": {"k": "x".repeat(200 << 10)}});
    call(&server, Method::POST, MAPS, big).await;
    let plain = get(&server, MAPS, &[]).await;
    let packed = get(&server, MAPS, &[("accept-encoding", "gzip, deflate")]).await;
    assert_eq!((packed.header("content-encoding"), packed.header("vary")), ("gzip", "Accept-Encoding"));
    assert!(packed.body.len() < plain.body.len() / 10);
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    for (path, encoding) in
        [(format!("{MAPS}/a"), "gzip"), (MAPS.to_owned(), "br"), (MAPS.to_owned(), "gzip;q=0")]
    {
        let response = get(&server, &path, &[("accept-encoding", encoding)]).await;
        assert_eq!(response.header("content-encoding"), "", "{path} {encoding}");
    }
    let watch = http::Request::get(format!("{MAPS}?watch=1")).header("accept-encoding", "gzip");
    let watch = server.handle(watch.body(bytes::Bytes::new()).unwrap()).await;
    assert_eq!(watch.headers().get("content-encoding"), None);
}

/// A5.1, A5.2, A5.3: tables of lists and objects, with the requested part of the objects.
#[tokio::test]
async fn objects_are_shown_as_tables() {
    let server = with_a_map().await;
    let table = get(&server, MAPS, &[("accept", TABLE)]).await;
    assert_eq!(table.header("content-type"), "application/json");
    let table = table.json();
    assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    let columns = table["columnDefinitions"].as_array().unwrap();
    assert_eq!(columns[0]["format"], "name");
    assert_eq!(table["rows"][0]["cells"].as_array().unwrap().len(), columns.len());
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let older = get(&server, MAPS, &[("accept", &TABLE.replace("=v1", "=v1beta1"))]).await.json();
    assert_eq!(older["apiVersion"], "meta.k8s.io/v1beta1");
    let row = |include: &'static str| {
        let path = format!("{MAPS}/a?includeObject={include}");
        let server = &server;
        async move { get(server, &path, &[("accept", TABLE)]).await.json()["rows"][0]["object"].clone() }
    };
    assert_eq!(row("None").await, Value::Null);
    assert_eq!(row("Object").await["data"], json!({"k": "<&>"}));
    let refused = get(&server, &format!("{MAPS}?includeObject=Foo"), &[("accept", TABLE)]).await;
    assert_eq!(
        refused.json()["message"],
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be 'Metadata', 'Object', 'None', or empty"
    );
}

/// A9.6: there are no tables of reviews.
#[tokio::test]
async fn a_review_as_a_table_is_not_acceptable() {
    let server = server().await;
    let review = json!({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}).to_string();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let accepting = |accept: &'static str| [("accept", accept), ("content-type", "application/json")];
    let refused = round_trip(&server, Method::POST, path, &accepting(TABLE), review.clone()).await;
    assert_eq!((refused.status, &refused.json()["reason"]), (406, &json!("NotAcceptable")));
    let both = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let response = round_trip(&server, Method::POST, path, &accepting(both), review).await;
    assert_eq!((response.status, &response.json()["kind"]), (201, &json!("SelfSubjectAccessReview")));
}

/// A5.6, A5.7: metadata of objects and of lists, also of writes and of `scale`; the wrong one of the two is 406.
#[tokio::test]
async fn objects_are_reduced_to_their_metadata() {
    let server = with_a_map().await;
    let path = format!("{MAPS}/a");
    let client = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{PARTIAL},application/json");
    let partial = get(&server, &path, &[("accept", &client)]).await.json();
    assert_eq!((&partial["kind"], partial.get("data")), (&json!("PartialObjectMetadata"), None));
    assert_eq!(partial["metadata"]["labels"], json!({"l": "1"}));
    let list = get(&server, MAPS, &[("accept", PARTIAL_LIST)]).await.json();
    assert_eq!(
        (&list["kind"], &list["items"][0]["kind"]),
        (&json!("PartialObjectMetadataList"), &json!("PartialObjectMetadata"))
    );
    let wrong = get(&server, &path, &[("accept", PARTIAL_LIST)]).await;
    assert_eq!(
        (wrong.status, &wrong.json()["message"]),
        (
            406,
            &json!(
                "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)"
            )
        )
    );
    let wrong = get(&server, MAPS, &[("accept", PARTIAL)]).await;
    assert_eq!(
        wrong.json()["message"],
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)"
    );
    let web = json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let headers = [("accept", PARTIAL), ("content-type", "application/json")];
    let created = round_trip(&server, Method::POST, deployments, &headers, web.to_string()).await;
    assert_eq!((created.status, &created.json()["kind"]), (201, &json!("PartialObjectMetadata")));
    let scale = get(&server, &format!("{deployments}/web/scale"), &[("accept", PARTIAL)]).await.json();
    assert_eq!((&scale["kind"], scale.get("spec")), (&json!("PartialObjectMetadata"), None));
    let scale = get(&server, &format!("{deployments}/web/scale"), &[("accept", TABLE)]).await.json();
    assert_eq!(scale["rows"][0]["cells"].as_array().unwrap().len(), 4, "{scale}");
}

/// A0.12: errors that can be retried have a Retry-After header.
#[tokio::test]
async fn retryable_errors_have_a_retry_after_header() {
    let server = server().await;
    let response = get(&server, &format!("{MAPS}?resourceVersion=99999999"), &[]).await;
    assert_eq!((response.status, response.header("retry-after")), (504, "1"));
    assert_eq!(response.json()["details"]["retryAfterSeconds"], 1);
    assert_eq!(get(&server, &format!("{MAPS}/none"), &[]).await.header("retry-after"), "");
}
