//! Owners known to be absent, so that a thousand dependents of one owner cost one live read and not a thousand.

use std::collections::BTreeMap;

use gantry_model::Identity;

/// The capacity; the least recently used identity is evicted first.
pub const ABSENT_OWNERS_MAX: usize = 500;

/// The identities that were recently found absent.
///
/// A uid is never reused, so absence is permanent and entries are only evicted for space. The key is the whole
/// identity with its namespace: the same uid may exist under other coordinates.
#[derive(Clone, Debug)]
pub struct AbsentOwners {
    max: usize,
    /// Counts uses; larger is more recent.
    clock: u64,
    last_use: BTreeMap<Identity, u64>,
    by_last_use: BTreeMap<u64, Identity>,
}

impl AbsentOwners {
    /// An empty cache of the default size.
    pub fn new() -> Self {
        Self::with_capacity(ABSENT_OWNERS_MAX)
    }

    /// An empty cache of this capacity.
    pub fn with_capacity(max: usize) -> Self {
        Self { max, clock: 0, last_use: BTreeMap::new(), by_last_use: BTreeMap::new() }
    }

    /// Adds an identity.
    pub fn insert(&mut self, identity: Identity) {
        self.touch(identity);
        while self.last_use.len() > self.max {
            let Some((_, oldest)) = self.by_last_use.pop_first() else { return };
            self.last_use.remove(&oldest);
        }
    }

    /// Whether this identity is known to be absent; counts as a use.
    pub fn contains(&mut self, identity: &Identity) -> bool {
        let known = self.last_use.contains_key(identity);
        if known {
            self.touch(identity.clone());
        }
        known
    }

    /// How many identities are remembered.
    pub fn len(&self) -> usize {
        self.last_use.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.last_use.is_empty()
    }

    fn touch(&mut self, identity: Identity) {
        self.clock = self.clock.saturating_add(1);
        if let Some(before) = self.last_use.insert(identity.clone(), self.clock) {
            self.by_last_use.remove(&before);
        }
        self.by_last_use.insert(self.clock, identity);
    }
}

impl Default for AbsentOwners {
    fn default() -> Self {
        Self::new()
    }
}
