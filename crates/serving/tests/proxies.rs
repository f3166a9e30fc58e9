//! Proxied requests over real connections: streams in both directions, upgrades, TLS, and connections that break off.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use gantry_apiserver::{
    Body, NodeConnector, NodeResponse, NodeTarget, ProxyDestination, RequestStream, Settings,
};
use gantry_json::json;
use gantry_serving::{ConnectionLimits, ProxyConnector};
use harness::{Running, request};
use http::{Request, Response};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Connects to a port of this machine, whatever the destination of the request.
#[derive(Debug)]
struct ToThisMachine {
    port: Arc<AtomicU16>,
    connector: ProxyConnector,
}

impl NodeConnector for ToThisMachine {
    /// The log of any pod.
    fn send<'a>(&'a self, _: NodeTarget<'a>, _: Request<()>) -> NodeResponse<'a> {
        let body = Body::Whole(Some("a line\n".into()));
        Box::pin(std::future::ready(Ok(Response::new(body))))
    }

    fn proxy(&self, destination: ProxyDestination, request: Request<RequestStream>) -> NodeResponse<'_> {
        let destination = ProxyDestination {
            host: "127.0.0.1".to_owned(),
            port: self.port.load(Ordering::Relaxed),
            ..destination
        };
        Box::pin(async move { self.connector.send(&destination, request).await })
    }
}

/// A server with the pod `p`, whose address is the returned listener's.
async fn server_with_pod() -> (Running, TcpListener) {
    let (running, listener, _) = server_with_pod_at_port().await;
    (running, listener)
}

/// The same, and the port, which may be changed.
async fn server_with_pod_at_port() -> (Running, TcpListener, Arc<AtomicU16>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = Arc::new(AtomicU16::new(listener.local_addr().unwrap().port()));
    let nodes =
        Arc::new(ToThisMachine { port: Arc::clone(&port), connector: ProxyConnector::new().unwrap() });
    let settings = Settings { nodes: Some(nodes), ..Settings::default() };
    let running = Running::with_settings(settings, ConnectionLimits::default()).await;
    let mut client = running.http2().await;
    let mut send = async |method: &str, path: &str, body: gantry_json::Value| {
        let response = client.send_request(request(method, path, body.to_string())).await.unwrap();
        assert!(response.status().is_success(), "{path}: {:?}", harness::body(response).await);
    };
    send("POST", "/api/v1/nodes", json!({"metadata": {"name": "n1"}})).await;
    let spec = json!({"containers": [{"name": "c", "image": "i"}], "automountServiceAccountToken": false});
    let mut bound = json!({"metadata": {"name": "bound"}, "spec": spec});
    bound["spec"]["nodeName"] = json!("n1");
    send("POST", "/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "default"}}))
        .await;
    send("POST", "/api/v1/namespaces/default/pods", json!({"metadata": {"name": "p"}, "spec": spec})).await;
    send("POST", "/api/v1/namespaces/default/pods", bound).await;
    let mut status =
        request("PATCH", "/api/v1/namespaces/default/pods/p/status", r#"{"status":{"podIP":"10.0.0.7"}}"#);
    status.headers_mut().insert("content-type", "application/merge-patch+json".parse().unwrap());
    assert_eq!(client.send_request(status).await.unwrap().status(), 200);
    (running, listener, port)
}

/// Reads the head of a request or response.
async fn head(stream: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "{head}");
    }
    head
}

async fn accept(listener: &TcpListener) -> BufReader<TcpStream> {
    BufReader::new(listener.accept().await.unwrap().0)
}

const PROXY: &str = "/api/v1/namespaces/default/pods/p/proxy";

/// Both bodies are passed on while they arrive, at the same time.
#[tokio::test]
async fn both_bodies_are_streamed() {
    let (running, listener) = server_with_pod().await;
    let mut client = BufReader::new(running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap());
    let request = format!("POST {PROXY}/echo HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let mut pod = accept(&listener).await;
    let received = head(&mut pod).await;
    assert!(received.starts_with("POST /echo HTTP/1.1\r\n"), "{received}");
    assert!(
        received.contains("host: here\r\n") && received.contains("x-forwarded-for: 127.0.0.1\r\n"),
        "{received}"
    );
    pod.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
    assert!(head(&mut client).await.starts_with("HTTP/1.1 200 OK\r\n"));
    for word in ["one", "two"] {
        // Each is echoed before the next is sent.
        client.write_all(format!("3\r\n{word}\r\n").as_bytes()).await.unwrap();
        let mut chunk = [0; 8];
        pod.read_exact(&mut chunk).await.unwrap();
        assert_eq!(chunk, *format!("3\r\n{word}\r\n").as_bytes());
        pod.write_all(&chunk).await.unwrap();
        client.read_exact(&mut chunk).await.unwrap();
        assert_eq!(chunk, *format!("3\r\n{word}\r\n").as_bytes());
    }
}

/// The log of a pod over WebSocket: its lines and the end.
#[tokio::test]
async fn a_log_is_sent_over_an_upgraded_connection() {
    let (running, _) = server_with_pod().await;
    let mut client = BufReader::new(running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap());
    let request = "GET /api/v1/namespaces/default/pods/bound/log HTTP/1.1\r\nhost: here\r\nconnection: upgrade\r\n\
                 upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    client.write_all(request.as_bytes()).await.unwrap();
    let response = head(&mut client).await;
    assert!(response.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{response}");
    assert!(response.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{response}");
    let mut sent = Vec::new();
    client.read_to_end(&mut sent).await.unwrap();
    assert_eq!(sent, [&[0x82, 0, 0x82, 7][..], b"a line\n", &[0x88, 2, 3, 232]].concat());
}

/// After an upgrade, client and pod exchange arbitrary bytes.
#[tokio::test]
async fn an_upgraded_connection_is_joined() {
    let (running, listener) = server_with_pod().await;
    let mut client = BufReader::new(running.tls("http/1.1", Some(&running.pki.admin)).await.unwrap());
    let request =
        format!("GET {PROXY}/chat HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: chat\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let mut pod = accept(&listener).await;
    let received = head(&mut pod).await;
    assert!(received.contains("upgrade: chat\r\n"), "{received}");
    pod.write_all(b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: chat\r\n\r\nhello")
        .await
        .unwrap();
    let response = head(&mut client).await;
    assert!(response.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{response}");
    let mut word = [0; 5];
    client.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"hello");
    client.write_all(b"there").await.unwrap();
    pod.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"there");
    drop(pod);
    assert_eq!(client.read(&mut word).await.unwrap_or(0), 0, "it ends with the pod's");
}

/// A response that ends early is not passed on as complete.
#[tokio::test]
async fn an_aborted_response_is_aborted_for_the_client() {
    let (running, listener) = server_with_pod().await;
    let mut client = running.http1().await;
    let responding = tokio::spawn(async move {
        let mut pod = accept(&listener).await;
        head(&mut pod).await;
        pod.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n").await.unwrap();
    });
    let response = client.send_request(request("GET", &format!("{PROXY}/x"), "")).await.unwrap();
    assert_eq!(response.status(), 200);
    responding.await.unwrap();
    assert!(http_body_util::BodyExt::collect(response.into_body()).await.is_err());
}

/// The connection uses TLS if the request requires it, with any name in the certificate. Here the pod is the server
/// itself.
#[tokio::test]
async fn a_pod_with_tls_is_reached() {
    let (running, _listener, port) = server_with_pod_at_port().await;
    port.store(running.address.port(), Ordering::Relaxed);
    let path = "/api/v1/namespaces/default/pods/https:p:443/proxy/version";
    let response = running.http2().await.send_request(request("GET", path, "")).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), harness::json(response).await["major"].as_str()),
        (200, Some("1"))
    );
}

/// Errors of connections have Go's messages.
#[tokio::test]
async fn errors_of_connections_have_the_messages_of_go() {
    let (running, listener) = server_with_pod().await;
    let address: SocketAddr = listener.local_addr().unwrap();
    let mut client = running.http2().await;
    let mut get = async |path: &str| {
        let response = client.send_request(request("GET", path, "")).await.unwrap();
        let (status, body) = (response.status().as_u16(), harness::json(response).await);
        (status, body["message"].as_str().unwrap_or_default().to_owned())
    };
    let responding = tokio::spawn(async move {
        let mut plain = listener.accept().await.unwrap().0;
        // A response without TLS, whatever the client sends.
        plain.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut rest = Vec::new();
        let _ = plain.read_to_end(&mut rest).await;
        let mut silent = accept(&listener).await;
        head(&mut silent).await;
        listener
    });
    let https = "/api/v1/namespaces/default/pods/https:p:443/proxy/";
    let why = "error trying to reach service: tls: first record does not look like a TLS handshake";
    assert_eq!(get(https).await, (503, why.to_owned()));
    assert_eq!(get(&format!("{PROXY}/")).await, (503, "error trying to reach service: EOF".to_owned()));
    drop(responding.await.unwrap());
    let why = format!("error trying to reach service: dial tcp {address}: connect: connection refused");
    assert_eq!(get(&format!("{PROXY}/")).await, (503, why));
}
