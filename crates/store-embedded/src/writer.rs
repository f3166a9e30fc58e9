//! The writer thread and its queue.
//!
//! Requests that arrive while a batch is being synced share the next one: group commit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use gantry_store::{Error, Revision, Transaction};
use tokio::sync::oneshot;

use crate::disk_health::DiskHealth;
use crate::engine::{BatchResult, Engine, FORGET_EVERY};
use crate::maintenance::MaintenanceRequest;

/// The queued requests.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    requests: Vec<Request>,
    closed: bool,
}

/// The next task of the writer.
enum Taken {
    Requests(Vec<Request>),
    /// Nothing was requested for a while.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

#[derive(Debug)]
pub(crate) enum Request {
    Commit { transaction: Transaction, answer: oneshot::Sender<Result<Revision, Error>> },
    Compact { through: Revision, answer: oneshot::Sender<Result<(), Error>> },
}

/// The maximum number of queued requests. Their callers wait, so there are as many requests as clients; beyond this, an
/// error is better than growing.
const WAITING_MAX: usize = 1 << 16;

/// The maximum size of one batch, so that the first request in a long queue does not wait for the last.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// How long a batch waits for the writers of the previous batch, which will probably write again at once. A sync takes
/// longer.
const LINGER: Duration = Duration::from_micros(60);

/// The time without writes after which the high-water mark is synced separately. A steady writer writes again sooner.
const IDLE: Duration = Duration::from_millis(20);

impl Queue {
    /// Adds a request.
    pub(crate) fn push(&self, request: Request) -> Result<(), Error> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(closed());
        }
        if waiting.requests.len() >= WAITING_MAX {
            return Err(Error::Unavailable { why: format!("{WAITING_MAX} writes are waiting already") });
        }
        waiting.requests.push(request);
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Refuses new requests; queued ones are still written.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    /// All queued requests, as soon as there is one, or [`Taken::Nothing`] after `timeout`.
    fn take(&self, last_batch: usize, timeout: Duration) -> Taken {
        let idle = |waiting: &mut Waiting| waiting.requests.is_empty() && !waiting.closed;
        let waited = self.arrived.wait_timeout_while(self.lock(), timeout, idle);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        if idle(&mut waiting) {
            return Taken::Nothing;
        }
        if last_batch > 1 {
            let few = |waiting: &mut Waiting| waiting.requests.len() < last_batch && !waiting.closed;
            let lingered = self.arrived.wait_timeout_while(waiting, LINGER, few);
            waiting = lingered.unwrap_or_else(PoisonError::into_inner).0;
        }
        let requests = std::mem::take(&mut waiting.requests);
        if requests.is_empty() { Taken::Closed } else { Taken::Requests(requests) }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the writer; it ends when the queue is closed and empty.
pub(crate) fn start(
    engine: Engine,
    queue: Arc<Queue>,
    health: Arc<DiskHealth>,
) -> std::io::Result<JoinHandle<()>> {
    let mut writer = Writer { engine, health };
    thread::Builder::new().name("store-writer".to_owned()).spawn(move || {
        let mut last_batch = 0;
        loop {
            let is_mark_unsynced = writer.engine.is_mark_unsynced();
            match queue.take(last_batch, if is_mark_unsynced { IDLE } else { FORGET_EVERY }) {
                Taken::Requests(requests) => {
                    last_batch = requests.len();
                    writer.write(requests);
                    writer.engine.forget();
                }
                Taken::Nothing if is_mark_unsynced => {
                    writer.engine.sync_mark();
                    writer.record_health();
                }
                Taken::Nothing => writer.engine.forget(),
                Taken::Closed => break,
            }
        }
        writer.engine.close();
        writer.engine.live().close("the store is closed").wake();
    })
}

/// The error of a closed store.
pub(crate) fn closed() -> Error {
    Error::Unavailable { why: "the store is closed".to_owned() }
}

/// The engine, and where the writer records whether the disk accepts its writes.
struct Writer {
    engine: Engine,
    health: Arc<DiskHealth>,
}

impl Writer {
    /// Carries out requests in their order, in as few batches as possible.
    fn write(&mut self, requests: Vec<Request>) {
        let mut batch = Batch::default();
        for request in requests {
            match request {
                Request::Commit { transaction, answer } => {
                    batch.push(transaction, answer);
                    if batch.bytes >= BATCH_BYTES_MAX {
                        self.write_batch(std::mem::take(&mut batch));
                    }
                }
                Request::Compact { through, answer } => {
                    self.write_batch(std::mem::take(&mut batch));
                    let compacted = self.engine.compact(through);
                    self.record_health();
                    // A caller that was dropped does not need the response.
                    let _ = answer.send(compacted);
                }
            }
        }
        self.write_batch(batch);
    }

    /// Commits a batch and sends the responses. The health is recorded first: a client whose write failed must not find
    /// the store healthy.
    fn write_batch(&mut self, batch: Batch) {
        if batch.transactions.is_empty() {
            return;
        }
        let BatchResult { answers, wakes } = self.engine.commit(batch.transactions);
        self.record_health();
        for (waiting, answer) in batch.answers.into_iter().zip(answers) {
            // A caller that was dropped does not need the response.
            let _ = waiting.send(answer);
        }
        if let Some(wakes) = wakes {
            wakes.wake();
        }
    }

    fn record_health(&self) {
        if self.health.record_write(self.engine.failure()) {
            // It retries until there is space.
            self.engine.maintenance().request_run(MaintenanceRequest::Run);
        }
    }
}

/// Transactions to be written together, and the senders of their responses.
#[derive(Default)]
struct Batch {
    transactions: Vec<Transaction>,
    answers: Vec<oneshot::Sender<Result<Revision, Error>>>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, transaction: Transaction, answer: oneshot::Sender<Result<Revision, Error>>) {
        self.bytes += transaction.bytes();
        self.transactions.push(transaction);
        self.answers.push(answer);
    }
}
