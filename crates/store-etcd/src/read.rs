//! Reads: one key, pages of keys, and the bounds of history.

use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use gantry_store::{Bounds, Error, Fetched, Key, ListRequest, Page, Revision};

use crate::cluster::Cluster;
use crate::convert::{item, number, revision, versioned};
use crate::fault::{EtcdRefusal, Fault};
use crate::keyspace::Range;
use crate::rpc;
use crate::watch;
use crate::wire::{CompactionRequest, RangeRequest, RangeResponse};

/// The page size of requests. A full list is read in steps, so that etcd never has to build it as one message.
const STEP: i64 = 1000;

/// A lower bound of etcd's floor, which never decreases.
#[derive(Debug)]
pub(crate) struct Floor(AtomicI64);

impl Default for Floor {
    fn default() -> Self {
        Self(AtomicI64::new(number(Revision::EMPTY)))
    }
}

impl Floor {
    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn raise(&self, to: i64) {
        self.0.fetch_max(to, Ordering::Relaxed);
    }
}

/// Reads one key.
pub(crate) async fn get(cluster: &Cluster, key: &Key) -> Result<Fetched, Error> {
    let request = RangeRequest { key: Bytes::copy_from_slice(key.as_bytes()), ..RangeRequest::default() };
    let response = cluster.retry(&rpc::RANGE, &request).await?;
    Ok(Fetched { revision: revision(response.revision()), found: response.kvs.first().map(versioned) })
}

/// Reads a page.
pub(crate) async fn list(cluster: &Cluster, floor: &Floor, request: ListRequest) -> Result<Page, Error> {
    let mut range = Range::of(&request.prefix, request.start.as_ref());
    let limit = request.limit.map(|limit| i64::try_from(limit.get()).unwrap_or(i64::MAX));
    // The first step determines the revision of all others.
    let mut at = request.at.map(number);
    let mut items = Vec::new();
    loop {
        let read = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let step = limit.map_or(STEP, |limit| (limit - read).min(STEP));
        let response = list_step(cluster, &range, step, at.unwrap_or(0)).await;
        let response = match response {
            Err(Fault::Refused(refusal)) => return Err(explain(cluster, floor, refusal).await),
            other => other?,
        };
        let state = *at.get_or_insert(response.revision());
        let remaining = response.count - i64::try_from(response.kvs.len()).unwrap_or(i64::MAX);
        items.extend(response.kvs.into_iter().filter_map(item));
        let Some(next) = items.last().filter(|_| remaining > 0).map(|last| last.key.successor()) else {
            return Ok(Page { revision: revision(state), items, next: None, remaining: 0 });
        };
        if limit.is_some_and(|limit| items.len() as u64 >= limit.unsigned_abs()) {
            let remaining = remaining.unsigned_abs();
            return Ok(Page { revision: revision(state), items, next: Some(next), remaining });
        }
        range.start = Bytes::copy_from_slice(next.as_bytes());
    }
}

async fn list_step(cluster: &Cluster, range: &Range, limit: i64, at: i64) -> Result<RangeResponse, Fault> {
    let Range { start: key, end: range_end } = range.clone();
    let request = RangeRequest { key, range_end, limit, revision: at, ..RangeRequest::default() };
    cluster.retry(&rpc::RANGE, &request).await
}

/// The floor and the current revision.
///
/// etcd has no call for its floor. But reading below it is refused, so while the known floor can be read, it is the
/// floor; otherwise a watch that starts too early returns it.
pub(crate) async fn bounds(cluster: &Cluster, floor: &Floor) -> Result<Bounds, Error> {
    loop {
        let known = floor.get();
        match probe(cluster, known).await {
            Ok(current) => return Ok(Bounds { floor: revision(known), current: revision(current) }),
            Err(Fault::Refused(EtcdRefusal::Compacted)) => {
                floor.raise(watch::floor_above(cluster, known).await?);
            }
            Err(fault) => return Err(fault.into_error()),
        }
    }
}

/// The current revision.
pub(crate) async fn current(cluster: &Cluster) -> Result<i64, Fault> {
    probe(cluster, 0).await
}

/// The current revision, if the given revision can be read; 0 means the current one.
async fn probe(cluster: &Cluster, at: i64) -> Result<i64, Fault> {
    let key = Range::ours().start;
    let request = RangeRequest { key, revision: at, keys_only: true, limit: 1, ..RangeRequest::default() };
    Ok(cluster.retry(&rpc::RANGE, &request).await?.revision())
}

/// Compacts history.
pub(crate) async fn compact(cluster: &Cluster, floor: &Floor, through: Revision) -> Result<(), Error> {
    match cluster.retry(&rpc::COMPACT, &CompactionRequest { revision: number(through) }).await {
        Ok(_) => floor.raise(number(through)),
        // Another process, or a try of ours whose response was lost, has done it.
        Err(Fault::Refused(EtcdRefusal::Compacted)) => {}
        Err(Fault::Refused(refusal)) => return Err(explain(cluster, floor, refusal).await),
        Err(fault) => return Err(fault.into_error()),
    }
    Ok(())
}

/// The error for a refused revision, with the bound it violates.
pub(crate) async fn explain(cluster: &Cluster, floor: &Floor, refusal: EtcdRefusal) -> Error {
    let bounds = match refusal {
        EtcdRefusal::Compacted | EtcdRefusal::FutureRevision => bounds(cluster, floor).await,
        other => return other.into_error(),
    };
    match (refusal, bounds) {
        (_, Err(error)) => error,
        (EtcdRefusal::Compacted, Ok(Bounds { floor, .. })) => Error::Compacted { floor },
        (_, Ok(Bounds { current, .. })) => Error::FutureRevision { current },
    }
}
