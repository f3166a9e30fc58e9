//! Messages of errors when etcd is down, does not respond, or is not etcd.

use std::time::Duration;

use gantry_store::Store as _;
use gantry_store::suite::key;
use gantry_store::{Error, Transaction};
use gantry_store_etcd::{EtcdStore, Settings};
use tokio::io::AsyncWriteExt;

use crate::etcd::{Etcd, free_port, open};
use crate::proxy::Proxy;

fn with_short_timeouts(url: &str) -> Settings {
    let second = Duration::from_secs(1);
    Settings { request_timeout: second, connect_timeout: second, compact_every: None, ..Settings::new([url]) }
}

fn why(error: Error) -> String {
    match error {
        Error::Unavailable { why } => why,
        other => unreachable!("{other:?}"),
    }
}

/// A write to an etcd that is down was never sent: the error is returned at once, and is not an unknown outcome.
#[tokio::test]
async fn unreachable_etcd_has_its_message() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let store = EtcdStore::new(&with_short_timeouts(&url)).unwrap();
    for error in [
        store.get(&key("/a")).await.unwrap_err(),
        store.commit(Transaction::create(key("/a"), "v")).await.unwrap_err(),
        store.watch(gantry_store::Prefix::ALL, gantry_store::Revision::EMPTY).await.unwrap_err(),
    ] {
        let why = why(error);
        assert!(why.contains("cannot be reached") && why.contains(&url), "{why}");
        assert!(why.to_lowercase().contains("refused"), "{why}");
    }
}

/// Every request has a deadline, and the message names the timeout and the member.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_etcd_timeout_has_its_message() {
    let etcd = Etcd::quick();
    let proxy = Proxy::to(&etcd.urls()[0]).await;
    let store = open(&with_short_timeouts(proxy.url())).await;
    proxy.drop_responses(true);
    let why = why(store.get(&key("/a")).await.unwrap_err());
    assert!(why.contains("no response within") && why.contains(proxy.url()), "{why}");
}

#[tokio::test]
async fn a_server_that_is_not_etcd_has_its_message() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let store = EtcdStore::new(&with_short_timeouts(&url)).unwrap();
    let why = why(store.ready().await.unwrap_err());
    assert!(why.contains(&url), "{why}");
}
