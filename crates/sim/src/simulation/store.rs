//! The store of a simulation: in memory, on the virtual clock, with an observer of every commit.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use gantry_runtime::Clock;
use gantry_store::memory::{HistoryLimits, Live, State};
use gantry_store::{
    Answer, Bounds, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Versioned, Watch,
};

/// The content of a store at one revision. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct StoreContent {
    revision: Revision,
    live: BTreeMap<Key, Versioned>,
}

/// What one commit wrote.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The revision of the store after it.
    pub revision: u64,
    /// The keys and their new values, in the order of keys.
    pub writes: Vec<KeyWrite>,
}

/// One written key.
#[derive(Clone, Debug)]
pub struct KeyWrite {
    /// The key, such as `/registry/pods/default/web-1`.
    pub key: String,
    /// The object as JSON; `None` if the key was deleted.
    pub value: Option<Bytes>,
}

type Observer = Arc<dyn Fn(Commit) + Send + Sync>;

/// A store in memory whose history ages with the virtual clock.
pub(super) struct SimStore {
    live: Arc<Live>,
    clock: Clock,
    observer: Observer,
}

impl SimStore {
    pub(super) fn new(content: Option<&StoreContent>, clock: Clock, observer: Observer) -> Self {
        let limits = HistoryLimits::default();
        let state = match content {
            Some(content) => State::at(content.revision, content.live.clone(), limits),
            None => State::empty(limits),
        };
        Self { live: Live::new(state), clock, observer }
    }

    /// Everything in the store.
    pub(super) fn content(&self) -> StoreContent {
        let all = ListRequest::all(Prefix::new(Bytes::new()));
        let page = self.live.list(&all).expect("the current revision can be read");
        let item =
            |item: gantry_store::Item| (item.key, Versioned { value: item.value, revision: item.revision });
        StoreContent { revision: page.revision, live: page.items.into_iter().map(item).collect() }
    }

    fn commit_now(&self, transaction: &Transaction) -> Result<Revision, gantry_store::Error> {
        let millis = u64::try_from(self.clock.now().as_nanos() / 1_000_000).unwrap_or(0);
        let mut writes: Vec<KeyWrite> = transaction
            .ops()
            .map(|(key, op)| KeyWrite { key: text(key), value: op.value().cloned() })
            .collect();
        let (revision, wakes) = self.live.commit(transaction.detached(), millis)?;
        if transaction.following_deletion(revision).is_some() {
            for write in &mut writes {
                write.value = None;
            }
        }
        (self.observer)(Commit { revision: revision.get(), writes });
        wakes.wake();
        Ok(revision)
    }
}

fn text(key: &Key) -> String {
    String::from_utf8_lossy(key.as_bytes()).into_owned()
}

impl Store for SimStore {
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

impl fmt::Debug for SimStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimStore").field("revision", &self.live.bounds().current).finish_non_exhaustive()
    }
}
