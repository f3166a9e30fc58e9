//! Sends requests to the server in process, for instruction counts: no socket, no disk, one thread.
//!
//! `valgrind --tool=callgrind target/release/examples/request_cost create configmaps 2000`; the difference between two runs'
//! instructions divided by the difference of their counts is the cost of one request.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gantry_apiserver::{ApiServer, Body, Environment, Settings};
use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;

#[derive(Debug, Default)]
struct Noon(AtomicU64);

impl Environment for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(1_767_268_800)
    }
    fn uid(&self) -> String {
        format!("{:08x}-0000-4000-8000-000000000000", self.0.fetch_add(1, Ordering::Relaxed))
    }
    fn name_suffix(&self) -> String {
        format!("x{:04}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

async fn send(server: &ApiServer, method: Method, path: &str, body: Vec<u8>) -> Response<Body> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("accept", "application/json")
        .header("content-type", "application/json")
        .header("user-agent", "request-cost/1");
    match request.body(body.into()) {
        Ok(request) => server.handle(request).await,
        Err(_) => Response::new(Body::Whole(None)),
    }
}

/// Reads a response to its end.
async fn whole(response: Response<Body>) -> usize {
    response.into_body().collect().await.map_or(0, |body| body.to_bytes().len())
}

fn object(resource: &str, name: &str, round: usize) -> Value {
    let filler = format!("{round:06}{}", "x".repeat(700));
    if resource == "configmaps" {
        return json!({"kind": "ConfigMap", "apiVersion": "v1",
            "metadata": {"name": name, "labels": {"app": "request-cost"}}, "data": {"filler": filler}});
    }
    json!({"kind": "Deployment", "apiVersion": "apps/v1",
        "metadata": {"name": name, "labels": {"app": "request-cost"}},
        "spec": {"replicas": round, "selector": {"matchLabels": {"app": "request-cost"}},
            "template": {"metadata": {"labels": {"app": "request-cost"}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1", "ports": [{"containerPort": 80}],
                    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]}}}})
}

#[expect(clippy::print_stdout, reason = "the output is the result of a measurement")]
async fn run(what: &str, resource: &str, count: usize) {
    let server = ApiServer::new(
        Arc::new(MemoryStore::new(HistoryLimits::default())),
        Arc::new(Noon::default()),
        Settings::default(),
    );
    if server.prepare().await.is_err() {
        return;
    }
    let prefix = if resource == "configmaps" { "/api/v1" } else { "/apis/apps/v1" };
    let path = format!("{prefix}/namespaces/default/{resource}");
    let kept = if what == "create" { 0 } else { 100 };
    for n in 0..kept {
        let body = object(resource, &format!("kept-{n}"), 0).to_string().into_bytes();
        whole(send(&server, Method::POST, &path, body).await).await;
    }
    let mut watchers = Vec::new();
    if what == "watch" {
        for _ in 0..100 {
            let watch =
                format!("{path}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
            watchers.push(send(&server, Method::GET, &watch, Vec::new()).await.into_body());
        }
    }
    let started = Instant::now();
    let mut bytes = 0;
    for n in 0..count {
        let name = format!("kept-{}", n % 100);
        let named = format!("{path}/{name}");
        bytes += match what {
            "create" => {
                let body = object(resource, &format!("new-{n}"), 0).to_string().into_bytes();
                whole(send(&server, Method::POST, &path, body).await).await
            }
            "update" | "watch" => {
                let body = object(resource, &name, n + 1).to_string().into_bytes();
                whole(send(&server, Method::PUT, &named, body).await).await
            }
            "get" => whole(send(&server, Method::GET, &named, Vec::new()).await).await,
            _ => whole(send(&server, Method::GET, &path, Vec::new()).await).await,
        };
        for watcher in &mut watchers {
            black_box(watcher.frame().await);
        }
    }
    let each = started.elapsed() / u32::try_from(count.max(1)).unwrap_or(1);
    println!("{what} {resource}: {each:?} each, {} bytes each", bytes / count.max(1));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "create".to_owned());
    let resource = arguments.next().unwrap_or_else(|| "configmaps".to_owned());
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(2000);
    run(&what, &resource, count).await;
}
