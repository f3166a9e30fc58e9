//! The port every backend implements and the API server is written against.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::pin::Pin;

use bytes::Bytes;

use crate::{Error, Key, Prefix, Revision, Transaction, Versioned, Watch};

/// The largest value that every backend accepts; Kubernetes refuses requests above 3 MiB.
///
/// etcd accepts 1.5 MiB unless its `--max-request-bytes` is raised; its backend returns [`Error::TooLarge`] beyond.
pub const VALUE_BYTES_MAX: usize = 4 << 20;

/// The maximum number of writes in one transaction that every backend accepts; it is etcd's limit.
pub const TRANSACTION_OPS_MAX: usize = 128;

/// The future that a method of the port returns.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A key-value store with one global, strictly growing revision.
///
/// Reads are linearizable: they see every write acknowledged before they began, and nothing that is not durable.
/// A write is acknowledged when it is durable in the sense of its backend.
///
/// A future does nothing before it is first polled. Dropping the future of a commit that was polled leaves its
/// outcome open: the write may still happen.
pub trait Store: Debug + Send + Sync {
    /// Reads one key.
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched>;

    /// Reads a page of the keys under a prefix, at the current or a past revision.
    ///
    /// Fails with [`Error::Compacted`] or [`Error::FutureRevision`] if that revision cannot be read.
    fn list(&self, request: ListRequest) -> Answer<'_, Page>;

    /// Writes all of the transaction at one new revision, which it returns, or nothing.
    ///
    /// Fails with [`Error::Conflict`] naming the first key, in key order, whose condition does not hold. Every backend
    /// takes up to [`TRANSACTION_OPS_MAX`] writes and [`VALUE_BYTES_MAX`] bytes; beyond, [`Error::TooLarge`].
    ///
    /// [`Transaction::update_and_delete`] takes two revisions. A crash leaves both or neither, except with etcd, where
    /// it may leave the first.
    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision>;

    /// Watches all changes under the prefix after the revision.
    ///
    /// [`Error::Compacted`] is returned here or as the first item of the watch. A revision in the future is allowed:
    /// the watch returns nothing until the store is past it.
    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch>;

    /// Compacts history: afterwards `through` is the oldest revision that can be read and watched from.
    ///
    /// A revision that is compacted already is no error; one that the store has not reached is
    /// [`Error::FutureRevision`]. A backend may also compact on its own, by age and size.
    fn compact(&self, through: Revision) -> Answer<'_, ()>;

    /// The oldest and the current revision.
    fn bounds(&self) -> Answer<'_, Bounds>;

    /// Whether a crash leaves both changes of [`Transaction::update_and_delete`] or neither.
    fn commits_both_or_neither(&self) -> bool {
        true
    }

    /// Whether the store works: an error has the reason why reads or writes fail at present.
    ///
    /// It is cheap enough to be called every second. A backend that can serve reads while it refuses writes has to
    /// report that here.
    fn health(&self) -> Answer<'_, ()> {
        Box::pin(async { self.bounds().await.map(drop) })
    }
}

/// The result of a read of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The revision of the store at the time of the read.
    pub revision: Revision,
    /// The value, if the key exists.
    pub found: Option<Versioned>,
}

/// Which part of the store to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// The keys to read.
    pub prefix: Prefix,
    /// The key to begin with, inclusive: the `next` of the page before.
    pub start: Option<Key>,
    /// The maximum number of items.
    pub limit: Option<NonZeroUsize>,
    /// The revision to read at; `None` for the current one.
    pub at: Option<Revision>,
}

/// Some of the keys under a prefix, in key order, at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The revision of the page: the requested one, otherwise the current one.
    pub revision: Revision,
    /// The items, in key order.
    pub items: Vec<Item>,
    /// Where the next page starts; `None` when this is the last.
    pub next: Option<Key>,
    /// The number of items on later pages at this revision.
    pub remaining: u64,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Bytes,
    /// The revision that wrote it.
    pub revision: Revision,
}

/// The range of revisions that a store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The oldest revision that can be read and watched from. etcd calls it the compact revision.
    pub floor: Revision,
    /// The revision of the last write.
    pub current: Revision,
}

impl ListRequest {
    /// Everything under the prefix at the current revision.
    pub fn all(prefix: Prefix) -> Self {
        Self { prefix, start: None, limit: None, at: None }
    }

    /// The same request at a past revision.
    pub fn at(mut self, revision: Revision) -> Self {
        self.at = Some(revision);
        self
    }

    /// The same request with a page size; zero means no limit.
    pub fn limit(mut self, items_max: usize) -> Self {
        self.limit = NonZeroUsize::new(items_max);
        self
    }

    /// The same request from this key on.
    pub fn start(mut self, key: Key) -> Self {
        self.start = Some(key);
        self
    }
}
