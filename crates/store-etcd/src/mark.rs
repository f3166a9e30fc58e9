//! Marks: how we find out what became of a write whose answer was lost.
//!
//! The trouble. A connection breaks after a transaction was sent. It may have been done; it may be done a moment later,
//! while it waits in a follower or in the log of the leader; or never. Reading the keys does not tell: what is not there
//! now may come, and what is there, or gone, may be someone else's doing, byte for byte the same.
//!
//! The mark. Every transaction also writes a number to a key of ours that no other write uses meanwhile, on the condition
//! that this key is still at the revision we know. So the transaction has left its number there, or it has not happened.
//! To make sure that it never will, the mark is *withdrawn*: deleted on the same condition. Of the transaction and the
//! withdrawal only one can ever be done, because revisions do not repeat. So:
//!
//! | the withdrawal                         | the write                                      |
//! |----------------------------------------|------------------------------------------------|
//! | is done                                | has not happened and cannot happen any more    |
//! | finds our number                       | has happened, at the revision of the mark      |
//! | finds nothing                          | has not happened: an earlier try to withdraw,  |
//! |                                        | its answer lost too, was done                  |
//! | has no answer                          | is still in doubt; withdraw again              |
//!
//! This holds for creates, updates, deletes and any mix of them. Deleting costs no quota, so it also works when etcd is
//! full. Marks nobody has used for [`MARK_IDLE`](crate::settings::MARK_IDLE) are swept away by the compactor; every
//! question about a mark is asked well before that.
//!
//! What stays in doubt: etcd does not come back within the resolve timeout; and the transactions that cannot be marked,
//! see `write`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use crate::cluster::{Backoff, Cluster};
use crate::fault::{Fault, Refusal};
use crate::keyspace::OURS;
use crate::rpc;
use crate::wire::{Compare, RequestOp, TxnRequest, TxnResponse};

/// A key of ours in etcd that one write at a time may use.
///
/// A mark that is dropped instead of given back is never used again: whoever drops it, a cancelled request for one, does
/// not know what became of its write.
#[derive(Debug)]
pub(crate) struct Mark {
    key: Bytes,
    /// The revision the key is at.
    modified: i64,
    /// The number of the write that uses the mark, one more for each.
    write: u64,
}

/// The marks of this process that nobody uses at the moment.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Last in, first out: in quiet times most marks rest, and are swept away.
    idle: Mutex<Vec<Mark>>,
    /// Our name, different from that of every other process and every run.
    name: String,
    made: AtomicU64,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It happened, at this revision.
    Done(i64),
    /// It did not and never will.
    NotDone,
    /// It could not be found out in time.
    Unknown { why: String },
}

impl Marks {
    pub(crate) fn new() -> Self {
        // Two random keys of the standard library's hasher: 128 bits nobody else draws.
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

    /// Gives back a mark of whose last write the outcome is known.
    pub(crate) fn give_back(&self, mark: Mark) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
    }

    /// A new mark. If the answer is lost its key is not used again; the next try takes another.
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
        let answer = cluster.once(rpc::TXN, request, deadline).await?;
        if !answer.succeeded {
            let why = "a new bookkeeping key of ours exists already in etcd".to_owned();
            return Err(Fault::Refused(Refusal::Never { why }));
        }
        Ok(Mark { key, modified: answer.revision(), write: 0 })
    }
}

impl Mark {
    /// Adds the mark to a transaction: one condition, one write, and one read if it fails, each in front.
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

    /// Whether the answer to a failed transaction shows the mark as we know it.
    pub(crate) fn is_known_in(&self, answer: &TxnResponse) -> bool {
        let found = answer.responses.first().and_then(|response| response.found());
        found.is_some_and(|kv| kv.mod_revision == self.modified)
    }

    /// Finds out what became of the write that used this mark last, and makes it final.
    pub(crate) async fn withdraw(self, cluster: &Cluster, deadline: Instant) -> Outcome {
        let request = TxnRequest {
            compare: vec![self.untouched()],
            success: vec![RequestOp::delete(self.key.clone())],
            failure: vec![RequestOp::get(self.key.clone())],
        };
        let mut backoff = Backoff::default();
        loop {
            let why = match cluster.once(rpc::TXN, request.clone(), deadline).await {
                Ok(answer) => return self.read_withdrawal(&answer),
                Err(Fault::NotSent { why } | Fault::Doubtful { why }) => why,
                Err(Fault::Refused(refusal)) => refusal.into_error().to_string(),
            };
            if !backoff.pause_before(deadline).await {
                return Outcome::Unknown { why };
            }
        }
    }

    fn read_withdrawal(&self, answer: &TxnResponse) -> Outcome {
        if answer.succeeded {
            return Outcome::NotDone;
        }
        match answer.responses.first().and_then(|response| response.found()) {
            None => Outcome::NotDone,
            Some(kv) if kv.value == self.number() => Outcome::Done(kv.mod_revision),
            Some(_) => Outcome::Unknown { why: "someone else wrote to our bookkeeping in etcd".to_owned() },
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
    fn the_withdrawal_tells_what_became_of_the_write() {
        let done = TxnResponse { succeeded: true, ..TxnResponse::default() };
        assert_eq!(mark().read_withdrawal(&done), Outcome::NotDone);
        assert_eq!(mark().read_withdrawal(&holding("3")), Outcome::Done(9));
        assert_eq!(mark().read_withdrawal(&found(Vec::new())), Outcome::NotDone);
        assert!(matches!(mark().read_withdrawal(&holding("2")), Outcome::Unknown { .. }));
    }

    #[test]
    fn every_write_has_a_number_of_its_own() {
        let mut mark = mark();
        let mut requests = [TxnRequest::default(), TxnRequest::default()];
        for request in &mut requests {
            mark.add_to(request);
        }
        assert_ne!(requests[0].success, requests[1].success);
        assert_ne!(Marks::new().name, Marks::new().name);
    }
}
