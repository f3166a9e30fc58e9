//! The live keys and the recent history. No locks, no clock, no waiting.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::memory::history::{History, HistoryLimits, LiveValues, Record};
use crate::memory::staged::Staged;
use crate::{Bounds, Change, Error, Event, Fetched, Key, Op, Revision, Transaction, Versioned};

/// The revisioned map.
///
/// Its state is a function of the transactions applied to it, in order.
#[derive(Debug)]
pub struct State {
    live: LiveValues,
    live_bytes: usize,
    history: History,
    limits: HistoryLimits,
    current: Revision,
    floor: Revision,
    /// Revisions that are being read in several steps, with the number of readers; newer records stay until they are
    /// done.
    pins: BTreeMap<Revision, usize>,
}

/// How much the store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Live keys.
    pub keys: usize,
    /// Bytes of live keys and values.
    pub live_bytes: usize,
    /// Records of history.
    pub changes: usize,
    /// Bytes of history, beyond the live ones.
    pub history_bytes: usize,
}

/// The maximum number of records dropped per applied transaction, so that no write pays for a long idle time before
/// it.
const FORGET_STEP: usize = 256;

impl State {
    /// The empty store.
    pub fn empty(limits: HistoryLimits) -> Self {
        Self::at(Revision::EMPTY, BTreeMap::new(), limits)
    }

    /// A store with its keys at one revision, and no history before it.
    pub fn at(revision: Revision, live: BTreeMap<Key, Versioned>, limits: HistoryLimits) -> Self {
        let live_bytes = live.iter().map(|(key, version)| key.as_bytes().len() + version.value.len()).sum();
        let (history, pins) = (History::after_revision(revision), BTreeMap::new());
        Self { live, live_bytes, history, limits, current: revision, floor: revision, pins }
    }

    /// The oldest readable and the current revision.
    pub fn bounds(&self) -> Bounds {
        Bounds { floor: self.floor, current: self.current }
    }

    /// How much the store holds.
    pub fn usage(&self) -> Usage {
        Usage {
            keys: self.live.len(),
            live_bytes: self.live_bytes,
            changes: self.history.len(),
            history_bytes: self.history.bytes(),
        }
    }

    /// The keys as they are now.
    pub fn live(&self) -> &BTreeMap<Key, Versioned> {
        &self.live
    }

    /// Reads one key.
    pub fn get(&self, key: &Key) -> Fetched {
        Fetched { revision: self.current, found: self.live.get(key).cloned() }
    }

    /// Whether the state at this revision can be read.
    pub fn readable(&self, at: Revision) -> Result<(), Error> {
        if at > self.current {
            Err(Error::FutureRevision { current: self.current })
        } else if at < self.floor {
            Err(Error::Compacted { floor: self.floor })
        } else {
            Ok(())
        }
    }

    /// Adds a transaction to a batch if its conditions hold after the transactions already in it.
    pub fn stage(&self, staged: &mut Staged, transaction: Transaction) -> Result<Revision, Error> {
        self.check(staged, &transaction)?;
        Ok(staged.push(self.current, transaction))
    }

    /// Whether every condition of a transaction holds after those staged before it.
    fn check(&self, staged: &Staged, transaction: &Transaction) -> Result<(), Error> {
        for (key, expected) in transaction.conditions() {
            let current = staged.get(key).map_or_else(|| self.live.get(key), Option::as_ref);
            if expected != current.map(|version| version.revision) {
                return Err(Error::Conflict { key: key.clone(), current: current.cloned() });
            }
        }
        Ok(())
    }

    /// Makes a staged transaction part of the state, and adds its events if there are watchers. No history is dropped
    /// yet: the watchers have not been notified.
    pub(crate) fn apply(
        &mut self,
        transaction: Transaction,
        at_millis: u64,
        mut events: Option<&mut Vec<Arc<Event>>>,
    ) {
        self.current = self.current.next();
        for (key, op) in transaction.into_ops() {
            let previous = self.apply_op(&key, &op);
            self.history.push((&key, self.current, at_millis), op.value(), previous.clone());
            if let Some(events) = &mut events {
                let change = Change::of(self.current, op.value().cloned(), previous);
                events.push(Arc::new(Event::new(key, self.current, change)));
            }
        }
    }

    /// Applies a transaction read back from a log, if its conditions hold: they held when it was written.
    pub fn replay(&mut self, transaction: Transaction, at_millis: u64) -> Result<(), Error> {
        self.check(&Staged::default(), &transaction)?;
        self.apply(transaction, at_millis, None);
        self.forget(at_millis);
        Ok(())
    }

    /// Drops records beyond the limits, a bounded number of them.
    pub fn forget(&mut self, now_millis: u64) {
        for _ in 0..FORGET_STEP {
            match self.history.overdue(&self.limits, now_millis) {
                Some(oldest) if self.pins.keys().next().is_none_or(|pinned| oldest <= *pinned) => {
                    self.floor = self.floor.max(oldest);
                    self.history.forget(oldest);
                }
                _ => return,
            }
        }
    }

    /// Compacts history: afterwards `through` is the oldest readable revision.
    pub fn compact(&mut self, through: Revision) -> Result<(), Error> {
        if through > self.current {
            return Err(Error::FutureRevision { current: self.current });
        }
        self.floor = self.floor.max(through);
        self.history.forget(self.forgettable());
        Ok(())
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// A record of history as a watch event.
    pub(crate) fn event(&self, record: &Record) -> Event {
        self.history.event(record, &self.live)
    }

    /// The value that a record of history replaced.
    pub(crate) fn previous(&self, record: &Record) -> Option<Versioned> {
        self.history.previous(record, &self.live)
    }

    pub(crate) fn pin(&mut self, revision: Revision) {
        *self.pins.entry(revision).or_default() += 1;
    }

    pub(crate) fn unpin(&mut self, revision: Revision) {
        if let Some(readers) = self.pins.get_mut(&revision) {
            *readers -= 1;
            if *readers == 0 {
                self.pins.remove(&revision);
            }
        }
        self.history.forget(self.forgettable());
    }

    /// Writes one key, and returns the value that was replaced.
    fn apply_op(&mut self, key: &Key, op: &Op) -> Option<Versioned> {
        let written = op.value().map(|value| Versioned { value: value.clone(), revision: self.current });
        let previous = match (written, self.live.get_mut(key)) {
            (Some(written), Some(present)) => Some(std::mem::replace(present, written)),
            (Some(written), None) => self.live.insert(key.clone(), written),
            (None, _) => self.live.remove(key),
        };
        let bytes = |value: Option<&Bytes>| value.map_or(0, |value| value.len() + key.as_bytes().len());
        self.live_bytes += bytes(op.value());
        self.live_bytes -= bytes(previous.as_ref().map(|previous| &previous.value));
        previous
    }

    /// The last revision whose records may be dropped: not after the floor, nor after a pinned revision.
    fn forgettable(&self) -> Revision {
        self.pins.keys().next().map_or(self.floor, |pinned| self.floor.min(*pinned))
    }
}
