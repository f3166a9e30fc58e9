//! Delayed keys. A key is delayed at most once, to the earliest of the requested times.

use std::collections::BTreeMap;

use gantry_model::Timestamp;

#[derive(Clone, Debug)]
pub(super) struct Delayed<K> {
    /// The keys by due time; keys with the same due time are in the order in which they were added.
    by_time: BTreeMap<DueTime, K>,
    /// The entry of each key in `by_time`.
    by_key: BTreeMap<K, DueTime>,
    sequence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DueTime {
    due: Timestamp,
    sequence: u64,
}

impl<K: Ord + Clone> Delayed<K> {
    pub(super) fn new() -> Self {
        Self { by_time: BTreeMap::new(), by_key: BTreeMap::new(), sequence: 0 }
    }

    /// Delays `key` until `due`, unless it is already due then or earlier.
    pub(super) fn wait(&mut self, key: K, due: Timestamp) {
        if let Some(turn) = self.by_key.get(&key) {
            if turn.due <= due {
                return;
            }
            self.by_time.remove(turn);
        }
        let turn = DueTime { due, sequence: self.sequence };
        self.sequence = self.sequence.wrapping_add(1);
        self.by_time.insert(turn, key.clone());
        self.by_key.insert(key, turn);
    }

    /// Removes the next key that is due, and returns since when.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(K, Timestamp)> {
        let first = self.by_time.first_entry()?;
        let due = first.key().due;
        if due > now {
            return None;
        }
        let key = first.remove();
        self.by_key.remove(&key);
        Some((key, due))
    }

    pub(super) fn earliest(&self) -> Option<Timestamp> {
        self.by_time.first_key_value().map(|(turn, _)| turn.due)
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn clear(&mut self) {
        self.by_time.clear();
        self.by_key.clear();
    }
}
