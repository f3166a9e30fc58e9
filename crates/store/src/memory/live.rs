//! The state shared between readers, writers and watchers.
//!
//! Two locks, always taken in this order: the watch hub's and the state's. A writer holds the hub while it applies
//! and publishes, so watchers get changes in the order of revisions; readers take only the state's lock, which
//! writers hold for an instant and readers for one bounded step.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::Waker;

use crate::memory::cursor::Cursor;
use crate::memory::staged::Staged;
use crate::memory::state::{State, Usage};
use crate::memory::watch_hub::WatchHub;
use crate::memory::watcher::Watcher;
use crate::{Bounds, Error, Fetched, Item, Key, ListRequest, Page, Prefix, Revision, Transaction, Watch};

/// A [`State`] with many readers and one writer.
#[derive(Debug)]
pub struct Live {
    watch_hub: Mutex<WatchHub>,
    state: RwLock<State>,
    /// All changes up to this revision are in the queues of their watchers.
    published: AtomicU64,
}

/// Wakers to call once the writer has nothing more urgent to do.
#[must_use]
#[derive(Debug)]
pub struct Wakes(Vec<Waker>);

/// A read in steps; the history that it needs is pinned.
#[derive(Debug)]
pub struct SteppedRead<'a> {
    live: &'a Live,
    cursor: Cursor,
}

/// The maximum number of items that are read under the lock at once, which takes some hundred microseconds.
const STEP: usize = 4096;

impl Live {
    /// Shares a state.
    pub fn new(state: State) -> Arc<Self> {
        let published = AtomicU64::new(state.bounds().current.get());
        Arc::new(Self { watch_hub: Mutex::default(), state: RwLock::new(state), published })
    }

    /// Reads one key.
    pub fn get(&self, key: &Key) -> Fetched {
        self.state().get(key)
    }

    /// The oldest and the current revision.
    pub fn bounds(&self) -> Bounds {
        self.state().bounds()
    }

    /// How much the store holds.
    pub fn usage(&self) -> Usage {
        self.state().usage()
    }

    /// Reads a page.
    pub fn list(&self, request: &ListRequest) -> Result<Page, Error> {
        let limit = request.limit.map_or(usize::MAX, NonZeroUsize::get);
        let state = self.state();
        let at = request.at.unwrap_or(state.bounds().current);
        let mut cursor = Cursor::new(&state, request.prefix.clone(), request.start.as_ref(), at)?;
        let items = cursor.take(&state, limit.min(STEP))?;
        if items.len() < STEP.min(limit) {
            return Ok(page(at, items, 0));
        }
        if limit <= STEP {
            return Ok(page(at, items, cursor.remaining(&state)?));
        }
        drop(state);
        match self.list_on(cursor, items, limit) {
            // The history was compacted meanwhile, which a read of the current revision must not depend on: read it
            // in one step.
            Err(Error::Compacted { .. }) if request.at.is_none() => self.list_at_once(request, limit),
            page => page,
        }
    }

    fn list_at_once(&self, request: &ListRequest, limit: usize) -> Result<Page, Error> {
        let state = self.state();
        let at = state.bounds().current;
        let mut cursor = Cursor::new(&state, request.prefix.clone(), request.start.as_ref(), at)?;
        let items = cursor.take(&state, limit)?;
        Ok(page(at, items, cursor.remaining(&state)?))
    }

    /// Continues from a first step.
    fn list_on(&self, cursor: Cursor, mut items: Vec<Item>, limit: usize) -> Result<Page, Error> {
        let mut reading = self.pinned(cursor);
        while items.len() < limit {
            let step = reading.take(STEP.min(limit - items.len()))?;
            if step.is_empty() {
                return Ok(page(reading.at(), items, 0));
            }
            items.extend(step);
        }
        let remaining = reading.remaining()?;
        Ok(page(reading.at(), items, remaining))
    }

    /// Starts a read in steps, at a revision or at the current one.
    pub fn read_at(
        &self,
        prefix: Prefix,
        start: Option<&Key>,
        at: Option<Revision>,
    ) -> Result<SteppedRead<'_>, Error> {
        let mut state = self.state_mut();
        let at = at.unwrap_or(state.bounds().current);
        let cursor = Cursor::new(&state, prefix, start, at)?;
        state.pin(at);
        Ok(SteppedRead { live: self, cursor })
    }

    /// Pins the history that a cursor needs. If it is dropped already, the next step fails.
    fn pinned(&self, cursor: Cursor) -> SteppedRead<'_> {
        self.state_mut().pin(cursor.at());
        SteppedRead { live: self, cursor }
    }

    /// Adds a transaction to a batch if its conditions hold after the transactions already in it.
    ///
    /// There must be one writer at a time from the first stage to the publish of its batch.
    pub fn stage(&self, staged: &mut Staged, transaction: Transaction) -> Result<Revision, Error> {
        self.state().stage(staged, transaction)
    }

    /// Makes a batch visible to readers and queues it for its watchers.
    pub fn publish(&self, staged: Staged, at_millis: u64) -> Wakes {
        let watch_hub = self.watch_hub();
        self.publish_to(&watch_hub, staged, at_millis)
    }

    /// Stages and publishes one transaction at once, for a store without a disk.
    pub fn commit(&self, transaction: Transaction, at_millis: u64) -> Result<(Revision, Wakes), Error> {
        let watch_hub = self.watch_hub();
        let mut staged = Staged::default();
        let revision = self.state().stage(&mut staged, transaction)?;
        Ok((revision, self.publish_to(&watch_hub, staged, at_millis)))
    }

    /// Watches all changes under the prefix after the revision.
    pub fn watch(self: &Arc<Self>, prefix: Prefix, after: Revision) -> Result<Watch, Error> {
        Ok(Watch::new(Watcher::start(Arc::clone(self), prefix, after)?))
    }

    /// Compacts history.
    pub fn compact(&self, through: Revision) -> Result<(), Error> {
        self.state_mut().compact(through)
    }

    /// Drops history beyond its limits, as writes do. For a store without writes.
    pub fn forget(&self, now_millis: u64) {
        let mut before = usize::MAX;
        while before > self.usage().changes {
            before = self.usage().changes;
            self.state_mut().forget(now_millis);
        }
    }

    /// Ends all current and future watches, with this reason.
    pub fn close(&self, why: &str) -> Wakes {
        Wakes(self.watch_hub().close(why))
    }

    /// All changes up to this revision are in the queues of their watchers.
    pub(crate) fn published(&self) -> Revision {
        Revision::new(self.published.load(Ordering::Acquire)).unwrap_or(Revision::EMPTY)
    }

    pub(crate) fn watch_hub(&self) -> MutexGuard<'_, WatchHub> {
        self.watch_hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish_to(&self, watch_hub: &WatchHub, staged: Staged, at_millis: u64) -> Wakes {
        let mut events = Vec::new();
        {
            let mut state = self.state_mut();
            let transactions = staged.into_transactions();
            let count = transactions.len();
            for transaction in transactions {
                state.apply(transaction, at_millis, (!watch_hub.is_idle()).then_some(&mut events));
            }
            for _ in 0..count {
                state.forget(at_millis);
            }
        }
        let mut wakers = Vec::new();
        watch_hub.publish(&events, &mut wakers);
        let current = self.state().bounds().current;
        self.published.store(current.get(), Ordering::Release);
        Wakes(wakers)
    }
}

impl Wakes {
    /// Calls the wakers.
    pub fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

impl SteppedRead<'_> {
    /// The revision read at.
    pub fn at(&self) -> Revision {
        self.cursor.at()
    }

    /// The next items in key order; empty at the end.
    pub fn take(&mut self, items_max: usize) -> Result<Vec<Item>, Error> {
        self.cursor.take(&self.live.state(), items_max)
    }

    /// The number of remaining items.
    pub fn remaining(&mut self) -> Result<u64, Error> {
        self.cursor.remaining(&self.live.state())
    }
}

impl Drop for SteppedRead<'_> {
    fn drop(&mut self) {
        self.live.state_mut().unpin(self.cursor.at());
    }
}

fn page(revision: Revision, items: Vec<Item>, remaining: u64) -> Page {
    let next = items.last().filter(|_| remaining > 0).map(|last| last.key.successor());
    Page { revision, items, next, remaining }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::memory::HistoryLimits;

    fn put(live: &Live, name: &str, value: &'static str) {
        let key = Key::new(name.to_owned()).unwrap();
        let transaction = match live.get(&key).found {
            None => Transaction::create(key, value),
            Some(seen) => Transaction::update(key, value, seen.revision),
        };
        live.commit(transaction, 0).unwrap().1.wake();
    }

    #[test]
    fn a_read_in_steps_shows_one_state_even_if_history_is_hardly_kept() {
        let limits = HistoryLimits { age: Duration::MAX, bytes: 500 };
        let live = Live::new(State::empty(limits));
        for number in 0..100 {
            put(&live, &format!("/{number:03}"), "old");
        }
        let mut reading = live.read_at(Prefix::ALL, None, None).unwrap();
        let mut items = reading.take(10).unwrap();
        for number in 0..100 {
            put(&live, &format!("/{number:03}"), "new");
            put(&live, &format!("/{number:03}/also"), "new");
        }
        items.extend(reading.take(1000).unwrap());
        assert_eq!(items.len(), 100);
        assert!(items.iter().all(|item| item.value == "old"));
        assert!(live.usage().history_bytes > 500, "history is kept for the reader");
        drop(reading);
        put(&live, "/000", "newer");
        assert!(live.usage().history_bytes <= 500, "history is dropped after the read");
    }

    #[test]
    fn a_watcher_too_slow_for_history_gets_an_error_and_no_gap() {
        let live = Live::new(State::empty(HistoryLimits { age: Duration::MAX, bytes: 500 }));
        let mut watch = live.watch(Prefix::ALL, Revision::EMPTY).unwrap();
        for _ in 0..10_000 {
            put(&live, "/a", "v");
        }
        let mut context = std::task::Context::from_waker(Waker::noop());
        let first = std::pin::pin!(watch.next()).poll(&mut context);
        assert!(matches!(first, std::task::Poll::Ready(Some(Err(Error::Compacted { .. })))), "{first:?}");
    }

    #[test]
    fn a_batch_larger_than_history_is_delivered_in_full() {
        let live = Live::new(State::empty(HistoryLimits { age: Duration::MAX, bytes: 500 }));
        let mut watch = live.watch(Prefix::ALL, Revision::EMPTY).unwrap();
        let mut staged = Staged::default();
        for number in 0..100 {
            let key = Key::new(number.to_string()).unwrap();
            live.stage(&mut staged, Transaction::create(key, "v")).unwrap();
        }
        live.publish(staged, 0).wake();
        let mut context = std::task::Context::from_waker(Waker::noop());
        for _ in 0..100 {
            let notice = std::pin::pin!(watch.next()).poll(&mut context);
            assert!(matches!(notice, std::task::Poll::Ready(Some(Ok(_)))), "{notice:?}");
        }
        assert!(live.bounds().floor > Revision::EMPTY, "history is dropped after delivery");
    }

    #[test]
    fn a_quiet_watcher_survives_the_end_of_history() {
        let live = Live::new(State::empty(HistoryLimits { age: Duration::MAX, bytes: 500 }));
        let mut watch = live.watch(Prefix::new("/quiet"), Revision::EMPTY).unwrap();
        for _ in 0..10_000 {
            put(&live, "/busy", "v");
        }
        put(&live, "/quiet", "v");
        let mut context = std::task::Context::from_waker(Waker::noop());
        let first = std::pin::pin!(watch.next()).poll(&mut context);
        assert!(matches!(first, std::task::Poll::Ready(Some(Ok(crate::Notice::Change(_))))), "{first:?}");
    }

    #[test]
    fn all_live_watchers_of_a_change_share_one_event() {
        let live = Live::new(State::empty(HistoryLimits::default()));
        let mut watches: Vec<_> =
            (0..3).map(|_| live.watch(Prefix::new("/a"), Revision::EMPTY).unwrap()).collect();
        watches.push(live.watch(Prefix::ALL, Revision::EMPTY).unwrap());
        put(&live, "/a", "v");
        let mut context = std::task::Context::from_waker(Waker::noop());
        let events = watches.iter_mut().map(|watch| match std::pin::pin!(watch.next()).poll(&mut context) {
            std::task::Poll::Ready(Some(Ok(crate::Notice::Change(event)))) => event,
            other => unreachable!("{other:?}"),
        });
        let events: Vec<_> = events.collect();
        assert!(events.iter().all(|event| Arc::ptr_eq(event, &events[0])));
    }
}
