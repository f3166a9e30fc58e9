//! Connections as clients make and break them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;
use std::time::Duration;

use gantry_json::json;
use gantry_serving::{ConnectionLimits, Pki, ServerNames};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{
    Answer, Bounds, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};
use harness::{Running, body, json, request};
use http_body_util::BodyExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The timeout of everything, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The header of a client with a token.
const TOKEN: &str = "authorization: Bearer known\r\n";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A0.1, A0.3: both protocols, several requests on one connection, and the headers that clients rely on.
#[tokio::test]
async fn both_protocols_are_served_with_persistent_connections() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut one = running.http1().await;
    for _ in 0..3 {
        one.ready().await.unwrap();
        let response = one.send_request(request("GET", "/version", "")).await.unwrap();
        assert_eq!(response.version(), http::Version::HTTP_11);
        let headers = response.headers().clone();
        let text = body(response).await;
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["content-length"], text.len().to_string());
        assert_eq!(headers["cache-control"], "no-cache, private");
        assert_eq!(headers["audit-id"].len(), 36);
        assert!(headers.contains_key("date"));
    }
    let mut two = running.http2().await;
    for _ in 0..3 {
        let mut get = request("GET", "/version", "");
        get.headers_mut().insert("audit-id", "mine".parse().unwrap());
        let response = two.send_request(get).await.unwrap();
        assert_eq!((response.version(), response.status().as_u16()), (http::Version::HTTP_2, 200));
        assert_eq!(response.headers()["audit-id"], "mine");
    }
}

/// A4.8: characters that a URI may not contain are accepted in a query.
#[tokio::test]
async fn a_query_may_contain_characters_that_a_uri_may_not() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut stream = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
    let head =
        format!("GET {CONFIG_MAPS}?labelSelector=tier>1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.contains("ConfigMapList"), "{response}");
}

/// A0.2, A7.2: a certificate is requested, not required; one of another CA is rejected.
#[tokio::test]
async fn client_certificates_are_optional_and_verified() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut anonymous = running.tls("http/1.1", None).await.unwrap();
    anonymous.write_all(b"GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    anonymous.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    let foreign = Pki::in_memory(&ServerNames::default()).unwrap().admin;
    for (credentials, status) in [("", 401), ("authorization: Bearer wrong\r\n", 401), (TOKEN, 200)] {
        let mut stream = running.tls("http/1.1", Some(&foreign)).await.unwrap();
        let head = format!("GET /version HTTP/1.1\r\nhost: x\r\n{credentials}connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{credentials}: {response}");
    }
}

/// A7.1, A7.2: a certificate authenticates its user; without one, and without a token, a client is anonymous.
#[tokio::test]
async fn a_certificate_authenticates_its_user() {
    let running = Running::with(ConnectionLimits::default()).await;
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let response = running.http2().await.send_request(request("POST", path, review)).await.unwrap();
    let user = json(response).await["status"]["userInfo"].clone();
    assert_eq!(user["username"], "kubernetes-admin");
    assert_eq!(user["groups"], json!(["system:masters", "system:authenticated"]));
    for credentials in ["", "authorization: Bearer wrong\r\n"] {
        let mut anonymous = running.tls("http/1.1", None).await.unwrap();
        let head = format!("GET {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\n{credentials}connection: close\r\n\r\n");
        anonymous.write_all(head.as_bytes()).await.unwrap();
        let mut response = String::new();
        anonymous.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{response}");
        let (_, received) = response.split_once("\r\n\r\n").unwrap();
        let expected = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
        assert_eq!(gantry_json::from_str::<gantry_json::Value>(received).unwrap(), expected);
    }
}

/// A0.11: a body that is announced or turns out to be too large is refused, although the rest of it is never sent.
#[tokio::test]
async fn a_body_that_is_too_large_is_refused_while_it_is_read() {
    let running = Running::with(ConnectionLimits::default()).await;
    let announced = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 3145729\r\n\r\n{{");
    let mut endless = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..49 {
        endless.push_str("10000\r\n");
        endless.push_str(&" ".repeat(0x10000));
        endless.push_str("\r\n");
    }
    for sent in [announced, endless] {
        let stream = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(stream);
        // The rest of the body is never sent.
        let writing = tokio::spawn(async move {
            let _ = writer.write_all(sent.as_bytes()).await;
            let _ = writer.flush().await;
            writer
        });
        let mut response = vec![0; 4096];
        let mut length = 0;
        while !response[..length].ends_with(b"}\n") {
            let read = tokio::time::timeout(TIMEOUT, reader.read(&mut response[length..])).await;
            length += read.expect("the response does not wait for the body").unwrap();
        }
        let response = String::from_utf8_lossy(&response[..length]).into_owned();
        assert!(response.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{response}");
        assert!(
            response.contains("\"message\":\"Request entity too large: limit is 3145728\""),
            "{response}"
        );
        assert!(response.contains("\"reason\":\"RequestEntityTooLarge\""), "{response}");
        drop(writing.await);
    }
    let response = running.http1().await.send_request(request("GET", "/version", "")).await.unwrap();
    assert_eq!(response.status(), 200, "the server still works");
}

/// A0.11: a client that sends the whole body before reading receives the error, too, and not only a closed connection.
#[tokio::test]
async fn a_client_that_sends_a_too_large_body_to_its_end_gets_the_error() {
    let running = Running::with(ConnectionLimits::default()).await;
    let body = " ".repeat(8 << 20);
    for _ in 0..5 {
        let mut stream = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
        let length = body.len();
        let head = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut response = vec![0; 12];
        stream.read_exact(&mut response).await.unwrap();
        assert_eq!(response, b"HTTP/1.1 413");
    }
}

/// A0.10: a client that does not send its whole body gets a timeout error.
#[tokio::test]
async fn a_body_that_is_not_sent_times_out() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut stream = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
    let head =
        format!("POST {CONFIG_MAPS}?timeout=200ms HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    // The connection cannot be reused, and is closed.
    let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut response)).await.unwrap();
    let response = String::from_utf8_lossy(&response);
    assert!(response.starts_with("HTTP/1.1 504 Gateway Timeout\r\n"), "{response}");
    assert!(response.contains("Timeout: request did not complete within the allotted timeout"), "{response}");
}

#[tokio::test]
async fn unresponsive_clients_are_disconnected() {
    let short = Duration::from_millis(200);
    // Two servers: on a busy machine a handshake that is meant to succeed may take longer than that.
    let without_handshake =
        Running::with(ConnectionLimits { handshake: short, ..ConnectionLimits::default() }).await;
    let mut silent = TcpStream::connect(without_handshake.address).await.unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(TIMEOUT, silent.read_to_end(&mut rest)).await.expect("no handshake").unwrap();
    let without_head = Running::with(ConnectionLimits { idle: short, ..ConnectionLimits::default() }).await;
    let mut slow = without_head.tls("http/1.1", None).await.unwrap();
    // The server may have closed the connection already.
    let _ = slow.write_all(b"GET /version HTTP/1.1\r\nhost: ").await;
    let _ = tokio::time::timeout(TIMEOUT, slow.read_to_end(&mut rest)).await.expect("no whole head");
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&rest));
}

/// A9.8: all watches of a client share one connection, and none of them blocks a request.
#[tokio::test]
async fn hundreds_of_watches_fit_on_one_connection() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut sender = running.http2().await;
    let mut watches = Vec::new();
    for _ in 0..300 {
        sender.ready().await.unwrap();
        let watch = request("GET", &format!("{CONFIG_MAPS}?watch=true&resourceVersion=0"), "");
        let response = sender.send_request(watch).await.unwrap();
        assert_eq!(response.status(), 200);
        watches.push(response.into_body());
    }
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "news"}}).to_string();
    let created = sender.send_request(request("POST", CONFIG_MAPS, object)).await.unwrap();
    assert_eq!(created.status(), 201);
    for watch in &mut watches {
        let mut received = Vec::new();
        while !String::from_utf8_lossy(&received).contains("\"name\":\"news\"") {
            let frame = tokio::time::timeout(TIMEOUT, watch.frame()).await.unwrap();
            received.extend_from_slice(&frame.expect("the watch continues").unwrap().into_data().unwrap());
        }
    }
}

/// A0.1: every watch of an HTTP/1.1 client has a separate connection.
#[tokio::test]
async fn one_client_may_have_many_connections() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut watches = Vec::new();
    for _ in 0..150 {
        let mut sender = running.http1().await;
        let watch = request("GET", &format!("{CONFIG_MAPS}?watch=true"), "");
        watches.push((sender.send_request(watch).await.unwrap(), sender));
    }
    assert!(watches.iter().all(|(response, _)| response.status() == 200));
    let response = running.http1().await.send_request(request("GET", "/version", "")).await.unwrap();
    assert_eq!(response.status(), 200);
}

/// Returns when the server has read the head of a request and waits for its body.
async fn is_awaited(stream: &mut (impl AsyncRead + Unpin)) {
    let mut response = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
    let read = tokio::time::timeout(TIMEOUT, stream.read_exact(&mut response)).await;
    read.expect("the server requests the body").unwrap();
    assert_eq!(&response, b"HTTP/1.1 100 Continue\r\n\r\n");
}

#[tokio::test]
async fn when_the_server_stops_watches_end_and_requests_finish() {
    let running =
        Running::with(ConnectionLimits { shutdown_grace: TIMEOUT, ..ConnectionLimits::default() }).await;
    let (mut one, mut two) = (running.http1().await, running.http2().await);
    let watch = || request("GET", &format!("{CONFIG_MAPS}?watch=true"), "");
    let watches = [one.send_request(watch()).await.unwrap(), two.send_request(watch()).await.unwrap()];
    // A request whose body is sent only after shutdown was requested.
    let mut late = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}}).to_string();
    let length = object.len();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         expect: 100-continue\r\n\r\n"
    );
    late.write_all(head.as_bytes()).await.unwrap();
    is_awaited(&mut late).await;
    let address = running.address;
    let stopping = tokio::spawn(running.stop());
    for watch in watches {
        let rest = watch.into_body().collect().await.expect("the watch ends regularly");
        assert!(rest.to_bytes().is_empty());
    }
    assert!(TcpStream::connect(address).await.is_err(), "no connection is accepted any more");
    late.write_all(object.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    let _ = late.read_to_end(&mut response).await;
    assert!(response.starts_with(b"HTTP/1.1 201 Created\r\n"), "{}", String::from_utf8_lossy(&response));
    assert!(stopping.await.unwrap() < TIMEOUT);
}

#[tokio::test]
async fn unfinished_requests_are_aborted_after_the_grace_period() {
    let running = Running::with(ConnectionLimits {
        shutdown_grace: Duration::from_millis(300),
        ..ConnectionLimits::default()
    })
    .await;
    let mut hanging = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n"
    );
    hanging.write_all(head.as_bytes()).await.unwrap();
    is_awaited(&mut hanging).await;
    let took = running.stop().await;
    assert!((Duration::from_millis(300)..TIMEOUT).contains(&took), "{took:?}");
}

/// A9.7: large lists are compressed on request only.
#[tokio::test]
async fn large_responses_are_compressed_on_request() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut sender = running.http1().await;
    let data = "x".repeat(200_000);
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"x": data}});
    let created = sender.send_request(request("POST", CONFIG_MAPS, object.to_string())).await.unwrap();
    assert_eq!(json(created).await["metadata"]["name"], "big");
    sender.ready().await.unwrap();
    let mut gzipped = request("GET", CONFIG_MAPS, "");
    gzipped.headers_mut().insert("accept-encoding", "gzip".parse().unwrap());
    let packed = sender.send_request(gzipped).await.unwrap();
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    assert!(body(packed).await.len() < 20_000);
    sender.ready().await.unwrap();
    let plain = sender.send_request(request("GET", CONFIG_MAPS, "")).await.unwrap();
    assert!(!plain.headers().contains_key("content-encoding"));
    assert!(body(plain).await.len() > 200_000);
}

#[tokio::test]
async fn a_panic_costs_one_request_and_nothing_else() {
    let store = Arc::new(PanickingStore(MemoryStore::new(HistoryLimits::default())));
    let running = Running::over(store, ConnectionLimits::default()).await;
    let mut sender = running.http1().await;
    let response = sender.send_request(request("GET", &format!("{CONFIG_MAPS}/trap"), "")).await.unwrap();
    assert_eq!(response.status(), 500);
    assert_eq!(json(response).await["reason"], "InternalError");
    sender.ready().await.expect("the connection still works");
    let response = sender.send_request(request("GET", &format!("{CONFIG_MAPS}/other"), "")).await.unwrap();
    assert_eq!(response.status(), 404);
}

/// Sends a request as written, and returns everything that is received until the connection closes.
async fn raw(running: &Running, sent: &str) -> String {
    let mut stream = running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut received)).await.expect("it closes");
    String::from_utf8_lossy(&received).into_owned()
}

/// Requests that two servers in a row could understand differently are rejected as kube-apiserver does.
#[tokio::test]
async fn ambiguous_requests_are_rejected() {
    let running = Running::with(ConnectionLimits::default()).await;
    let close = "connection: close\r\n\r\n";
    for (head, status) in [
        (format!("GET /version HTTP/1.1\r\n{close}"), 400),
        (format!("GET /version HTTP/1.0\r\n{close}"), 200),
        (format!("GET /version HTTP/1.1\r\nhost: a\r\nhost: a\r\n{close}"), 400),
        (format!("GET /version HTTP/1.1\r\nhost:\r\n{close}"), 200),
        (format!("GET /version HTTP/1.1\r\nhost: a b\r\n{close}"), 400),
    ] {
        let response = raw(&running, &head).await;
        assert!(response.split(' ').nth(1) == Some(&status.to_string()), "{head}: {response}");
    }
    for codings in ["gzip, chunked", "chunked\r\ntransfer-encoding: chunked", "chunked, chunked"] {
        let head = format!(
            "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: {codings}\r\n\r\n0\r\n\r\n"
        );
        let response = raw(&running, &head).await;
        // hyper rejects some of them before our code.
        let status = response.split(' ').nth(1).unwrap_or_default();
        assert!(status == "501" || status == "400", "{codings}: {response}");
    }
}

/// When the maximum number of connections is open, idle ones are closed; those with a request in progress stay open.
#[tokio::test]
async fn idle_connections_are_closed_for_new_ones() {
    let running = Running::with(ConnectionLimits { connections: 5, ..ConnectionLimits::default() }).await;
    let mut busy = running.http1().await;
    let watch = busy.send_request(request("GET", &format!("{CONFIG_MAPS}?watch=true"), "")).await.unwrap();
    assert_eq!(watch.status(), 200);
    // Without a handshake, without a request, and after one.
    let silent = [
        TcpStream::connect(running.address).await.unwrap(),
        TcpStream::connect(running.address).await.unwrap(),
    ];
    let idle = running.tls("http/1.1", None).await.unwrap();
    let mut used = running.http2().await;
    assert_eq!(used.send_request(request("GET", "/version", "")).await.unwrap().status(), 200);
    for _ in 0..3 {
        let mut other = tokio::time::timeout(TIMEOUT, running.http1()).await.expect("there is room");
        let response = other.send_request(request("GET", "/version", "")).await.unwrap();
        assert_eq!(response.status(), 200);
        body(response).await;
    }
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "news"}}).to_string();
    let mut other = tokio::time::timeout(TIMEOUT, running.http1()).await.expect("there is room");
    assert_eq!(other.send_request(request("POST", CONFIG_MAPS, object)).await.unwrap().status(), 201);
    let mut watch = watch.into_body();
    let event = tokio::time::timeout(TIMEOUT, watch.frame()).await.unwrap();
    assert!(event.is_some(), "the watch continues");
    drop((silent, idle, used));
}

/// A client without credentials gets a response at once, although it has sent no body.
#[tokio::test]
async fn a_body_is_not_awaited_from_clients_without_credentials() {
    let running = Running::with(ConnectionLimits::default()).await;
    let mut stream = running.tls("http/1.1", None).await.unwrap();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 2750000\r\nexpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = vec![0; 12];
    tokio::time::timeout(TIMEOUT, stream.read_exact(&mut response)).await.unwrap().unwrap();
    assert_eq!(response, b"HTTP/1.1 401");
}

/// A store that panics on one request.
#[derive(Debug)]
struct PanickingStore(MemoryStore);

impl Store for PanickingStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        assert!(!format!("{key:?}").contains("trap"), "this is the panic of a test");
        self.0.get(key)
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        self.0.list(request)
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        self.0.commit(transaction)
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        self.0.watch(prefix, after)
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.0.compact(through)
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        self.0.bounds()
    }
}
