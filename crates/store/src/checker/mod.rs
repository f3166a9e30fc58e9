//! The history checker: whether one sequence of writes explains everything that clients saw.
//!
//! [`Recorded`] wraps any store and records every request with its response and the times between which it happened.
//! [`Load`] makes many of them concurrently. Afterwards [`HistoryRecorder::verdict`] replays the store's own log of
//! changes, revision by revision, and compares every response with it: revisions make the search for an order, which
//! makes such checkers slow, unnecessary.
//!
//! It depends on the port only, so it checks all backends, through crashes and reconnects.

#![allow(clippy::missing_panics_doc, reason = "a checker fails by panicking")]

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

/// All recorded requests and responses.
#[derive(Debug, Default)]
pub struct HistoryRecorder {
    clock: AtomicU64,
    entries: Mutex<Vec<Entry>>,
}

/// A request with its response.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The tick before the request was made.
    pub(crate) began: u64,
    /// The tick after the response was received.
    pub(crate) ended: u64,
    pub(crate) seen: Observation,
}

#[derive(Clone, Debug)]
pub(crate) enum Observation {
    Commit { transaction: Transaction, answer: Result<Revision, Error> },
    Get { key: Key, fetched: Fetched },
    List { request: ListRequest, page: Page },
    Watch { prefix: Prefix, after: Revision, notices: Vec<Notice> },
}

impl HistoryRecorder {
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

    /// Reads the store's log of changes after `start` and checks all records with it.
    ///
    /// The store must have been empty at `start`, must have all history since, and must have had no other clients.
    pub async fn verdict(&self, store: &dyn Store, start: Revision) -> Result<(), Vec<Violation>> {
        let log = log_of(store, start).await.map_err(|error| vec![Violation::Unreadable(error)])?;
        self.check(start, &log)
    }

    /// Checks all records with a log of changes.
    pub(crate) fn check(&self, start: Revision, log: &[Arc<Event>]) -> Result<(), Vec<Violation>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut violations = Vec::new();
        let timeline = Timeline::replay(start, log, &mut violations);
        verdict::check(&timeline, &entries, &mut violations);
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }

    pub(crate) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn record(&self, began: u64, seen: Observation) {
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
