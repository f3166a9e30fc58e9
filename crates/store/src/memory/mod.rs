//! The in-memory store: a backend without durability, and the live state for durable ones.
//!
//! `State` is the revisioned map, `Live` shares it, `Staged` is a batch between decision and visibility, and
//! `MemoryStore` is the port over them. Start at [`State`].

mod byte_log;
mod cursor;
mod delta;
mod history;
mod live;
mod staged;
mod state;
mod watch_hub;
mod watcher;

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::port::{Answer, Bounds, Fetched, ListRequest, Page, Store, VALUE_BYTES_MAX};
use crate::{Error, Key, Prefix, Revision, Transaction, Watch};

pub use cursor::Cursor;
pub use history::HistoryLimits;
pub use live::{Live, SteppedRead, Wakes};
pub use staged::Staged;
pub use state::{State, Usage};

/// A store that lives as long as its process.
#[derive(Clone)]
pub struct MemoryStore {
    live: Arc<Live>,
    now_millis: Arc<dyn Fn() -> u64 + Send + Sync>,
    on_commit: Arc<OnCommit>,
}

type OnCommit = dyn Fn(&Transaction, Revision) + Send + Sync;

impl MemoryStore {
    /// An empty store.
    pub fn new(limits: HistoryLimits) -> Self {
        Self::observed(State::empty(limits), now_millis, |_, _| {})
    }

    /// A store with this state, whose history ages by the given time since the epoch. `on_commit` is called with every commit and its
    /// revision, before watchers are notified.
    pub fn observed(
        state: State,
        now_millis: impl Fn() -> u64 + Send + Sync + 'static,
        on_commit: impl Fn(&Transaction, Revision) + Send + Sync + 'static,
    ) -> Self {
        Self { live: Live::new(state), now_millis: Arc::new(now_millis), on_commit: Arc::new(on_commit) }
    }

    /// How much the store holds.
    pub fn usage(&self) -> Usage {
        self.live.usage()
    }

    fn commit_now(&self, transaction: &Transaction) -> Result<Revision, Error> {
        if transaction.bytes() > VALUE_BYTES_MAX {
            return Err(Error::TooLarge { bytes_max: VALUE_BYTES_MAX });
        }
        let (revision, wakes) = self.live.commit(transaction.detached(), (self.now_millis)())?;
        (self.on_commit)(transaction, revision);
        wakes.wake();
        Ok(revision)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("live", &self.live).finish_non_exhaustive()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(HistoryLimits::default())
    }
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(async { Ok(self.live.get(key)) })
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async move { self.live.list(&request) })
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(async move { self.commit_now(&transaction) })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(async move { self.live.watch(prefix, after) })
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        Box::pin(async move { self.live.compact(through) })
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        Box::pin(async { Ok(self.live.bounds()) })
    }
}

fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
