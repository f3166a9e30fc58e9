//! An etcd whose quota is used up.

use gantry_store::suite::{key, prefix};
use gantry_store::{Error, ListRequest, Transaction};

use gantry_store_etcd::{LostAnswers, Settings};

use crate::etcd::{Etcd, open};

/// Writes fail with a clear error and are not stored, reads and deletes succeed, and so do writes once there is space.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_quota_writes_are_refused_reads_and_deletes_go_on_and_it_recovers() {
    // etcd compares the size of its file, which grows when it commits a batch of writes.
    let arguments = ["--quota-backend-bytes=300000", "--backend-batch-limit=1", "--unsafe-no-fsync"];
    let etcd = Etcd::start(1, &arguments);
    let store = etcd.store().await;
    let mut written = Vec::new();
    let error = loop {
        let name = key(format!("/q/{}", written.len()));
        match store.commit(Transaction::create(name.clone(), vec![b'x'; 20_000])).await {
            Ok(revision) => written.push((name, revision)),
            Err(error) => break error,
        }
        assert!(written.len() < 100, "the quota is never exceeded");
    };
    assert!(matches!(&error, Error::OutOfSpace { why } if why.contains("NOSPACE")), "{error:?}");
    let page = store.list(ListRequest::all(prefix("/q/"))).await.unwrap();
    let found: Vec<_> = page.items.into_iter().map(|item| (item.key, item.revision)).collect();
    written.sort();
    assert_eq!(found, written, "only acknowledged writes are stored");

    let (name, seen) = written.pop().expect("at least one write succeeded");
    let deleted = store.commit(Transaction::delete(name, seen)).await.unwrap();
    let again = store.commit(Transaction::create(key("/q/new"), "v")).await;
    assert!(matches!(again, Err(Error::OutOfSpace { .. })), "{again:?}");
    let plain = open(&Settings { lost_answers: LostAnswers::Report, ..etcd.settings() }).await;
    let again = plain.commit(Transaction::create(key("/q/new"), "v")).await;
    assert!(matches!(again, Err(Error::OutOfSpace { .. })), "{again:?}");

    store.compact(deleted).await.unwrap();
    etcd.ctl(&["defrag"]);
    etcd.ctl(&["alarm", "disarm"]);
    store.commit(Transaction::create(key("/q/new"), "v")).await.unwrap();
}
