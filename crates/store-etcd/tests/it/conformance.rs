//! The whole conformance suite, each story on its own etcd.

use std::sync::Arc;

use gantry_store::suite::{key, prefix, soon};
use gantry_store::{Notice, Store, Transaction};
use gantry_store_etcd::{ProgressMarks, Settings};

use crate::etcd::{Etcd, open};

async fn on_etcd() -> (Arc<dyn Store>, Etcd) {
    let etcd = Etcd::quick();
    (etcd.store().await, etcd)
}

gantry_store::conformance!(on_etcd);

/// etcd fragments a history of megabytes; the watch returns it completely and in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_history_arrives_whole() {
    let etcd = Etcd::quick();
    let store = etcd.store().await;
    let start = store.bounds().await.unwrap().current;
    let mut seen = store.commit(Transaction::create(key("/large"), vec![b'0'; 700_000])).await.unwrap();
    let mut expected = vec![seen];
    for number in 1..8_u8 {
        let value = vec![b'0' + number; 700_000];
        seen = store.commit(Transaction::update(key("/large"), value, seen)).await.unwrap();
        expected.push(seen);
    }
    let mut watch = store.watch(prefix("/large"), start).await.unwrap();
    for (number, revision) in (0..).zip(expected) {
        let Notice::Change(event) = soon("a change", watch.next()).await.unwrap().unwrap() else { continue };
        assert_eq!((event.revision, event.value().unwrap()[0]), (revision, b'0' + number));
    }
}

/// Debian's etcd may be too old for its own progress responses to be used. Then this is the only test of this path.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_can_come_from_etcd_itself() {
    let etcd = Etcd::quick();
    let store = open(&Settings { progress: ProgressMarks::Native, ..etcd.settings() }).await;
    gantry_store::suite::progress_is_delivered_without_changes(store).await;
}

/// With a newer etcd, this is the only test of this path.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_can_come_from_changes_alone() {
    let etcd = Etcd::quick();
    let store = open(&Settings { progress: ProgressMarks::InOrder, ..etcd.settings() }).await;
    gantry_store::suite::progress_is_delivered_without_changes(Arc::clone(&store)).await;
    gantry_store::suite::progress_never_overtakes_a_change(store).await;
}
