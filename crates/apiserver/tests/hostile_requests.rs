//! Requests that are meant to use up memory or time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::{Access, ApiServer, MemoryLimits, Settings};
use gantry_json::{Value, json};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use harness::{Noon, call, read, round_trip, server};
use http::{Method, Request};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn server_with(settings: Settings) -> ApiServer {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store, Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    server
}

/// A body that is never sent, although its length is announced.
struct Announced(u64);

impl http_body::Body for Announced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0)
    }
}

/// A7.2: a client that is not authenticated, or not authorized, gets the response without sending the body.
#[tokio::test(start_paused = true)]
async fn credentials_are_checked_before_the_body_is_read() {
    let server = server_with(Settings { access: Access::rbac(), ..Settings::default() }).await;
    for (path, token) in [(MAPS, None), (MAPS, Some("Bearer wrong"))] {
        let mut request = Request::post(path).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let response = server.serve(request.body(Announced(2_750_000)).unwrap()).await;
        assert_eq!(read(response).await.0, 401, "{token:?}");
    }
    // On a server without authorization, the request waits for the body.
    let open = server_with(Settings::default()).await;
    let response = open.serve(Request::post(MAPS).body(Announced(2_750_000)).unwrap()).await;
    assert_eq!(read(response).await.0, 504);
}

fn map(name: &str, bytes: usize) -> Value {
    json!({"metadata": {"name": name}, "data": {"x": "x".repeat(bytes)}})
}

/// A large list that its client does not read takes no memory, however often it is requested; it is complete when it is read.
#[tokio::test]
async fn a_large_list_is_encoded_while_it_is_read() {
    let memory = MemoryLimits { unsent_responses: 1 << 20, ..MemoryLimits::default() };
    let server = server_with(Settings { memory, ..Settings::default() }).await;
    for index in 0..20 {
        assert_eq!(call(&server, Method::POST, MAPS, map(&format!("m{index:02}"), 200_000)).await.0, 201);
    }
    let list = || async { server.handle(Request::get(MAPS).body(Bytes::new()).unwrap()).await };
    let mut unread = Vec::new();
    for _ in 0..100 {
        unread.push(list().await);
    }
    assert!(unread.iter().all(|response| response.status() == 200));
    let bytes = list().await.into_body().collect().await.unwrap().to_bytes();
    assert!(bytes.ends_with(b"]}\n"));
    let whole: Value = gantry_json::from_slice(&bytes).unwrap();
    assert_eq!(whole["items"].as_array().unwrap().len(), 20);
    assert_eq!(whole["kind"], "ConfigMapList");
    let packed = round_trip(&server, Method::GET, MAPS, &[("accept-encoding", "gzip")], "").await;
    assert_eq!((packed.header("content-encoding"), packed.header("vary")), ("gzip", "Accept-Encoding"));
    assert!(packed.body.len() < 100_000);
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed.body[..]), &mut unpacked).unwrap();
    assert_eq!(unpacked, bytes);
    // Indented JSON has to be built as a whole.
    let pretty = |response: &http::Response<gantry_apiserver::Body>| response.status().as_u16();
    let indented = || server.handle(Request::get(format!("{MAPS}?pretty=true")).body(Bytes::new()).unwrap());
    let first = indented().await;
    assert_eq!(pretty(&first), 200);
    let second = indented().await;
    assert_eq!((pretty(&second), second.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    drop(first);
    let (status, again) = read(indented().await).await;
    assert_eq!((status, again), (200, whole));
}

/// The same in YAML: the list is not built as a whole, and has the same content as in JSON.
#[tokio::test]
async fn a_large_list_in_yaml_is_encoded_while_it_is_read() {
    let memory = MemoryLimits { unsent_responses: 1 << 20, ..MemoryLimits::default() };
    let server = server_with(Settings { memory, ..Settings::default() }).await;
    for index in 0..20 {
        let bytes = if index % 2 == 0 { 200_000 } else { 100 };
        assert_eq!(call(&server, Method::POST, MAPS, map(&format!("m{index:02}"), bytes)).await.0, 201);
    }
    let list = |accept: &'static str| {
        let request = Request::get(MAPS).header("accept", accept).body(Bytes::new()).unwrap();
        server.handle(request)
    };
    let mut unread = Vec::new();
    for _ in 0..100 {
        unread.push(list("application/yaml").await);
    }
    assert!(unread.iter().all(|response| response.status() == 200));
    let read = |response: http::Response<gantry_apiserver::Body>| async {
        let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        (content_type, response.into_body().collect().await.unwrap().to_bytes())
    };
    let (json, yaml) =
        (read(list("application/json").await).await, read(list("application/yaml").await).await);
    assert_eq!((json.0.as_str(), yaml.0.as_str()), ("application/json", "application/yaml"));
    assert!(yaml.1.len() > 2_000_000 && gantry_schema::encode::yaml(&json.1).unwrap().as_bytes() == yaml.1);
}

/// A table is the same, whether it is built from few objects or from many.
#[tokio::test]
async fn tables_and_partial_lists_are_written_object_by_object() {
    let server = server().await;
    for index in 0..3 {
        assert_eq!(call(&server, Method::POST, MAPS, map(&format!("m{index}"), 10)).await.0, 201);
    }
    let accept = |form: &str| format!("application/json;as={form};g=meta.k8s.io;v=v1");
    for (form, list, name) in
        [("Table", "rows", "/object/metadata/name"), ("PartialObjectMetadataList", "items", "/metadata/name")]
    {
        let got = round_trip(&server, Method::GET, MAPS, &[("accept", &accept(form))], "").await.json();
        assert_eq!((&got["kind"], &got["apiVersion"]), (&json!(form), &json!("meta.k8s.io/v1")));
        let names: Vec<_> =
            got[list].as_array().unwrap().iter().filter_map(|one| one.pointer(name)).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        let none = format!("{MAPS}?labelSelector=none");
        let got = round_trip(&server, Method::GET, &none, &[("accept", &accept(form))], "").await.json();
        assert!(got[list].as_array().is_none_or(Vec::is_empty), "{got}");
    }
}

/// A2.23: a field name of the client is returned in a header, but truncated.
#[tokio::test]
async fn a_long_field_name_is_truncated_in_the_warning_header() {
    let server = server().await;
    let name = "x".repeat(1 << 20);
    let body = json!({"metadata": {"name": "a"}, (name.as_str()): 1, "short": 1}).to_string();
    let path = format!("{MAPS}?fieldValidation=Warn");
    let got = round_trip(&server, Method::POST, &path, &[("content-type", "application/json")], body).await;
    assert_eq!(got.status, 201);
    let lengths: Vec<_> = got.headers.get_all("warning").iter().map(http::HeaderValue::len).collect();
    assert!(lengths.len() == 2 && lengths.iter().all(|length| *length < 300), "{lengths:?}");
}

/// Objects of two bytes each would take hundreds of times their size.
#[tokio::test]
async fn a_body_of_very_many_objects_is_refused() {
    let server = server().await;
    let body = format!("{{\"metadata\":{{\"name\":\"a\"}},\"data\":[{}{{}}]}}", "{},".repeat(900_000));
    let got = round_trip(&server, Method::POST, MAPS, &[("content-type", "application/json")], body).await;
    assert_eq!(got.status, 400, "{}", &got.text()[..200.min(got.text().len())]);
}

/// Each error is many times as long as its value: all of these would be 50 MB.
#[tokio::test]
async fn the_errors_of_an_object_are_truncated() {
    let server = server().await;
    let service = json!({
        "metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}], "ipFamilies": vec![""; 140_000]},
    });
    let path = "/api/v1/namespaces/default/services";
    let headers = [("content-type", "application/json")];
    let got = round_trip(&server, Method::POST, path, &headers, service.to_string()).await;
    assert_eq!(got.status, 422);
    assert!((1 << 20..28 << 20).contains(&got.body.len()), "{}", got.body.len());
}

/// The fields of a custom object are stored a second time in its managed fields.
#[tokio::test]
async fn an_object_that_is_too_large_to_store_is_refused() {
    let server = server().await;
    let data: gantry_json::Map =
        (0..80_000).map(|index| (format!("key-{index}"), json!({"a": "x"}))).collect();
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(call(&server, Method::POST, definitions, definition).await.0, 201);
    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": data});
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let (code, status) = call(&server, Method::POST, widgets, widget).await;
    let message = "Request entity too large: the object as it is stored has more than 4194304 bytes";
    assert_eq!(
        (code, &status["reason"], &status["message"]),
        (413, &json!("RequestEntityTooLarge"), &json!(message))
    );
}

/// Every one of these bodies is the largest that is accepted; none takes long.
#[tokio::test]
async fn the_largest_bodies_are_handled() {
    let server = server().await;
    let post = |path: &'static str, object: Value| {
        let server = server.clone();
        async move { call(&server, Method::POST, path, object).await.0 }
    };
    let ports: Vec<_> = (0..20_000).map(|_| json!({"containerPort": 1})).collect();
    let pod = |container: Value| json!({"metadata": {"name": "p"}, "spec": {"containers": [container]}});
    let pods = "/api/v1/namespaces/default/pods?dryRun=All";
    let settings = |container| post(pods, pod(container));
    assert_eq!(settings(json!({"name": "c", "image": "i", "ports": ports})).await / 100, 4);
    let variables: Vec<_> = (0..40_000).map(|index| json!({"name": format!("V{}", index / 2)})).collect();
    assert_eq!(settings(json!({"name": "c", "image": "i", "env": variables})).await / 100, 4);
    let long_key = "k".repeat(1 << 20);
    let below: Vec<_> = (0..100_000).map(|_| json!({"b": 0, "a": 0})).collect();
    let odd = json!({"metadata": {"name": "a", "labels": {"!": ""}}, (long_key.as_str()): below});
    assert_eq!(post("/api/v1/namespaces/default/configmaps?fieldValidation=Warn", odd).await, 422);
}
