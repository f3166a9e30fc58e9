//! The history checker: was what clients saw explained by one sequence of writes?
//!
//! [`Recorded`] wraps any store and writes down every request with its answer and the moments between which it
//! happened. [`Load`] makes a lot of them at once. Afterwards [`Recorder::verdict`] replays the store's own log of
//! changes, revision by revision, and holds every answer against it: revisions make the search for an order, which is
//! what makes such checkers slow, unnecessary.
//!
//! It knows the port and nothing of any backend, so it judges all of them, through crashes and reconnects.

#![allow(clippy::missing_panics_doc, reason = "a checker judges by panicking")]

mod load;
mod recorded;
mod timeline;
mod verdict;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use load::Load;
pub use recorded::Recorded;
pub use verdict::Violation;

use crate::{Error, Event, Fetched, Key, ListRequest, Notice, Page, Prefix, Revision, Store, Transaction};
use timeline::Timeline;

/// Everything that was asked and answered.
#[derive(Debug, Default)]
pub struct Recorder {
    clock: AtomicU64,
    entries: Mutex<Vec<Entry>>,
}

/// One request with its answer.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The tick before the request was made.
    pub(crate) began: u64,
    /// The tick after the answer was there.
    pub(crate) ended: u64,
    pub(crate) seen: Seen,
}

/// What a client saw.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    Commit { transaction: Transaction, answer: Result<Revision, Error> },
    Get { key: Key, fetched: Fetched },
    List { request: ListRequest, page: Page },
    Watch { prefix: Prefix, after: Revision, notices: Vec<Notice> },
}

impl Recorder {
    /// An empty record.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// How many requests have been recorded.
    pub fn len(&self) -> usize {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether nothing has been recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the store's log of changes after `start` and judges everything recorded by it.
    ///
    /// The store must have been empty at `start`, must remember everything since, and must have had no other clients.
    pub async fn verdict(&self, store: &dyn Store, start: Revision) -> Result<(), Vec<Violation>> {
        let log = log_of(store, start).await.map_err(|error| vec![Violation::Unreadable(error)])?;
        self.judge(start, &log)
    }

    /// Judges everything recorded by a log of changes.
    pub(crate) fn judge(&self, start: Revision, log: &[Arc<Event>]) -> Result<(), Vec<Violation>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut violations = Vec::new();
        let timeline = Timeline::replay(start, log, &mut violations);
        verdict::judge(&timeline, &entries, &mut violations);
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }

    pub(crate) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn record(&self, began: u64, seen: Seen) {
        let entry = Entry { began, ended: self.tick(), seen };
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

async fn log_of(store: &dyn Store, start: Revision) -> Result<Vec<Arc<Event>>, Error> {
    let mut log = Vec::new();
    let mut watch = store.watch(Prefix::ALL, start).await?;
    let current = store.bounds().await?.current;
    watch.request_progress();
    while let Some(notice) = watch.next().await {
        match notice? {
            Notice::Change(event) => log.push(event),
            Notice::Progress(revision) if revision >= current => break,
            Notice::Progress(_) => watch.request_progress(),
        }
    }
    Ok(log)
}
