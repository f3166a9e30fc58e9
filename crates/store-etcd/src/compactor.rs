//! Compaction of old history, by one of the processes that share an etcd.
//!
//! All of them use one key, Kubernetes' own `compact_rev_key`. Each wakes once per interval with the version of that
//! key it saw last and tries to write the next. The one that succeeds compacts to the revision it saw an interval ago;
//! the others record the version and sleep again. kube-apiservers do the same with the same key, so that their
//! processes and ours alternate.

use std::sync::Weak;
use std::time::Duration;

use bytes::Bytes;
use gantry_store::Error;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::convert::revision;
use crate::keyspace::Range;
use crate::read;
use crate::rpc;
use crate::settings::MARK_IDLE;
use crate::store::Shared;
use crate::wire::{Compare, RangeRequest, RequestOp, TxnRequest};

const COMPACT_KEY: &[u8] = b"compact_rev_key";

/// Marks removed per transaction; etcd accepts 128 operations.
const SWEEP: i64 = 100;

/// The state between two intervals.
#[derive(Debug)]
struct Compactor {
    /// The version of the key we saw last, 0 when it was absent.
    version: i64,
    /// The store's revision an interval ago; `None` on the first wake-up.
    behind: Option<i64>,
    /// When idle marks were last checked, and the revision then.
    sweep: (Instant, i64),
}

/// Compacts every interval until the store is dropped.
pub(crate) async fn run(store: Weak<Shared>, interval: Duration) {
    let mut compactor = Compactor { version: 0, behind: None, sweep: (Instant::now(), 0) };
    loop {
        tokio::time::sleep(interval).await;
        let Some(store) = store.upgrade() else { return };
        // Failures are ignored: the next run, an interval later, compacts the same history.
        let _ = compactor.turn(&store).await;
    }
}

impl Compactor {
    async fn turn(&mut self, store: &Shared) -> Result<(), Error> {
        let key = Bytes::from_static(COMPACT_KEY);
        let behind = self.behind.unwrap_or(0);
        let request = TxnRequest {
            compare: vec![Compare::version_is(key.clone(), self.version)],
            success: vec![RequestOp::put(key.clone(), behind.to_string().into())],
            failure: vec![RequestOp::get(key)],
        };
        let response = store.cluster.retry(&rpc::TXN, &request).await?;
        self.behind = Some(response.revision());
        if !response.succeeded {
            let found = response.responses.first().and_then(|response| response.found());
            self.version = found.map_or(0, |kv| kv.version);
            return Ok(());
        }
        self.version += 1;
        if behind > 0 {
            read::compact(&store.cluster, &store.floor, revision(behind)).await?;
        }
        self.sweep(&store.cluster, response.revision()).await
    }

    /// Removes marks that were not used for long: those of terminated processes, and of past bursts.
    ///
    /// A process that still has such a mark detects at its next write that it was removed, and takes a new one.
    async fn sweep(&mut self, cluster: &Cluster, now_at: i64) -> Result<(), Error> {
        let (since, untouched_since) = self.sweep;
        if since.elapsed() < MARK_IDLE {
            if untouched_since == 0 {
                self.sweep = (Instant::now(), now_at);
            }
            return Ok(());
        }
        while sweep_some(cluster, untouched_since).await? == SWEEP {}
        self.sweep = (Instant::now(), now_at);
        Ok(())
    }
}

/// Removes some marks last written at or before this revision, and returns how many there were.
pub(crate) async fn sweep_some(cluster: &Cluster, through: i64) -> Result<i64, Error> {
    let Range { start: key, end: range_end } = Range::ours();
    let old = RangeRequest {
        key,
        range_end,
        limit: SWEEP,
        keys_only: true,
        max_mod_revision: through,
        ..RangeRequest::default()
    };
    let found = cluster.retry(&rpc::RANGE, &old).await?.kvs;
    let mut request = TxnRequest::default();
    for kv in &found {
        request.compare.push(Compare::modified_at(kv.key.clone(), kv.mod_revision));
        request.success.push(RequestOp::delete(kv.key.clone()));
    }
    if !found.is_empty() {
        // If one of them was used meanwhile none is removed; the next run tries again.
        cluster.retry(&rpc::TXN, &request).await?;
    }
    Ok(i64::try_from(found.len()).unwrap_or(SWEEP))
}

#[cfg(test)]
mod tests {
    use gantry_store::suite::key;
    use gantry_store::{Store, Transaction};

    use super::*;
    use crate::EtcdStore;
    use crate::etcd::Etcd;

    /// A removed mark costs its owner one more try, and one that was used since is not removed.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn marks_that_are_unused_for_long_are_deleted() {
        let etcd = Etcd::quick();
        let store = EtcdStore::new(&etcd.settings()).unwrap();
        let marks = || etcd.ctl(&["get", "--prefix", "!gantry/", "--keys-only"]).trim().to_owned();
        let first = store.commit(Transaction::create(key("/a"), "v")).await.unwrap();
        let long_ago = i64::try_from(first.before().get()).unwrap();
        assert_eq!(sweep_some(&store.shared.cluster, long_ago).await, Ok(0), "the mark was used since");
        assert_ne!(marks(), "");
        assert_eq!(sweep_some(&store.shared.cluster, long_ago + 1).await, Ok(1));
        assert_eq!(marks(), "");
        store.commit(Transaction::create(key("/b"), "v")).await.unwrap();
    }
}
