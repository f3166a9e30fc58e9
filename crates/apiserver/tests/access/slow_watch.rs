//! A store whose watches deliver events only when progress is requested.
//!
//! It simulates a store across a network, whose watch events arrive after the responses to writes.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use gantry_json::{Value, json};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{
    Answer, Bounds, Error, Fetched, Key, ListRequest, Notice, Page, Prefix, Revision, Store, Transaction,
    Watch, Watching,
};
use http::Method;

use crate::cluster::{ADMIN, PODS, RBAC, on, rbac_access, rule};

#[derive(Debug)]
struct Lagging(MemoryStore, AtomicBool);

fn lagging() -> Arc<Lagging> {
    Arc::new(Lagging(MemoryStore::new(HistoryLimits::default()), AtomicBool::new(false)))
}

struct Silent {
    watch: Watch,
    is_requested: bool,
}

impl Watching for Silent {
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        if !self.is_requested {
            return Poll::Pending;
        }
        let notice = pin!(self.watch.next()).poll(context);
        if matches!(notice, Poll::Ready(Some(Ok(Notice::Progress(_))))) {
            self.is_requested = false;
        }
        notice
    }

    fn request_progress(&mut self) {
        self.is_requested = true;
        self.watch.request_progress();
    }
}

impl Store for Lagging {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        self.0.get(key)
    }
    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        if self.1.load(Ordering::Relaxed) {
            return Box::pin(async { Err(Error::Unavailable { why: "the store is down".to_owned() }) });
        }
        self.0.list(request)
    }
    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        self.0.commit(transaction)
    }
    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        let watch = self.0.watch(prefix, after);
        Box::pin(async move { Ok(Watch::new(Silent { watch: watch.await?, is_requested: false })) })
    }
    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.0.compact(through)
    }
    fn bounds(&self) -> Answer<'_, Bounds> {
        self.0.bounds()
    }
}

/// A7.9: a write of a role or binding applies once it is acknowledged, however late the watches are.
#[tokio::test]
async fn a_decision_is_never_older_than_an_acknowledged_write() {
    let cluster = on(lagging(), rbac_access()).await;
    assert_eq!(cluster.get("bob", PODS).await.0, 403);
    cluster.grant("bob", json!([rule(&["list"], &["pods"])])).await;
    let role = format!("{RBAC}/namespaces/default/roles/bob");
    for _ in 0..3 {
        assert_eq!(cluster.get("bob", PODS).await.0, 200);
        let nothing = json!({"metadata": {"name": "bob"}, "rules": []});
        assert_eq!(cluster.request_as(ADMIN, Method::PUT, &role, nothing).await.0, 200);
        assert_eq!(cluster.get("bob", PODS).await.0, 403);
        let listing = json!({"metadata": {"name": "bob"}, "rules": [rule(&["list"], &["pods"])]});
        assert_eq!(cluster.request_as(ADMIN, Method::PUT, &role, listing).await.0, 200);
    }
    assert_eq!(cluster.request_as(ADMIN, Method::DELETE, &role, Value::Null).await.0, 200);
    let (status, refused) = cluster.get("bob", PODS).await;
    let why = "RBAC: role.rbac.authorization.k8s.io \"bob\" not found";
    assert_eq!(status, 403);
    assert!(refused["message"].as_str().unwrap().ends_with(why), "A7.3: {refused}");
}

/// A7.4: public paths need no roles and so no store; all others fail without them.
#[tokio::test]
async fn without_roles_only_public_paths_respond() {
    let store = lagging();
    let cluster = on(Arc::clone(&store) as _, rbac_access()).await;
    store.1.store(true, Ordering::Relaxed);
    assert_eq!(cluster.get("bob", "/version").await.0, 200);
    assert_eq!(cluster.get("bob", "/apis").await.0, 500);
    assert_eq!(cluster.get(ADMIN, "/apis").await.0, 200, "system:masters needs no roles");
    store.1.store(false, Ordering::Relaxed);
    assert_eq!(cluster.get("bob", "/apis").await.0, 200);
}
