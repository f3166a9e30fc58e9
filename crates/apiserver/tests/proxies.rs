//! Proxies of pods, services and nodes: the destinations of requests, forwarded requests, and responses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::{
    Access, ApiServer, AuthenticatedUser, Body, Chunks, NodeConnector, NodeError, NodeResponse, NodeTarget,
    PeerAddress, ProxyDestination, RequestStream, Settings,
};
use gantry_json::{Value, json};
use gantry_registry::access::User;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use harness::Noon;
use harness::cluster::{Cluster, PODS, message, pod};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;

const SERVICES: &str = "/api/v1/namespaces/default/services";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const NODES: &str = "/api/v1/nodes";

/// A destination whose response has the request as text, and the status and headers that the request specifies.
#[derive(Debug)]
struct Echo;

struct Text(Option<Bytes>);

impl Chunks for Text {
    fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        Poll::Ready(self.0.take())
    }
}

impl NodeConnector for Echo {
    fn send<'a>(&'a self, _: NodeTarget<'a>, _: Request<()>) -> NodeResponse<'a> {
        Box::pin(std::future::ready(Err(NodeError::NoAgent)))
    }

    fn proxy(&self, destination: ProxyDestination, request: Request<RequestStream>) -> NodeResponse<'_> {
        Box::pin(async move {
            if destination.port == 1 {
                return Err(NodeError::Failed("dial tcp 10.0.0.7:1: connect: connection refused".to_owned()));
            }
            let ProxyDestination { transport, host, port } = destination;
            let (parts, body) = request.into_parts();
            let mut text = format!("{} {} to {transport:?} {host}:{port}\n", parts.method, parts.uri);
            for (name, value) in &parts.headers {
                writeln!(text, "{name}: {}", value.to_str().unwrap()).unwrap();
            }
            let body = body.collect().await.unwrap().to_bytes();
            text.push_str(std::str::from_utf8(&body).unwrap());
            if parts.uri.path() == "/page" {
                "<a href=\"/x\">".clone_into(&mut text);
            }
            let mut response = Response::new(Body::Stream(Box::pin(Text(Some(text.into())))));
            // Headers that begin with `response-` are those of the response.
            for (name, value) in &parts.headers {
                match name.as_str().strip_prefix("response-") {
                    Some("status") => {
                        *response.status_mut() = StatusCode::from_bytes(value.as_bytes()).unwrap();
                    }
                    Some(name) => {
                        let name: http::HeaderName = name.parse().unwrap();
                        response.headers_mut().append(name, value.clone());
                    }
                    None => {}
                }
            }
            Ok(response)
        })
    }
}

/// A cluster with the pod `p` on the real node `n1`, the pod `simulated` on the node `sim`, and services of them.
async fn cluster() -> Cluster {
    let settings = Settings { nodes: Some(Arc::new(Echo)), ..Settings::default() };
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store, Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    let cluster = Cluster::around(server).await;
    let addresses = json!([{"type": "InternalIP", "address": "10.0.0.1"}]);
    let status = json!({"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}});
    cluster.post(NODES, json!({"metadata": {"name": "n1"}, "status": status})).await;
    cluster.post(NODES, json!({"metadata": {"name": "sim"}, "status": {"addresses": addresses}})).await;
    cluster.post(NODES, json!({"metadata": {"name": "bare"}})).await;
    for (name, node, address) in
        [("p", "n1", "10.0.0.7"), ("simulated", "sim", "10.0.0.8"), ("local", "n1", "127.0.0.1")]
    {
        let mut pod = pod(name);
        pod["spec"]["nodeName"] = json!(node);
        pod["spec"]["containers"][0]["ports"] = json!([{"containerPort": 8080}]);
        assert_eq!(cluster.post(PODS, pod).await.0, 201);
        let status = json!({"podIP": address, "podIPs": [{"ip": address}]});
        assert_eq!(cluster.merge(&format!("{PODS}/{name}/status"), json!({"status": status})).await.0, 200);
    }
    for (service, endpoint, address) in
        [("s", "p", "10.0.0.7"), ("simulated", "simulated", "10.0.0.8"), ("forged", "p", "10.0.0.9")]
    {
        let ports = json!([{"name": "web", "port": 80}, {"name": "other", "port": 81}]);
        let made =
            cluster.post(SERVICES, json!({"metadata": {"name": service}, "spec": {"ports": ports}})).await;
        assert_eq!(made.0, 201, "{made:?}");
        let target = json!({"kind": "Pod", "name": endpoint, "namespace": "default"});
        let lost = json!({"kind": "Pod", "name": "lost", "namespace": "default"});
        let slice = json!({
            "metadata": {"name": service, "labels": {"kubernetes.io/service-name": service}},
            "addressType": "IPv4",
            "ports": [{"name": "web", "port": 8080}],
            "endpoints": [
                {"addresses": ["10.0.0.5"], "conditions": {"ready": false}, "targetRef": target},
                {"addresses": ["10.0.0.6"], "targetRef": lost},
                {"addresses": [address], "targetRef": target},
            ],
        });
        let made = cluster.post(SLICES, slice).await;
        assert_eq!(made.0, 201, "{made:?}");
    }
    cluster
}

async fn send(cluster: &Cluster, request: http::request::Builder, body: &str) -> (Response<()>, String) {
    let response =
        cluster.0.serve(request.body(http_body_util::Full::new(Bytes::from(body.to_owned()))).unwrap()).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (Response::from_parts(parts, ()), String::from_utf8(body.to_vec()).unwrap())
}

/// The first line of the response: the destination of the request.
async fn destination_of(cluster: &Cluster, path: &str) -> String {
    let (response, text) = send(cluster, Request::get(path), "").await;
    assert_eq!(response.status(), 200, "{path}: {text}");
    text.lines().next().unwrap().to_owned()
}

/// A§8.5: a request is sent to the address of the pod, an endpoint of the service, or the agent of the node.
#[tokio::test]
async fn a_request_is_sent_to_the_pod_the_service_or_the_node() {
    let cluster = cluster().await;
    for (path, to) in [
        (format!("{PODS}/p/proxy/"), "/ to Http 10.0.0.7:8080"),
        (format!("{PODS}/p:81/proxy/a/b?c=d"), "/a/b?c=d to Http 10.0.0.7:81"),
        (format!("{PODS}/https:p:443/proxy/a%2Fb%20c/"), "/a/b%20c/ to Https 10.0.0.7:443"),
        (format!("{SERVICES}/s:web/proxy/"), "/ to Http 10.0.0.7:8080"),
        (format!("{SERVICES}/https:s:80/proxy/x"), "/x to Https 10.0.0.7:8080"),
        (format!("{NODES}/n1/proxy/metrics"), "/metrics to Kubelet 10.0.0.1:10250"),
        (format!("{NODES}/n1:10250/proxy/metrics"), "/metrics to Kubelet 10.0.0.1:10250"),
        (format!("{NODES}/n1:9100/proxy/metrics"), "/metrics to Http 10.0.0.1:9100"),
    ] {
        assert_eq!(destination_of(&cluster, &path).await, format!("GET {to}"), "{path}");
    }
}

/// A§8.5: unreachable destinations are refused with the messages of kube-apiserver 1.37.
#[tokio::test]
async fn unreachable_destinations_are_refused() {
    let cluster = cluster().await;
    let simulated = "error trying to reach service: no node agent answers for node sim; pods of simulated nodes have no network";
    for (path, status, why) in [
        (format!("{PODS}/none/proxy/"), 404, "pods \"none\" not found"),
        (format!("{PODS}/a:b:c:d/proxy/"), 400, "invalid pod request \"a:b:c:d\""),
        (format!("{PODS}/local/proxy/"), 400, "address not allowed"),
        (
            format!("{PODS}/p:99999/proxy/"),
            503,
            "error trying to reach service: dial tcp: address 99999: invalid port",
        ),
        (
            format!("{PODS}/p:1/proxy/"),
            503,
            "error trying to reach service: dial tcp 10.0.0.7:1: connect: connection refused",
        ),
        (format!("{PODS}/simulated/proxy/"), 503, simulated),
        (format!("{SERVICES}/ftp:s:80/proxy/"), 400, "invalid service request \"ftp:s:80\""),
        (format!("{SERVICES}/none/proxy/"), 503, "no endpoints available for service \"none\""),
        (format!("{SERVICES}/none:80/proxy/"), 404, "services \"none\" not found"),
        (format!("{SERVICES}/s:82/proxy/"), 503, "no service port 82 found for service \"s\""),
        (format!("{SERVICES}/s/proxy/"), 503, "no endpoints available for service \"s\""),
        (format!("{SERVICES}/s:81/proxy/"), 503, "no endpoints available for service \"s\""),
        (format!("{SERVICES}/simulated:80/proxy/"), 503, simulated),
        (format!("{SERVICES}/forged:80/proxy/"), 503, "no endpoints available for service \"forged\""),
        (format!("{NODES}/none/proxy/"), 404, "nodes \"none\" not found"),
        (format!("{NODES}/bare/proxy/"), 500, "no preferred addresses found; known addresses: []"),
        (format!("{NODES}/sim/proxy/"), 503, simulated),
    ] {
        let refused = cluster.get(&path).await;
        assert_eq!((refused.0, message(&refused)), (status, why), "{path}");
    }
    let (response, _) =
        send(&cluster, Request::builder().method("TRACE").uri(format!("{PODS}/p/proxy/")), "").await;
    assert_eq!(response.status(), 405);
    let (response, _) =
        send(&cluster, Request::get("/api/v1/namespaces/default/configmaps/c/proxy/"), "").await;
    assert_eq!(response.status(), 404);
}

/// A§8.5: method, query, body and headers are passed on, without the credentials of the client.
#[tokio::test]
async fn a_request_is_passed_on_without_its_credentials() {
    let cluster = cluster().await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        let request = Request::builder()
            .method(&method)
            .uri(format!("{PODS}/p/proxy?timeout=1ns&dryRun=All"))
            .header("host", "api:6443")
            .header("authorization", "Basic x")
            .header("x-remote-user", "root")
            .header("x-forwarded-for", "1.2.3.4")
            .header("connection", "x-hop")
            .header("x-hop", "1")
            .header("cookie", "a=b")
            .extension(PeerAddress("192.0.2.7".parse().unwrap()));
        // Larger than the maximum body of an object.
        let body = "x".repeat(4 << 20);
        let (response, text) = send(&cluster, request, &body).await;
        assert_eq!(response.status(), 200, "{text}");
        let (head, sent) = text.split_at(text.len() - body.len());
        assert_eq!(sent, body);
        let mut lines: Vec<_> = head.lines().collect();
        lines.sort_unstable();
        let mut expected = vec![
            format!("{method} /?timeout=1ns&dryRun=All to Http 10.0.0.7:8080"),
            "cookie: a=b".to_owned(),
            "host: api:6443".to_owned(),
            "x-forwarded-for: 1.2.3.4, 192.0.2.7".to_owned(),
            format!("x-forwarded-uri: {PODS}/p/proxy/"),
        ];
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }
}

/// A§8.5: a response is passed on unchanged, except that its links lead through the proxy.
#[tokio::test]
async fn links_of_a_response_are_rewritten() {
    let cluster = cluster().await;
    let path = |rest: &str| format!("{PODS}/p/proxy{rest}");
    let request = Request::get(path("/x"))
        .header("response-status", "418")
        .header("response-set-cookie", "a=1")
        .header("response-set-cookie", "b=2")
        .header("response-access-control-allow-origin", "*")
        .header("accept", "application/yaml");
    let (response, _) = send(&cluster, request, "").await;
    assert_eq!(
        (response.status().as_u16(), response.headers().get_all("set-cookie").iter().count()),
        (418, 2)
    );
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    let (response, _) = send(
        &cluster,
        Request::get(path("/x")).header("response-status", "302").header("response-location", "/there"),
        "",
    )
    .await;
    assert_eq!(response.headers()["location"].to_str().unwrap(), path("/there"));
    let (_, broken) = send(&cluster, Request::get(path("/x")).header("response-location", "%zz"), "").await;
    let broken: Value = gantry_json::from_str(&broken).unwrap();
    let why = "Internal error occurred: error trying to parse Location header: parse \"%zz\": invalid URL escape \"%zz\"";
    assert_eq!(broken["message"], why);
    let request = Request::get(path("/page")).header("response-content-type", "text/html; charset=utf-8");
    let (_, page) = send(&cluster, request, "").await;
    assert_eq!(page, format!("<a href=\"{}\">", path("/x")));
}

/// A§8.5: a connection is upgraded if the destination does so; refusals are passed on, anything else is an error.
#[tokio::test]
async fn an_upgrade_is_passed_on_to_the_destination() {
    let cluster = cluster().await;
    let upgrade = |port: &str, status: &str| {
        let request = Request::get(format!("{PODS}/p:{port}/proxy?x=1"))
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("authorization", "Basic x");
        request.header("response-status", status).header("response-upgrade", "websocket")
    };
    let (response, text) = send(&cluster, upgrade("80", "101"), "").await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["upgrade"]),
        (101, &"websocket".parse().unwrap())
    );
    assert!(text.starts_with("GET /?x=1 to") && text.contains("upgrade: websocket"), "{text}");
    assert!(!text.contains("authorization") && !text.contains("x-forwarded-uri"), "{text}");
    assert_eq!(send(&cluster, upgrade("80", "404"), "").await.0.status(), 404);
    for (port, status, why) in [
        ("80", "200", "invalid upgrade response: status code 200"),
        ("1", "101", "error dialing backend: dial tcp 10.0.0.7:1: connect: connection refused"),
    ] {
        let (response, text) = send(&cluster, upgrade(port, status), "").await;
        let refused: Value = gantry_json::from_str(&text).unwrap();
        assert_eq!((response.status().as_u16(), refused["message"].as_str().unwrap()), (500, why));
    }
}

/// A§8.5: the use of a proxy is authorized by the verb of the method on `pods/proxy`, `services/proxy` and `nodes/proxy`.
#[tokio::test]
async fn a_proxy_is_authorized_by_the_verb_of_the_method() {
    let settings = Settings { nodes: Some(Arc::new(Echo)), access: Access::rbac(), ..Settings::default() };
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store, Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    let user = AuthenticatedUser(User { name: "ann".to_owned(), ..User::default() });
    for (method, verb) in
        [("GET", "get"), ("HEAD", "get"), ("POST", "create"), ("PUT", "update"), ("DELETE", "delete")]
    {
        let request = Request::builder()
            .method(method)
            .uri(format!("{SERVICES}/http:s:80/proxy/x"))
            .extension(user.clone())
            .body(Bytes::new())
            .unwrap();
        let refused = harness::read(server.handle(request).await).await;
        let why = format!(
            "services \"http:s:80\" is forbidden: User \"ann\" cannot {verb} resource \"services/proxy\" in API group \"\" in the namespace \"default\""
        );
        assert_eq!((refused.0, message(&refused)), (403, why.as_str()));
    }
}
