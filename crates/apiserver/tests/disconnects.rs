//! A client that disconnects during a write leaves no incomplete state.
//!
//! Each write is interrupted before and after each of its calls to the store, by dropping the future of its response as
//! hyper does when a connection ends. The store must end up as after the same write without an interruption.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use gantry_apiserver::{ApiServer, RequestLimits, Settings};
use gantry_json::{Value, json};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{
    Answer, Bounds, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};
use harness::cluster::{Cluster, PODS, pod};
use harness::{Noon, read};
use http::{Method, Request};
use http_body_util::Full;
use tokio::sync::Semaphore;

/// A store that stops at one of its calls until it is released.
#[derive(Debug)]
struct StoppingStore {
    store: MemoryStore,
    /// The number of calls until it stops.
    calls_left: AtomicUsize,
    stopped: Semaphore,
    released: Semaphore,
}

/// The value of `calls_left` with which [`StoppingStore`] does not stop.
const NEVER: usize = usize::MAX;

impl StoppingStore {
    async fn stop_if_due(&self) {
        let count_down = |left: usize| if left == NEVER { None } else { left.checked_sub(1) };
        if self.calls_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_down) == Ok(1) {
            self.calls_left.store(NEVER, Ordering::SeqCst);
            self.stopped.add_permits(1);
            self.released.acquire().await.unwrap().forget();
        }
    }

    /// Waits before and after a call.
    async fn surround<T>(&self, call: Answer<'_, T>) -> Result<T, gantry_store::Error> {
        self.stop_if_due().await;
        let result = call.await;
        self.stop_if_due().await;
        result
    }
}

impl Store for StoppingStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(self.surround(self.store.get(key)))
    }
    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(self.surround(self.store.list(request)))
    }
    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(self.surround(self.store.commit(transaction)))
    }
    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        self.store.watch(prefix, after)
    }
    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.store.compact(through)
    }
    fn bounds(&self) -> Answer<'_, Bounds> {
        self.store.bounds()
    }
}

type Write = (Method, &'static str, Value);

/// The keys and values of a store after these writes, the last of which is interrupted at this call to the store; `None`
/// if it makes fewer calls.
async fn contents_after(writes: &[Write], stop_at: usize) -> Option<Vec<(Key, Bytes)>> {
    let store = Arc::new(StoppingStore {
        store: MemoryStore::new(HistoryLimits::default()),
        calls_left: AtomicUsize::new(NEVER),
        stopped: Semaphore::new(0),
        released: Semaphore::new(0),
    });
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
    server.prepare().await.unwrap();
    let cluster = Cluster::around(server).await;
    let (last, before) = writes.split_last().unwrap();
    for write in before {
        let (status, response) = read(cluster.0.serve(request(write)).await).await;
        assert!(status < 300, "{response}");
    }
    store.calls_left.store(stop_at, Ordering::SeqCst);
    let mut response = Box::pin(cluster.0.serve(request(last)));
    tokio::select! {
        biased;
        response = &mut response => {
            let (status, response) = read(response).await;
            assert!(status < 300, "{response}");
            if stop_at != NEVER {
                return None;
            }
        }
        stopped = store.stopped.acquire() => stopped.unwrap().forget(),
    }
    drop(response);
    store.released.add_permits(1);
    cluster.0.finish_detached_writes().await;
    let page = store.store.list(ListRequest::all(Prefix::ALL)).await.unwrap();
    Some(page.items.into_iter().map(|item| (item.key, item.value)).collect())
}

fn request((method, path, body): &Write) -> Request<Full<Bytes>> {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let content_type = match *method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(*path).header("content-type", content_type);
    request.body(Full::from(bytes)).unwrap()
}

/// Interrupts the last write at each call to the store.
async fn assert_nothing_is_incomplete(writes: &[Write]) {
    let whole = contents_after(writes, NEVER).await.unwrap();
    let mut stop_at = 1;
    while let Some(contents) = contents_after(writes, stop_at).await {
        assert_eq!(contents, whole, "interrupted at call {stop_at} to the store");
        stop_at += 1;
    }
    assert!(stop_at > 2, "the write was interrupted at least once");
}

fn bound_pod(name: &str) -> Value {
    let mut bound = pod(name);
    bound["spec"]["nodeName"] = json!("n1");
    bound
}

const RUNNING: &str = "/api/v1/namespaces/default/pods/p/status";
const POD: &str = "/api/v1/namespaces/default/pods/p";

/// O6.8, A4.19: an unscheduled pod, a finished one, and one without a grace period are removed, not left terminating.
#[tokio::test]
async fn a_pod_without_grace_period_is_removed() {
    let ended = json!({"status": {"phase": "Succeeded"}});
    assert_nothing_is_incomplete(&[(Method::POST, PODS, pod("p")), (Method::DELETE, POD, Value::Null)]).await;
    assert_nothing_is_incomplete(&[
        (Method::POST, PODS, bound_pod("p")),
        (Method::PATCH, RUNNING, ended),
        (Method::DELETE, POD, Value::Null),
    ])
    .await;
    assert_nothing_is_incomplete(&[
        (Method::POST, PODS, bound_pod("p")),
        (Method::DELETE, POD, Value::Null),
        (Method::DELETE, POD, json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})),
    ])
    .await;
}

/// A6.1: an eviction spends the budget, marks the pod and deletes it.
#[tokio::test]
async fn an_eviction_is_finished() {
    let budget = json!({
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    });
    let allowed = json!({"status": {
        "observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2,
    }});
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}});
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    assert_nothing_is_incomplete(&[
        (Method::POST, budgets, budget),
        (Method::PATCH, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status", allowed),
        (Method::POST, PODS, bound_pod("p")),
        (Method::PATCH, RUNNING, ready),
        (Method::POST, "/api/v1/namespaces/default/pods/p/eviction", eviction),
    ])
    .await;
}

/// A collection is deleted completely, and the usage of its quota is recounted.
#[tokio::test]
async fn a_collection_is_deleted_completely() {
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "10"}}});
    assert_nothing_is_incomplete(&[
        (Method::POST, "/api/v1/namespaces/default/resourcequotas", quota),
        (Method::POST, PODS, pod("a")),
        (Method::POST, PODS, pod("b")),
        (Method::DELETE, PODS, Value::Null),
    ])
    .await;
}

/// A definition is established before its creation is acknowledged, and its objects are deleted with it.
#[tokio::test]
async fn a_definition_is_established_and_removed_with_its_objects() {
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "crons.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "crons", "kind": "Cron"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let creation = (Method::POST, definitions, definition);
    assert_nothing_is_incomplete(std::slice::from_ref(&creation)).await;
    let object = json!({"apiVersion": "example.com/v1", "kind": "Cron", "metadata": {"name": "c"}});
    assert_nothing_is_incomplete(&[
        creation,
        (Method::POST, "/apis/example.com/v1/namespaces/default/crons", object),
        (
            Method::DELETE,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crons.example.com",
            Value::Null,
        ),
    ])
    .await;
}

/// Either both a service and its address exist, or neither does.
#[tokio::test]
async fn a_service_and_its_address_are_written_and_deleted_together() {
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let services = "/api/v1/namespaces/default/services";
    assert_nothing_is_incomplete(&[
        (Method::POST, services, service),
        (Method::DELETE, "/api/v1/namespaces/default/services/s", Value::Null),
    ])
    .await;
}

/// A client cannot exceed the limit of concurrent writes by disconnecting.
#[tokio::test]
async fn a_write_without_its_client_keeps_its_seat() {
    let store = Arc::new(StoppingStore {
        store: MemoryStore::new(HistoryLimits::default()),
        calls_left: AtomicUsize::new(NEVER),
        stopped: Semaphore::new(0),
        released: Semaphore::new(0),
    });
    let requests = RequestLimits { reading: 10, mutating: 1, priority_and_fairness: false };
    let settings = Settings { requests, ..Settings::default() };
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    let cluster = Cluster::around(server).await;
    let map = |name: &str| {
        let object = json!({"metadata": {"name": name}});
        request(&(Method::POST, "/api/v1/namespaces/default/configmaps", object))
    };
    store.calls_left.store(1, Ordering::SeqCst);
    let mut first = Box::pin(cluster.0.serve(map("a")));
    tokio::select! {
        biased;
        _ = &mut first => panic!("the write waits for the store"),
        stopped = store.stopped.acquire() => stopped.unwrap().forget(),
    }
    drop(first);
    assert_eq!(cluster.0.serve(map("b")).await.status(), 429);
    store.released.add_permits(1);
    cluster.0.finish_detached_writes().await;
    assert_eq!(cluster.0.serve(map("b")).await.status(), 201);
    assert_eq!(cluster.get("/api/v1/namespaces/default/configmaps/a").await.0, 200);
}

/// A crash between the last write of a pod and its removal, which is possible with etcd.
#[tokio::test]
async fn a_deletion_that_a_crash_interrupted_is_completed_at_the_next_start() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = || ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
    let first = server();
    first.prepare().await.unwrap();
    let cluster = Cluster::around(first).await;
    cluster.post(PODS, pod("p")).await;
    let mut held = pod("held");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    cluster.post(PODS, held).await;
    cluster.post(PODS, bound_pod("running")).await;
    cluster.delete(&format!("{PODS}/held")).await;
    cluster.delete(&format!("{PODS}/running")).await;
    let key = Key::new("/registry/pods/default/p").unwrap();
    let found = store.get(&key).await.unwrap().found.unwrap();
    let mut last: Value = gantry_json::from_slice(&found.value).unwrap();
    last["metadata"]["deletionTimestamp"] = json!("2026-01-01T12:00:00Z");
    last["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    store.commit(Transaction::update(key, last.to_string(), found.revision)).await.unwrap();
    assert_eq!(cluster.get(POD).await.0, 200);

    let cluster = Cluster(server());
    cluster.0.prepare().await.unwrap();
    cluster.0.complete_deletions().await.unwrap();
    assert_eq!(cluster.get(POD).await.0, 404);
    assert_eq!(cluster.get(&format!("{PODS}/held")).await.0, 200, "a finalizer blocks it");
    assert_eq!(cluster.get(&format!("{PODS}/running")).await.0, 200, "its grace period is not over");
}
