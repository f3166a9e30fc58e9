//! The whole conformance suite, each story on an etcd of its own.

use std::sync::Arc;

use gantry_store::Store;
use gantry_store_etcd::{ProgressMarks, Settings};

use crate::etcd::{Etcd, open};

async fn on_etcd() -> (Arc<dyn Store>, Etcd) {
    let etcd = Etcd::quick();
    (etcd.store().await, etcd)
}

gantry_store::conformance!(on_etcd);

/// Debian's etcd may be too old for its own progress answers to be trusted, and then this path is used by nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_can_come_from_etcd_itself() {
    let etcd = Etcd::quick();
    let store = open(&Settings { progress: ProgressMarks::Native, ..etcd.settings() }).await;
    gantry_store::suite::progress_is_marked_where_nothing_happened(store).await;
}

/// And on a newer one this is the path that nothing else uses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_can_come_from_changes_alone() {
    let etcd = Etcd::quick();
    let store = open(&Settings { progress: ProgressMarks::InOrder, ..etcd.settings() }).await;
    gantry_store::suite::progress_is_marked_where_nothing_happened(Arc::clone(&store)).await;
    gantry_store::suite::progress_never_overtakes_a_change(store).await;
}
