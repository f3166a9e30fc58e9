//! Keys that wait for their time. A key waits at most once, for the earliest time anybody asked for.

use std::collections::BTreeMap;

use gantry_model::Timestamp;

/// Keys and when they are due.
#[derive(Clone, Debug)]
pub(super) struct Delayed<K> {
    /// The keys in the order in which they come due; keys due together come in the order in which they were asked for.
    by_time: BTreeMap<Turn, K>,
    /// Where in `by_time` each key is.
    by_key: BTreeMap<K, Turn>,
    asked: u64,
}

/// A place in the order of coming due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    due: Timestamp,
    asked: u64,
}

impl<K: Ord + Clone> Delayed<K> {
    /// Nothing waits.
    pub(super) fn new() -> Self {
        Self { by_time: BTreeMap::new(), by_key: BTreeMap::new(), asked: 0 }
    }

    /// Lets `key` wait until `due`, unless it already waits for that or an earlier time.
    pub(super) fn wait(&mut self, key: K, due: Timestamp) {
        if let Some(turn) = self.by_key.get(&key) {
            if turn.due <= due {
                return;
            }
            self.by_time.remove(turn);
        }
        let turn = Turn { due, asked: self.asked };
        self.asked = self.asked.wrapping_add(1);
        self.by_time.insert(turn, key.clone());
        self.by_key.insert(key, turn);
    }

    /// Takes out the next key that is due, and says since when.
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

    /// When the next key comes due.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        self.by_time.first_key_value().map(|(turn, _)| turn.due)
    }

    /// How many keys wait.
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Lets nothing wait any more.
    pub(super) fn clear(&mut self) {
        self.by_time.clear();
        self.by_key.clear();
    }
}
