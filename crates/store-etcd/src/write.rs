//! Writes: a transaction of the port as one of etcd's, and the handling of its possible results.
//!
//! A transaction happens once or not at all, and its caller is notified which, also when connections break: see
//! [`mark`](crate::mark). Two kinds of transactions have no mark:
//! - one of [`TRANSACTION_OPS_MAX`] writes, because etcd accepts no more operations than that;
//! - one that only deletes, once etcd has refused it with its mark for lack of space: deleting frees space.
//!
//! If the response to one of these is lost, or the settings say so, the caller gets [`Error::OutcomeUnknown`].

use std::time::Duration;

use bytes::Bytes;
use gantry_store::{Error, Op, Revision, TRANSACTION_OPS_MAX, Transaction, VALUE_BYTES_MAX};
use tokio::time::Instant;

use crate::cluster::{Backoff, Cluster};
use crate::convert::{number, revision, versioned};
use crate::fault::{EtcdRefusal, Fault, out_of_space};
use crate::keyspace;
use crate::mark::{Mark, Marks, WriteOutcome};
use crate::rpc;
use crate::settings::LostAnswers;
use crate::wire::{Compare, RequestOp, TxnRequest, TxnResponse};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) marks: &'a Marks,
    pub(crate) lost_answers: LostAnswers,
    pub(crate) resolve_timeout: Duration,
}

/// The result of one try of a transaction.
enum Tried {
    Final(Result<Revision, Error>),
    /// Nothing happened, for a temporary reason.
    NotDone {
        why: String,
    },
    /// Nothing happened, because etcd has no space.
    NoSpace,
    /// Nothing happened, because our mark was removed meanwhile.
    MarkGone,
}

impl Writer<'_> {
    /// Commits the transaction, and the deletion that follows it.
    ///
    /// etcd has no transaction that writes a key twice. A process that ends between the two leaves the first alone.
    pub(crate) async fn commit(self, transaction: &Transaction) -> Result<Revision, Error> {
        let committed_at = self.commit_one(transaction).await?;
        match transaction.following_deletion(committed_at) {
            Some(deletion) => self.commit_one(&deletion).await,
            None => Ok(committed_at),
        }
    }

    /// Commits one transaction of etcd, retrying as long as it is known that nothing happened.
    async fn commit_one(self, transaction: &Transaction) -> Result<Revision, Error> {
        keyspace::check(transaction)?;
        let conditions = transaction.conditions().count();
        if transaction.bytes() > VALUE_BYTES_MAX || conditions > TRANSACTION_OPS_MAX {
            return Err(Error::TooLarge { bytes_max: VALUE_BYTES_MAX });
        }
        let deadline = self.cluster.deadline();
        let mut is_marked = self.lost_answers == LostAnswers::Resolve && conditions < TRANSACTION_OPS_MAX;
        let mut backoff = Backoff::default();
        loop {
            let tried = if is_marked {
                self.try_marked(transaction, deadline).await
            } else {
                self.try_unmarked(transaction, deadline).await
            };
            match tried {
                Tried::Final(result) => return result,
                Tried::MarkGone => {}
                Tried::NoSpace if is_marked && only_deletes(transaction) => is_marked = false,
                Tried::NoSpace => return Err(out_of_space()),
                Tried::NotDone { why } => {
                    if !backoff.pause_before(deadline).await {
                        return Err(Error::Unavailable { why });
                    }
                }
            }
        }
    }

    async fn try_marked(self, transaction: &Transaction, deadline: Instant) -> Tried {
        let mut mark = match self.marks.take(self.cluster, deadline).await {
            Ok(mark) => mark,
            // In either case, the transaction was not sent.
            Err(Fault::Doubtful { why }) => return Tried::NotDone { why },
            Err(fault) => return nothing_done(fault),
        };
        let mut request = request(transaction);
        mark.add_to(&mut request);
        match self.cluster.once(&rpc::TXN, request, deadline).await {
            Ok(response) if response.succeeded => {
                self.marks.give_back(mark.written(response.revision()));
                Tried::Final(Ok(revision(response.revision())))
            }
            Ok(response) => {
                let is_known = mark.is_known_in(&response);
                if is_known {
                    self.marks.give_back(mark);
                }
                match conflict(transaction, response.responses.get(1..).unwrap_or_default()) {
                    Some(conflict) => Tried::Final(Err(conflict)),
                    None => Tried::MarkGone,
                }
            }
            Err(Fault::Doubtful { why }) => self.settle(mark, Tried::NotDone { why }).await,
            Err(Fault::Refused(EtcdRefusal::NoSpace)) => self.settle(mark, Tried::NoSpace).await,
            Err(fault) => {
                self.marks.give_back(mark);
                nothing_done(fault)
            }
        }
    }

    /// Determines whether the write happened; `otherwise` is the result if it did not.
    async fn settle(self, mark: Mark, otherwise: Tried) -> Tried {
        let deadline = Instant::now() + self.resolve_timeout;
        match mark.withdraw(self.cluster, deadline).await {
            WriteOutcome::Done(at) => Tried::Final(Ok(revision(at))),
            WriteOutcome::NotDone => otherwise,
            WriteOutcome::Unknown { why } => Tried::Final(Err(Error::OutcomeUnknown { why })),
        }
    }

    async fn try_unmarked(self, transaction: &Transaction, deadline: Instant) -> Tried {
        match self.cluster.once(&rpc::TXN, request(transaction), deadline).await {
            Ok(response) => Tried::Final(read_unmarked(transaction, &response)),
            Err(Fault::Doubtful { why }) => Tried::Final(Err(Error::OutcomeUnknown { why })),
            Err(Fault::Refused(EtcdRefusal::NoSpace)) => self.check_refused(transaction).await,
            Err(fault) => nothing_done(fault),
        }
    }

    /// Whether an unmarked write that was refused for lack of space was done nevertheless.
    ///
    /// etcd has responded, so nothing is in progress any more: while all conditions hold, it was not done.
    async fn check_refused(self, transaction: &Transaction) -> Tried {
        let conditions = TxnRequest { compare: request(transaction).compare, ..TxnRequest::default() };
        match self.cluster.retry(&rpc::TXN, &conditions).await {
            Ok(response) if response.succeeded => Tried::NoSpace,
            _ => {
                let why = "etcd exceeded its quota with this write".to_owned();
                Tried::Final(Err(Error::OutcomeUnknown { why }))
            }
        }
    }
}

/// The result of a try that is known to have done nothing.
fn nothing_done(fault: Fault) -> Tried {
    match fault {
        Fault::NotSent { why } | Fault::Doubtful { why } | Fault::Refused(EtcdRefusal::NotNow { why }) => {
            Tried::NotDone { why }
        }
        Fault::Refused(EtcdRefusal::NoSpace) => Tried::NoSpace,
        Fault::Refused(refusal) => Tried::Final(Err(refusal.into_error())),
    }
}

fn read_unmarked(transaction: &Transaction, response: &TxnResponse) -> Result<Revision, Error> {
    if response.succeeded {
        return Ok(revision(response.revision()));
    }
    let nothing = || Error::Unavailable { why: "etcd refused a write without a reason".to_owned() };
    Err(conflict(transaction, &response.responses).unwrap_or_else(nothing))
}

/// The transaction in etcd's form: its conditions, its writes, and the keys to read if a condition does not hold.
fn request(transaction: &Transaction) -> TxnRequest {
    let mut request = TxnRequest::default();
    for (key, expected) in transaction.conditions() {
        let key = Bytes::copy_from_slice(key.as_bytes());
        // 0 is etcd's "absent".
        request.compare.push(Compare::modified_at(key.clone(), expected.map_or(0, number)));
        request.failure.push(RequestOp::get(key));
    }
    for (key, op) in transaction.ops() {
        let key = Bytes::copy_from_slice(key.as_bytes());
        request.success.push(match op {
            Op::Create { value } | Op::Update { value, .. } => RequestOp::put(key, value.clone()),
            Op::Delete { .. } => RequestOp::delete(key),
        });
    }
    request
}

/// The first key whose condition does not hold, according to the values read.
fn conflict(transaction: &Transaction, read: &[crate::wire::ResponseOp]) -> Option<Error> {
    transaction.conditions().zip(read).find_map(|((key, expected), response)| {
        let current = response.found().map(versioned);
        let holds = current.as_ref().map(|current| current.revision) == expected;
        (!holds).then(|| Error::Conflict { key: key.clone(), current })
    })
}

fn only_deletes(transaction: &Transaction) -> bool {
    transaction.ops().all(|(_, op)| matches!(op, Op::Delete { .. }))
}
