//! Health endpoints.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Health, Settings};
use gantry_store::memory::MemoryStore;
use gantry_store::{
    Answer, Bounds, Error, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};
use harness::{Noon, round_trip, server};
use http::Method;

async fn get(server: &ApiServer, path: &str) -> (u16, String) {
    let response = round_trip(server, Method::GET, path, &[("accept", "application/json")], "").await;
    assert_eq!(response.header("content-type"), "text/plain; charset=utf-8", "{path}");
    (response.status, response.text().to_owned())
}

fn ok() -> (u16, String) {
    (200, "ok".to_owned())
}

/// A1.8: all checks, a single one, verbose output, excluded checks.
#[tokio::test]
async fn a_ready_server_passes_every_check() {
    let server = server().await;
    for path in ["/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/ping", "/readyz/etcd", "/healthz/"]
    {
        assert_eq!(get(&server, path).await, ok(), "{path}");
    }
    for endpoint in ["healthz", "livez", "readyz"] {
        let (status, text) = get(&server, &format!("/{endpoint}?verbose")).await;
        let lines: Vec<_> = text.lines().collect();
        let (verdict, checks) = lines.split_last().unwrap();
        assert_eq!((status, *verdict), (200, format!("{endpoint} check passed").as_str()));
        assert!(checks.contains(&"[+]ping ok") && checks.contains(&"[+]etcd ok"), "{checks:?}");
    }
    assert_eq!(get(&server, "/readyz?exclude=ping").await, ok());
    let (_, excluded) = get(&server, "/readyz?verbose&exclude=ping&exclude=nope").await;
    assert!(excluded.contains("[+]ping excluded: ok\n"), "{excluded}");
    assert!(excluded.contains("cannot be excluded: no matches for \"nope\"\n"), "{excluded}");
    assert_eq!(get(&server, "/livez/nope").await.0, 404);
}

/// A1.8: a starting or stopping server is live but not ready.
#[tokio::test]
async fn a_server_that_starts_or_stops_is_alive_but_not_ready() {
    let server = server().await;
    server.set_health(Health::Starting);
    assert_eq!(get(&server, "/livez").await, ok());
    assert_eq!(get(&server, "/healthz").await.0, 500);
    let (status, text) = get(&server, "/readyz").await;
    assert_eq!(status, 500);
    assert!(text.ends_with("readyz check failed\n") && text.contains("failed: reason withheld\n"), "{text}");
    assert!(text.contains("[+]ping ok\n"), "{text}");
    server.set_health(Health::ShuttingDown);
    assert_eq!(get(&server, "/readyz/shutdown").await.0, 500);
    assert_eq!((get(&server, "/readyz").await.0, get(&server, "/livez").await.0), (500, 200));
    assert_eq!(get(&server, "/readyz?exclude=shutdown").await, ok());
    server.set_health(Health::Ready);
    assert_eq!(get(&server, "/readyz").await, ok());
}

/// A store that reads and does not write, as on a read-only file system.
#[derive(Debug, Default)]
struct ReadOnlyStore(MemoryStore);

impl Store for ReadOnlyStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        self.0.get(key)
    }
    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        self.0.list(request)
    }
    fn commit(&self, _: Transaction) -> Answer<'_, Revision> {
        Box::pin(async { Err(Error::Unavailable { why: "the file system is read-only".to_owned() }) })
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
    fn health(&self) -> Answer<'_, ()> {
        Box::pin(async { Err(Error::Unavailable { why: "the file system is read-only".to_owned() }) })
    }
}

/// A1.8: a server whose store cannot write is neither live nor ready.
#[tokio::test]
async fn a_server_whose_store_cannot_write_fails_every_endpoint() {
    let server =
        ApiServer::new(Arc::new(ReadOnlyStore::default()), Arc::new(Noon::default()), Settings::default());
    for endpoint in ["healthz", "livez", "readyz"] {
        let (status, text) = get(&server, &format!("/{endpoint}")).await;
        assert_eq!(status, 500);
        assert!(text.contains("[-]etcd failed: reason withheld\n"), "{text}");
    }
}
