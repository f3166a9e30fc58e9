//! Reading a past revision in steps, while writes continue.
//!
//! The state at a revision is the current state with every later change undone. A cursor collects the older values
//! once, and then only those of changes since its last step. So a long read costs the items it reads and the changes
//! meanwhile, and holds the lock for one step at a time.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;

use crate::memory::state::State;
use crate::{Error, Item, Key, Prefix, Revision, Versioned};

/// A read of one prefix at one revision.
#[derive(Debug)]
pub struct Cursor {
    at: Revision,
    /// The revision up to which later changes are collected in `past`.
    collected: Revision,
    /// The values at `at` of keys that changed since.
    past: BTreeMap<Key, Option<Versioned>>,
    prefix: Prefix,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
}

impl Cursor {
    /// A read of the prefix at a revision, from a key on.
    pub fn new(state: &State, prefix: Prefix, start: Option<&Key>, at: Revision) -> Result<Self, Error> {
        state.readable(at)?;
        let mut cursor =
            Self { at, collected: at, past: BTreeMap::new(), start: Vec::new(), end: prefix.end(), prefix };
        let start = start.map_or(&[][..], Key::as_bytes).max(cursor.prefix.as_bytes()).to_vec();
        cursor.advance_to(&start);
        Ok(cursor)
    }

    /// The revision read at.
    pub fn at(&self) -> Revision {
        self.at
    }

    /// The next items in key order; empty at the end.
    pub fn take(&mut self, state: &State, items_max: usize) -> Result<Vec<Item>, Error> {
        self.collect(state)?;
        let items: Vec<Item> = self.rest(state).take(items_max).collect();
        if let Some(last) = items.last() {
            self.advance_to(last.key.successor().as_bytes());
        }
        Ok(items)
    }

    /// The number of remaining items.
    pub fn remaining(&mut self, state: &State) -> Result<u64, Error> {
        self.collect(state)?;
        if self.past.is_empty() {
            return Ok(state.live().range::<[u8], _>(self.range()).count() as u64);
        }
        Ok(self.rest(state).count() as u64)
    }

    /// Collects the changes since the last step.
    fn collect(&mut self, state: &State) -> Result<(), Error> {
        let bounds = state.bounds();
        if self.collected < state.history().forgotten() {
            return Err(Error::Compacted { floor: bounds.floor });
        }
        for record in state.history().after(self.collected) {
            let key = state.history().key(record);
            let is_read = key.starts_with(self.prefix.as_bytes()) && key >= self.start.as_slice();
            // The first change after `at` has the key's value at `at`; later ones do not.
            if is_read && !self.past.contains_key(key) {
                self.past.insert(Key::copied(key), state.previous(record));
            }
        }
        self.collected = bounds.current;
        Ok(())
    }

    fn rest<'a>(&'a self, state: &'a State) -> impl Iterator<Item = Item> + 'a {
        let present = state.live().range::<[u8], _>(self.range()).peekable();
        let past = self.past.range::<[u8], _>(self.range()).peekable();
        MergedItems { present, past }
    }

    fn range(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(self.start.as_slice()), end)
    }

    /// Advances, but never past the end: a range that ends before it starts would panic.
    fn advance_to(&mut self, start: &[u8]) {
        let end = self.end.as_deref().unwrap_or(start);
        self.start = start.min(end).to_vec();
    }
}

/// The current items merged with the past ones, which take precedence.
struct MergedItems<P: Iterator, Q: Iterator> {
    present: Peekable<P>,
    past: Peekable<Q>,
}

impl<'a, P, Q> Iterator for MergedItems<P, Q>
where
    P: Iterator<Item = (&'a Key, &'a Versioned)>,
    Q: Iterator<Item = (&'a Key, &'a Option<Versioned>)>,
{
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let past_first = match (self.present.peek(), self.past.peek()) {
                (Some((present, _)), Some((past, _))) => past <= present,
                (_, past) => past.is_some(),
            };
            if !past_first {
                return self.present.next().map(|(key, version)| item(key, version));
            }
            let (key, version) = self.past.next()?;
            self.present.next_if(|(present, _)| *present == key);
            if let Some(version) = version {
                return Some(item(key, version));
            }
        }
    }
}

fn item(key: &Key, version: &Versioned) -> Item {
    Item { key: key.clone(), value: version.value.clone(), revision: version.revision }
}
