//! Subresources of pods: ephemeral containers, resize, logs, connections.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::{
    ApiServer, Body, Chunks, NodeConnector, NodeError, NodeResponse, NodeTarget, ProxyDestination,
    RequestStream, Settings,
};
use gantry_json::{Value, json};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use harness::cluster::{Cluster, PODS, message, pod};
use harness::{Noon, send};
use http::Method;
use http_body_util::BodyExt as _;

/// A§8.5, O3.5: ephemeral containers are added through their subresource and kept, and nothing else changes.
#[tokio::test]
async fn containers_for_debugging_are_added_and_stay() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    let (path, part) = (format!("{PODS}/p"), format!("{PODS}/p/ephemeralcontainers"));
    let debug = json!({"name": "debug", "image": "busybox", "targetContainerName": "c"});
    let sent = json!({"spec": {"ephemeralContainers": [debug]}});
    let elsewhere = cluster.patch(&path, sent.clone()).await;
    assert_eq!(elsewhere.0, 422);
    assert!(
        message(&elsewhere).starts_with("Pod \"p\" is invalid: spec: Forbidden: pod updates may not change")
    );
    let (status, debugged) = cluster.patch(&part, sent).await;
    assert_eq!((status, &debugged["metadata"]["generation"]), (200, &json!(2)), "{debugged}");
    assert_eq!(debugged["spec"]["ephemeralContainers"][0]["imagePullPolicy"], "Always");
    let changed = json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "other"}]}});
    let changed = cluster.patch(&part, changed).await;
    assert!(
        message(&changed).contains("existing ephemeral containers \"debug\" may not be changed"),
        "{changed:?}"
    );
    let (_, mut without) = cluster.get(&part).await;
    assert_eq!(without["kind"], "Pod");
    without["spec"].as_object_mut().unwrap().remove("ephemeralContainers");
    let removed = cluster.put(&part, without.clone()).await;
    assert!(
        message(&removed).contains("existing ephemeral containers \"debug\" may not be removed"),
        "{removed:?}"
    );
    without["spec"]["ephemeralContainers"] = debugged["spec"]["ephemeralContainers"].clone();
    without["spec"]["containers"][0]["image"] = json!("other");
    without["metadata"]["labels"] = json!({"app": "other"});
    let (status, same) = cluster.put(&part, without).await;
    assert_eq!((status, &same["spec"]["containers"][0]["image"]), (200, &json!("nginx:1")));
    assert_eq!(same["metadata"]["labels"], json!({"app": "web"}), "only that part is written");
    let mut born = pod("born");
    born["spec"]["ephemeralContainers"] = json!([{"name": "debug", "image": "busybox"}]);
    let born = cluster.post(PODS, born).await;
    assert!(message(&born).contains("spec.ephemeralContainers: Forbidden: cannot be set on create"));
}

/// A§8.5: `resize` changes only cpu and memory, and not the QoS class.
#[tokio::test]
async fn resize_keeps_the_qos_class() {
    let cluster = Cluster::new().await;
    let mut sized = pod("p");
    sized["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "100m", "memory": "1Gi"}});
    cluster.post(PODS, sized).await;
    let (path, part) = (format!("{PODS}/p"), format!("{PODS}/p/resize"));
    let wanted = |resources: Value| json!({"spec": {"containers": [{"name": "c", "resources": resources}]}});
    let more = wanted(json!({"requests": {"cpu": "200m"}}));
    assert_eq!(cluster.patch(&path, more.clone()).await.0, 422, "not through the pod itself");
    let (status, resized) = cluster.patch(&part, more).await;
    assert_eq!(status, 200, "{resized}");
    assert_eq!(
        resized["spec"]["containers"][0]["resources"]["requests"],
        json!({"cpu": "200m", "memory": "1Gi"})
    );
    assert_eq!(resized["metadata"]["generation"], 2);
    let image = json!({"spec": {"containers": [{"name": "c", "image": "other"}]}});
    assert_eq!(cluster.patch(&part, image).await.1["spec"]["containers"][0]["image"], "nginx:1");
    for (resources, why) in [
        (
            json!({"limits": {"cpu": "200m", "memory": "1Gi"}}),
            "Pod QOS Class may not change as a result of resizing",
        ),
        (
            json!({"requests": {"cpu": null}}),
            "resources.requests: Forbidden: resource requests cannot be removed",
        ),
        (
            json!({"requests": {"ephemeral-storage": "1Gi"}}),
            "spec: Forbidden: only cpu and memory resources are mutable",
        ),
    ] {
        let refused = cluster.patch(&part, wanted(resources)).await;
        assert_eq!(refused.0, 422);
        assert!(message(&refused).contains(why), "{refused:?}");
    }
}

/// A§8.5: an unbound pod has no logs; wrong container names are refused.
#[tokio::test]
async fn an_unbound_pod_has_no_log() {
    let cluster = Cluster::new().await;
    let mut two = pod("two");
    two["spec"]["containers"] = json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]);
    two["spec"]["initContainers"] = json!([{"name": "init", "image": "i"}]);
    cluster.post(PODS, two).await;
    cluster.post(PODS, pod("p")).await;
    let log = |name: &str, query: &str| format!("{PODS}/{name}/log?{query}");
    assert_eq!(cluster.get(&log("p", "")).await.0, 204);
    let request = http::Request::get(log("p", "")).header("accept", "text/plain").body(Bytes::new()).unwrap();
    assert_eq!(cluster.0.handle(request).await.status(), 204, "a log is text");
    assert_eq!(cluster.get(&log("two", "container=init")).await.0, 204);
    for (name, query, status, why) in [
        ("none", "", 404, "pods \"none\" not found"),
        ("p", "container=zz", 400, "container zz is not valid for pod p"),
        (
            "two",
            "",
            400,
            "a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [init]",
        ),
        (
            "p",
            "tailLines=-1",
            422,
            "PodLogOptions \"p\" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0",
        ),
        ("p", "tailLines=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"),
    ] {
        let refused = cluster.get(&log(name, query)).await;
        assert_eq!((refused.0, message(&refused)), (status, why));
    }
}

/// The agent of a node, whose response is the request.
#[derive(Debug)]
struct Echo;

struct Once(Option<Bytes>);

impl Chunks for Once {
    fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        Poll::Ready(self.0.take())
    }
}

impl NodeConnector for Echo {
    fn send<'a>(&'a self, target: NodeTarget<'a>, request: http::Request<()>) -> NodeResponse<'a> {
        Box::pin(async move {
            let endpoint = target.endpoint.unwrap();
            let line = format!("{} {} of {}\n", request.method(), request.uri(), endpoint.host);
            let mut response = http::Response::new(Body::Stream(Box::pin(Once(Some(line.into())))));
            if request.headers().contains_key("upgrade") {
                assert!(!request.headers().contains_key("authorization"));
                *response.status_mut() = http::StatusCode::SWITCHING_PROTOCOLS;
                response.headers_mut().insert("upgrade", request.headers()["upgrade"].clone());
            } else if request.uri().path().contains("/previous") {
                *response.status_mut() = http::StatusCode::BAD_REQUEST;
            }
            Ok(response)
        })
    }

    fn proxy(&self, _: ProxyDestination, _: http::Request<RequestStream>) -> NodeResponse<'_> {
        Box::pin(std::future::ready(Err(NodeError::NoAgent)))
    }
}

/// A cluster with the node `n1`, on which an agent runs.
async fn with_agent() -> Cluster {
    let settings = Settings { nodes: Some(Arc::new(Echo)), ..Settings::default() };
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store, Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    let cluster = Cluster::around(server).await;
    let status = json!({
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
    });
    cluster.post("/api/v1/nodes", json!({"metadata": {"name": "n1"}, "status": status})).await;
    cluster
}

/// A§8.5: the log of a bound pod is read from its node; without a log source the response is 503.
#[tokio::test]
async fn a_bound_pod_has_the_log_that_its_node_has() {
    let alone = Cluster::new().await;
    alone.running("p", true).await;
    let path = format!("{PODS}/p/log?tailLines=5");
    let lost = alone.get(&path).await;
    assert_eq!((lost.0, message(&lost)), (404, "nodes \"n1\" not found"));
    alone.post("/api/v1/nodes", json!({"metadata": {"name": "n1"}})).await;
    let silent = alone.get(&path).await;
    let why = "the logs of pod p cannot be read: no node agent answers for node n1";
    assert_eq!((silent.0, message(&silent)), (503, why));
    let cluster = with_agent().await;
    cluster.running("p", true).await;
    let response = send(&cluster.0, Method::GET, &path, "", &Value::Null).await;
    assert_eq!(response.headers()["content-type"], "text/plain");
    let text = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(text, "GET /containerLogs/default/p/c?tailLines=5 of 10.0.0.1\n");
    cluster.running("previous", true).await;
    let refused = cluster.get(&format!("{PODS}/previous/log")).await;
    assert_eq!((refused.0, message(&refused)), (400, "GET /containerLogs/default/previous/c of 10.0.0.1"));
}

/// Over WebSocket a log is sent as messages, in base64 if the client requests that; errors are ordinary responses.
#[tokio::test]
async fn a_log_is_also_served_over_websocket() {
    let cluster = with_agent().await;
    cluster.running("p", true).await;
    let read_log = async |name: &str, headers: &[(&str, &str)]| {
        let request = http::Request::get(format!("{PODS}/{name}/log"))
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        cluster.0.handle(request.body(Bytes::new()).unwrap()).await
    };
    let version = ("sec-websocket-version", "13");
    let line = b"GET /containerLogs/default/p/c of 10.0.0.1\n";
    let response = read_log("p", &[version, ("sec-websocket-protocol", "binary.k8s.io")]).await;
    assert_eq!(response.status(), 101);
    assert_eq!(response.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(response.headers()["sec-websocket-protocol"], "binary.k8s.io");
    let sent = response.into_body().collect().await.unwrap().to_bytes();
    let length = u8::try_from(line.len()).unwrap();
    assert_eq!(sent, [&[0x82, 0, 0x82, length], &line[..], &[0x88, 2, 3, 232]].concat());
    let in_base64 = read_log("p", &[version, ("sec-websocket-protocol", "base64.binary.k8s.io")]).await;
    let sent = in_base64.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(sent[..2], [0x81, 0], "messages of text");
    for (headers, status) in
        [(&[][..], 400), (&[version, ("sec-websocket-protocol", "v4.channel.k8s.io")][..], 403)]
    {
        assert_eq!(read_log("p", headers).await.status(), status);
    }
    cluster.running("previous", true).await;
    assert_eq!(read_log("previous", &[version]).await.status(), 400);
}

/// A§8.5: requests that upgrade the connection are passed to the agent of the node, without the credentials of the
/// client.
#[tokio::test]
async fn streams_of_a_pod_are_connected_with_its_node() {
    let cluster = with_agent().await;
    cluster.running("p", true).await;
    for (path, forwarded) in [
        (
            "exec?command=ls&command=-l&stdin=true&tty=true",
            "/exec/default/p/c?command=ls&command=-l&input=1&tty=1",
        ),
        ("attach?stdout=true&container=c", "/attach/default/p/c?output=1"),
        ("portforward?ports=80", "/portForward/default/p?port=80"),
    ] {
        let request = http::Request::post(format!("{PODS}/p/{path}"))
            .header("connection", "Upgrade")
            .header("upgrade", "SPDY/3.1")
            .header("authorization", "Basic x");
        let response = cluster.0.handle(request.body(Bytes::new()).unwrap()).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["upgrade"]),
            (101, &"SPDY/3.1".parse().unwrap())
        );
        let text = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(text, format!("POST {forwarded} of 10.0.0.1\n"));
    }
}

/// A§8.5: connections to pods are refused after the request is validated.
#[tokio::test]
async fn connections_into_pods_require_a_node_and_an_upgrade() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    for part in ["exec", "attach", "portforward"] {
        let unbound = cluster.post(&format!("{PODS}/p/{part}"), Value::Null).await;
        assert_eq!((unbound.0, message(&unbound)), (400, "pod p does not have a host assigned"));
        assert_eq!(cluster.get(&format!("{PODS}/none/{part}")).await.0, 404);
        assert_eq!(cluster.put(&format!("{PODS}/p/{part}"), json!({})).await.0, 405);
    }
    cluster.running("bound", true).await;
    cluster.post("/api/v1/nodes", json!({"metadata": {"name": "n1"}})).await;
    let plain = cluster.post(&format!("{PODS}/bound/exec?command=ls"), Value::Null).await;
    assert_eq!((plain.0, message(&plain)), (400, "Upgrade request required"));
    let request = http::Request::post(format!("{PODS}/bound/exec?command=ls"))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket");
    let response = cluster.0.handle(request.body(Bytes::new()).unwrap()).await;
    assert_eq!(response.status(), 501);
    let refused = cluster.get(&format!("{PODS}/bound/exec?container=zz")).await;
    assert_eq!((refused.0, message(&refused)), (400, "container zz is not valid for pod bound"));
}

/// A§8.5: a proxy path without a trailing slash is redirected; without a connector there are no connections.
#[tokio::test]
async fn a_proxied_path_ends_in_a_slash() {
    let cluster = Cluster::new().await;
    cluster.running("p", true).await;
    let path = format!("{PODS}/https:p:443/proxy");
    let without_address = cluster.get(&path).await;
    assert_eq!((without_address.0, message(&without_address)), (400, "address not allowed"));
    cluster.merge(&format!("{PODS}/p/status"), json!({"status": {"podIP": "10.0.0.7"}})).await;
    let response = send(&cluster.0, Method::GET, &format!("{path}?a=b"), "", &Value::Null).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["location"]),
        (301, &http::HeaderValue::from_str(&format!("{path}/?a=b")).unwrap())
    );
    for method in [Method::GET, Method::POST, Method::DELETE] {
        let response =
            send(&cluster.0, method, &format!("{path}/index.html"), "application/json", &Value::Null).await;
        assert_eq!(response.status(), 503);
    }
    assert_eq!(cluster.get(&format!("{PODS}/none/proxy/")).await.0, 404);
    assert_eq!(
        cluster.get(&format!("{PODS}/p/log/more")).await.0,
        404,
        "only paths of proxies have further segments"
    );
}
