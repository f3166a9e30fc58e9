//! The store of a simulation: in memory, on the virtual clock, with an observer of every commit.

use std::collections::BTreeMap;

use bytes::Bytes;
use gantry_runtime::Clock;
use gantry_store::memory::{HistoryLimits, MemoryStore, State};
use gantry_store::{Item, Key, ListRequest, Prefix, Revision, Store as _, Transaction, Versioned};

/// The content of a store at one revision. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct StoreContent {
    revision: Revision,
    live: BTreeMap<Key, Versioned>,
}

/// The writes of one commit.
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

/// A store with this content whose history ages with the virtual clock; `observer` is called for every commit.
pub(super) fn open(
    content: Option<&StoreContent>,
    clock: Clock,
    observer: impl Fn(&Commit) + Send + Sync + 'static,
) -> MemoryStore {
    let limits = HistoryLimits::default();
    let state = match content {
        Some(content) => State::at(content.revision, content.live.clone(), limits),
        None => State::empty(limits),
    };
    let now_millis = move || u64::try_from(clock.now().as_nanos() / 1_000_000).unwrap_or(0);
    MemoryStore::observed(state, now_millis, move |transaction, revision| {
        observer(&Commit::of(transaction, revision));
    })
}

impl StoreContent {
    /// The whole content of a store.
    pub(super) async fn of(store: &MemoryStore) -> Self {
        let all = ListRequest::all(Prefix::new(Bytes::new()));
        let page = store.list(all).await.expect("the current revision can be read");
        let item = |item: Item| (item.key, Versioned { value: item.value, revision: item.revision });
        Self { revision: page.revision, live: page.items.into_iter().map(item).collect() }
    }
}

impl StoreContent {
    /// The values whose keys begin with this prefix.
    pub(super) fn under(&self, prefix: &str) -> Vec<Bytes> {
        let is_under = |key: &Key| key.as_bytes().starts_with(prefix.as_bytes());
        let found = self.live.iter().filter(|(key, _)| is_under(key));
        found.map(|(_, stored)| stored.value.clone()).collect()
    }

    /// Adds a key at a new revision.
    pub(super) fn add(&mut self, key: &str, value: Bytes) {
        let key = Key::new(key.to_owned()).expect("the key of an object is short");
        self.revision = self.revision.next();
        self.live.insert(key, Versioned { value, revision: self.revision });
    }
}

impl Commit {
    fn of(transaction: &Transaction, revision: Revision) -> Self {
        // A key that is stored and deleted in one transaction is absent after it.
        let is_deleted = transaction.following_deletion(revision).is_some();
        let writes = transaction.ops().map(|(key, op)| KeyWrite {
            key: String::from_utf8_lossy(key.as_bytes()).into_owned(),
            value: op.value().filter(|_| !is_deleted).cloned(),
        });
        Self { revision: revision.get(), writes: writes.collect() }
    }
}
