//! Marks: how to find out whether a write happened whose response was lost.
//!
//! The problem. A connection breaks after a transaction was sent. It may have been done; it may be done a moment later,
//! while it is queued in a follower or in the log of the leader; or never. Reading the keys does not determine which: a
//! missing key may still be written, and an existing or deleted key may be the effect of another write with the same
//! bytes.
//!
//! The mark. Every transaction also writes a number to a key of ours that no other write uses meanwhile, on the
//! condition that this key is still at the known revision. So if the transaction has happened, the key has its number.
//! To make sure that it never happens later, the mark is *withdrawn*: deleted on the same condition. Only one of
//! transaction and withdrawal can ever succeed, because revisions do not repeat. So:
//!
//! | the withdrawal                         | the write                                      |
//! |----------------------------------------|------------------------------------------------|
//! | is done                                | has not happened and cannot happen any more    |
//! | finds our number                       | has happened, at the revision of the mark      |
//! | finds nothing                          | has not happened: an earlier try to withdraw,  |
//! |                                        | whose response was lost too, was done          |
//! | has no response                        | is still in doubt; withdraw again              |
//!
//! This holds for creates, updates, deletes and any mix of them. Deleting needs no quota, so it also works when etcd is
//! full. Marks that were unused for [`MARK_IDLE`](crate::settings::MARK_IDLE) are removed by the compactor; every
//! withdrawal ends well before that.
//!
//! The outcome stays in doubt if etcd is not available again within the resolve timeout, and for the transactions
//! without a mark, see `write`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use crate::cluster::{Backoff, Cluster};
use crate::fault::{EtcdRefusal, Fault};
use crate::keyspace::OURS;
use crate::rpc;
use crate::wire::{Compare, RequestOp, TxnRequest, TxnResponse};

/// A key of ours in etcd that one write at a time may use.
///
/// A mark that is dropped instead of returned, by a cancelled request for instance, is never used again: the outcome
/// of its write is unknown.
#[derive(Debug)]
pub(crate) struct Mark {
    key: Bytes,
    modified: i64,
    /// The number of the write that uses the mark.
    write: u64,
}

/// The unused marks of this process.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Last in, first out: when there are few writes most marks stay unused, and are removed.
    idle: Mutex<Vec<Mark>>,
    /// Unique for every process and every run.
    name: String,
    made: AtomicU64,
}

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// It happened, at this revision.
    Done(i64),
    /// It did not happen and never will.
    NotDone,
    /// It could not be determined in time.
    Unknown { why: String },
}

impl Marks {
    pub(crate) fn new() -> Self {
        // Two random keys of the standard library's hasher: 128 bits.
        let random = || RandomState::new().build_hasher().finish();
        let name = format!("{:016x}{:016x}", random(), random());
        Self { idle: Mutex::default(), name, made: AtomicU64::new(0) }
    }

    /// A mark for one write, a new one if all are in use.
    pub(crate) async fn take(&self, cluster: &Cluster, deadline: Instant) -> Result<Mark, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(mark) => Ok(mark),
            None => self.make(cluster, deadline).await,
        }
    }

    /// Returns a mark whose last write has a known outcome.
    pub(crate) fn give_back(&self, mark: Mark) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
    }

    /// A new mark. If the response is lost its key is not used again; the next try uses another.
    async fn make(&self, cluster: &Cluster, deadline: Instant) -> Result<Mark, Fault> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mut key = OURS.to_vec();
        key.extend_from_slice(format!("writers/{}/{number}", self.name).as_bytes());
        let key = Bytes::from(key);
        let request = TxnRequest {
            compare: vec![Compare::modified_at(key.clone(), 0)],
            success: vec![RequestOp::put(key.clone(), Bytes::from_static(b"0"))],
            failure: Vec::new(),
        };
        let response = cluster.once(&rpc::TXN, request, deadline).await?;
        if !response.succeeded {
            let why = "a new bookkeeping key exists already in etcd".to_owned();
            return Err(Fault::Refused(EtcdRefusal::Never { why }));
        }
        Ok(Mark { key, modified: response.revision(), write: 0 })
    }
}

impl Mark {
    /// Adds the mark to a transaction: one condition, one write, and one read if it fails, each as the first.
    pub(crate) fn add_to(&mut self, request: &mut TxnRequest) {
        self.write += 1;
        request.compare.insert(0, self.untouched());
        request.success.insert(0, RequestOp::put(self.key.clone(), self.number()));
        request.failure.insert(0, RequestOp::get(self.key.clone()));
    }

    /// The mark after its write happened at this revision.
    pub(crate) fn written(self, revision: i64) -> Self {
        Self { modified: revision, ..self }
    }

    /// Whether the response to a failed transaction contains the mark at its known revision.
    pub(crate) fn is_known_in(&self, response: &TxnResponse) -> bool {
        let found = response.responses.first().and_then(|response| response.found());
        found.is_some_and(|kv| kv.mod_revision == self.modified)
    }

    /// Determines the outcome of the write that used this mark last, and makes it final.
    pub(crate) async fn withdraw(self, cluster: &Cluster, deadline: Instant) -> WriteOutcome {
        let request = TxnRequest {
            compare: vec![self.untouched()],
            success: vec![RequestOp::delete(self.key.clone())],
            failure: vec![RequestOp::get(self.key.clone())],
        };
        let mut backoff = Backoff::default();
        loop {
            let why = match cluster.once(&rpc::TXN, request.clone(), deadline).await {
                Ok(response) => return self.read_withdrawal(&response),
                Err(Fault::NotSent { why } | Fault::Doubtful { why }) => why,
                Err(Fault::Refused(refusal)) => refusal.into_error().to_string(),
            };
            if !backoff.pause_before(deadline).await {
                return WriteOutcome::Unknown { why };
            }
        }
    }

    fn read_withdrawal(&self, response: &TxnResponse) -> WriteOutcome {
        if response.succeeded {
            return WriteOutcome::NotDone;
        }
        match response.responses.first().and_then(|response| response.found()) {
            None => WriteOutcome::NotDone,
            Some(kv) if kv.value == self.number() => WriteOutcome::Done(kv.mod_revision),
            Some(_) => {
                WriteOutcome::Unknown { why: "another process wrote to a reserved key in etcd".to_owned() }
            }
        }
    }

    fn untouched(&self) -> Compare {
        Compare::modified_at(self.key.clone(), self.modified)
    }

    fn number(&self) -> Bytes {
        self.write.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{KeyValue, RangeResponse, ResponseOp};

    fn mark() -> Mark {
        Mark { key: Bytes::from_static(b"!gantry/writers/x/0"), modified: 7, write: 3 }
    }

    fn found(kvs: Vec<KeyValue>) -> TxnResponse {
        let range = Some(RangeResponse { kvs, ..RangeResponse::default() });
        TxnResponse { responses: vec![ResponseOp { range }], ..TxnResponse::default() }
    }

    fn holding(value: &'static str) -> TxnResponse {
        found(vec![KeyValue { mod_revision: 9, value: value.into(), ..KeyValue::default() }])
    }

    #[test]
    fn deleting_the_mark_determines_the_outcome() {
        let done = TxnResponse { succeeded: true, ..TxnResponse::default() };
        assert_eq!(mark().read_withdrawal(&done), WriteOutcome::NotDone);
        assert_eq!(mark().read_withdrawal(&holding("3")), WriteOutcome::Done(9));
        assert_eq!(mark().read_withdrawal(&found(Vec::new())), WriteOutcome::NotDone);
        assert!(matches!(mark().read_withdrawal(&holding("2")), WriteOutcome::Unknown { .. }));
    }

    #[test]
    fn every_write_has_a_unique_number() {
        let mut mark = mark();
        let mut requests = [TxnRequest::default(), TxnRequest::default()];
        for request in &mut requests {
            mark.add_to(request);
        }
        assert_ne!(requests[0].success, requests[1].success);
        assert_ne!(Marks::new().name, Marks::new().name);
    }
}
