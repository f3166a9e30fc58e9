//! A cache of a value computed from all objects of some kinds, at least as new as every write that this server
//! acknowledged.
//!
//! A watch of each kind updates it. No task runs in the background: a read checks whether the watches have events, and
//! if so, or after a write to such an object by this server, one of the reads refreshes the cache while the others wait
//! for it. Otherwise no read waits for another one: with many requests at once, each would wait until all before it
//! have been scheduled. Writes of other servers become visible when the watches deliver them.

use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use gantry_json::Value;
use gantry_schema::kinds::{Kind, kinds};
use gantry_store::{Change, Error, Event, ListRequest, Notice, Revision, Store, Watch};
use tokio::sync::Notify;

use crate::heavy_work::off_worker_if_heavy;
use crate::objects::Objects;
use crate::storage_codec;

/// A value computed from objects.
pub(crate) trait Projection: Clone + Default {
    /// Whether objects of this kind are part of it.
    fn includes(kind: &Kind) -> bool;

    /// Adds an object, replacing an older one of the same name.
    fn add(&mut self, object: &Value);

    /// Removes an object.
    fn remove(&mut self, object: &Value);
}

/// A cached projection.
pub(crate) struct StoreCache<P> {
    /// `None` before it is loaded and while it is refreshed. The lock is held for short times only.
    state: Mutex<Option<CacheState<P>>>,
    is_refreshing: AtomicBool,
    refreshed: Notify,
    /// The number of acknowledged writes of this server.
    writes: AtomicU64,
}

/// The right to refresh the cache. Dropping it wakes the reads that wait, whether it was refreshed or not.
struct Refresh<'a, P>(&'a StoreCache<P>);

/// The projection and the watches that update it.
struct CacheState<P> {
    projection: Arc<P>,
    watches: Vec<WatchedKind>,
    /// The number of writes that are included.
    writes: u64,
}

/// The watch of one kind.
struct WatchedKind {
    kind: &'static Kind,
    watch: Watch,
    reached: Revision,
    /// Events that were delivered and are not applied yet.
    unapplied: VecDeque<Arc<Event>>,
    /// Why the watch failed, if it did.
    failure: Option<Error>,
}

/// A pending write. It is counted when this is dropped, whether it succeeded or not.
pub(crate) struct PendingWrite<'a>(&'a AtomicU64);

impl<P: Projection> StoreCache<P> {
    /// The projection, including every write of this server that was acknowledged before.
    pub(crate) async fn current(&self, store: &dyn Store) -> Result<Arc<P>, Error> {
        let writes = self.writes.load(Ordering::Acquire);
        loop {
            let mut refreshed = pin!(self.refreshed.notified());
            refreshed.as_mut().enable();
            if let Some(projection) = self.up_to_date(writes) {
                return Ok(projection);
            }
            if !self.is_refreshing.swap(true, Ordering::AcqRel) {
                return Refresh(self).run(store).await;
            }
            refreshed.await;
        }
    }

    /// The projection, if it includes this many writes and the watches have no new events.
    fn up_to_date(&self, writes: u64) -> Option<Arc<P>> {
        let mut state = self.state();
        let state = state.as_mut().filter(|state| state.writes >= writes)?;
        let has_pending_events = state.watches.iter_mut().any(WatchedKind::has_pending_events);
        (!has_pending_events).then(|| Arc::clone(&state.projection))
    }

    fn state(&self) -> MutexGuard<'_, Option<CacheState<P>>> {
        // It is replaced as a whole, so it is valid even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pending_write(&self) -> PendingWrite<'_> {
        PendingWrite(&self.writes)
    }
}

impl<P: Projection> Refresh<'_, P> {
    /// Applies the delivered events, or loads the cache.
    async fn run(self, store: &dyn Store) -> Result<Arc<P>, Error> {
        let writes = self.0.writes.load(Ordering::Acquire);
        let mut state = self.0.state().take();
        if let Some(known) = &mut state
            && known.catch_up(store, writes).await.is_err()
        {
            // Watches fail, for example when their history was compacted.
            state = None;
        }
        let state = match state {
            Some(state) => state,
            None => CacheState::load(store, writes).await?,
        };
        let projection = Arc::clone(&state.projection);
        *self.0.state() = Some(state);
        Ok(projection)
    }
}

impl<P> Drop for Refresh<'_, P> {
    fn drop(&mut self) {
        self.0.is_refreshing.store(false, Ordering::Release);
        self.0.refreshed.notify_waiters();
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl<P: Projection> CacheState<P> {
    async fn load(store: &dyn Store, writes: u64) -> Result<Self, Error> {
        let mut projection = P::default();
        let mut watches = Vec::new();
        for kind in kinds().all().filter(|kind| P::includes(kind)) {
            let prefix = Objects::prefix(kind, None);
            let page = store.list(ListRequest::all(prefix.clone())).await?;
            for item in &page.items {
                // Objects that cannot be decoded are ignored.
                if let Ok(object) = storage_codec::decode(kind, &item.value, item.revision) {
                    projection.add(&object);
                }
            }
            let watch = store.watch(prefix, page.revision).await?;
            watches.push(WatchedKind {
                kind,
                watch,
                reached: page.revision,
                unapplied: VecDeque::new(),
                failure: None,
            });
        }
        Ok(Self { projection: Arc::new(projection), watches, writes })
    }

    /// Applies pending watch events; waits for the events of acknowledged writes.
    async fn catch_up(&mut self, store: &dyn Store, writes: u64) -> Result<(), Error> {
        let until = if self.writes < writes { Some(store.bounds().await?.current) } else { None };
        for watched in &mut self.watches {
            if until.is_some() {
                watched.watch.request_progress();
            }
            while let Some(event) = watched.next(until).await? {
                apply_event(Arc::make_mut(&mut self.projection), watched.kind, &event)?;
            }
        }
        self.writes = writes;
        Ok(())
    }
}

impl WatchedKind {
    /// Whether there are events that are not applied, or the watch has failed.
    fn has_pending_events(&mut self) -> bool {
        while self.unapplied.is_empty() && self.failure.is_none() {
            let Poll::Ready(notice) = self.watch.poll(&mut Context::from_waker(Waker::noop())) else {
                return false;
            };
            match self.take(notice) {
                Ok(event) => self.unapplied.extend(event),
                Err(error) => self.failure = Some(error),
            }
        }
        true
    }

    /// The next event that is ready, or that is at or before this revision.
    async fn next(&mut self, until: Option<Revision>) -> Result<Option<Arc<Event>>, Error> {
        loop {
            if let Some(event) = self.unapplied.pop_front() {
                return Ok(Some(event));
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            let notice = if until.is_some_and(|until| self.reached < until) {
                self.watch.next().await
            } else {
                match std::future::poll_fn(|context| Poll::Ready(self.watch.poll(context))).await {
                    Poll::Ready(notice) => notice,
                    Poll::Pending => return Ok(None),
                }
            };
            let event = self.take(notice)?;
            self.unapplied.extend(event);
        }
    }

    /// Records the progress of the watch; returns the event, if the notice is one.
    fn take(&mut self, notice: Option<Result<Notice, Error>>) -> Result<Option<Arc<Event>>, Error> {
        match notice {
            Some(Ok(Notice::Progress(revision))) => {
                self.reached = self.reached.max(revision);
                Ok(None)
            }
            Some(Ok(Notice::Change(event))) => {
                self.reached = self.reached.max(event.revision);
                Ok(Some(event))
            }
            Some(Err(error)) => Err(error),
            None => Err(Error::Unavailable { why: format!("a watch of {} ended", self.kind.resource) }),
        }
    }
}

/// Applies an event. An object that cannot be decoded is an error, which reloads the cache.
fn apply_event(projection: &mut impl Projection, kind: &Kind, event: &Event) -> Result<(), Error> {
    let (value, is_there) = match &event.change {
        Change::Created { value } | Change::Updated { value, .. } => (value, true),
        Change::Deleted { previous } => (&previous.value, false),
    };
    let decode = || storage_codec::decode(kind, value, event.revision);
    let object = off_worker_if_heavy(value.len(), decode)
        .map_err(|error| Error::Unavailable { why: error.refusal().message })?;
    if is_there {
        projection.add(&object);
    } else {
        projection.remove(&object);
    }
    Ok(())
}

impl<P> Default for StoreCache<P> {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            is_refreshing: AtomicBool::default(),
            refreshed: Notify::new(),
            writes: AtomicU64::default(),
        }
    }
}

impl<P> fmt::Debug for StoreCache<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreCache")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gantry_json::json;
    use gantry_store::memory::{HistoryLimits, MemoryStore};
    use gantry_store::{Answer, Bounds, Fetched, Key, Page, Prefix, Transaction};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::metadata::Metadata;

    /// A store whose bounds are returned only after a permit was given.
    #[derive(Debug)]
    struct SlowStore {
        memory: MemoryStore,
        permits: Semaphore,
    }

    impl Store for SlowStore {
        fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
            self.memory.get(key)
        }

        fn list(&self, request: ListRequest) -> Answer<'_, Page> {
            self.memory.list(request)
        }

        fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
            self.memory.commit(transaction)
        }

        fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
            self.memory.watch(prefix, after)
        }

        fn compact(&self, through: Revision) -> Answer<'_, ()> {
            self.memory.compact(through)
        }

        fn bounds(&self) -> Answer<'_, Bounds> {
            Box::pin(async {
                self.permits.acquire().await.unwrap().forget();
                self.memory.bounds().await
            })
        }
    }

    /// The names of all namespaces.
    #[derive(Clone, Debug, Default)]
    struct Names(BTreeSet<String>);

    impl Projection for Names {
        fn includes(kind: &Kind) -> bool {
            kind.kind == "Namespace" && kind.group.is_empty()
        }

        fn add(&mut self, object: &Value) {
            self.0.insert(Metadata::of(object).name().to_owned());
        }

        fn remove(&mut self, object: &Value) {
            self.0.remove(Metadata::of(object).name());
        }
    }

    async fn create(store: &SlowStore, name: &str) {
        let namespaces = kinds().resource("", "v1", "namespaces").unwrap();
        let object = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
        let prefix = Objects::prefix(namespaces, None);
        let key = Key::new([prefix.as_bytes(), name.as_bytes()].concat()).unwrap();
        store.commit(Transaction::create(key, object.to_string())).await.unwrap();
    }

    fn slow_store() -> SlowStore {
        SlowStore { memory: MemoryStore::new(HistoryLimits::default()), permits: Semaphore::new(0) }
    }

    /// Reads that wait for a refresh need not wait for each other: under a flood of requests, each would wait until all
    /// before it have been scheduled, for seconds in total.
    #[tokio::test]
    async fn reads_do_not_wait_for_each_other() {
        let (store, cache) = (slow_store(), StoreCache::<Names>::default());
        assert!(cache.current(&store).await.unwrap().0.is_empty());
        create(&store, "a").await;
        drop(cache.pending_write());
        let mut reads: Vec<_> = (0..10).map(|_| Box::pin(cache.current(&store))).collect();
        let mut context = Context::from_waker(Waker::noop());
        for read in &mut reads {
            assert!(read.as_mut().poll(&mut context).is_pending());
        }
        store.permits.add_permits(1);
        let refreshing = reads.remove(0);
        assert!(refreshing.await.unwrap().0.contains("a"));
        for read in reads.iter_mut().rev() {
            let Poll::Ready(names) = read.as_mut().poll(&mut context) else {
                panic!("the read waits for another one")
            };
            assert!(names.unwrap().0.contains("a"));
        }
    }

    #[tokio::test]
    async fn a_cancelled_refresh_is_continued_by_another_read() {
        let (store, cache) = (slow_store(), StoreCache::<Names>::default());
        cache.current(&store).await.unwrap();
        create(&store, "a").await;
        drop(cache.pending_write());
        let mut context = Context::from_waker(Waker::noop());
        let (mut abandoned, mut other) = (Box::pin(cache.current(&store)), Box::pin(cache.current(&store)));
        assert!(abandoned.as_mut().poll(&mut context).is_pending());
        assert!(other.as_mut().poll(&mut context).is_pending());
        drop(abandoned);
        assert!(other.await.unwrap().0.contains("a"));
    }

    /// Events of other servers are applied without a write of this one, and without a request to the store.
    #[tokio::test]
    async fn events_are_applied_by_the_next_read() {
        let (store, cache) = (slow_store(), StoreCache::<Names>::default());
        cache.current(&store).await.unwrap();
        create(&store, "a").await;
        create(&store, "b").await;
        assert_eq!(cache.current(&store).await.unwrap().0.len(), 2);
    }
}
