//! The live keys and the recent history. No locks, no clock, no waiting.

use std::collections::BTreeMap;

use crate::memory::history::{History, HistoryLimits, Record};
use crate::memory::staged::Staged;
use crate::{Bounds, Error, Fetched, Key, Op, Revision, Transaction, Versioned};

/// The revisioned map.
///
/// Its state is a function of the transactions applied to it, in order.
#[derive(Debug)]
pub struct State {
    live: BTreeMap<Key, Versioned>,
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

    /// A store that knows its keys at one revision, and nothing before it.
    pub fn at(revision: Revision, live: BTreeMap<Key, Versioned>, limits: HistoryLimits) -> Self {
        let live_bytes = live.iter().map(|(key, version)| key.as_bytes().len() + version.value.len()).sum();
        let (history, pins) = (History::after_revision(revision), BTreeMap::new());
        Self { live, live_bytes, history, limits, current: revision, floor: revision, pins }
    }

    /// From which revision to which the store remembers.
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

    /// Whether that state can be read.
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

    /// Makes a staged transaction part of the state. Nothing is forgotten yet: its watchers have not been notified.
    pub fn apply(&mut self, transaction: Transaction, at_millis: u64) {
        self.current = self.current.next();
        for (key, op) in transaction.into_ops() {
            self.apply_op(key, &op, at_millis);
        }
    }

    /// Applies a transaction read back from a log, if its conditions hold: they held when it was written.
    pub fn replay(&mut self, transaction: Transaction, at_millis: u64) -> Result<(), Error> {
        self.check(&Staged::default(), &transaction)?;
        self.apply(transaction, at_millis);
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

    fn apply_op(&mut self, key: Key, op: &Op, at_millis: u64) {
        let revision = self.current;
        let value = op.value().cloned();
        let previous = match &value {
            Some(value) => self.live.insert(key.clone(), Versioned { value: value.clone(), revision }),
            None => self.live.remove(&key),
        };
        let bytes = |value: Option<usize>| value.map_or(0, |value| value + key.as_bytes().len());
        self.live_bytes += bytes(value.as_ref().map(bytes::Bytes::len));
        self.live_bytes -= bytes(previous.as_ref().map(|previous| previous.value.len()));
        self.history.push(Record { revision, at_millis, key, value, previous });
    }

    /// The last revision whose records may be dropped: not after the floor, nor after a pinned revision.
    fn forgettable(&self) -> Revision {
        self.pins.keys().next().map_or(self.floor, |pinned| self.floor.min(*pinned))
    }
}
