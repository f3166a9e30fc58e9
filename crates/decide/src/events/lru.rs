//! A bounded cache that evicts the least recently used entry.
//!
//! Its entries are in one vector. They outlive the objects that they are about; separate allocations would keep the
//! memory around them from being released.

use super::fingerprint::Fingerprint;

#[derive(Clone, Debug)]
pub(super) struct Lru<V> {
    capacity: usize,
    entries: Vec<Entry<V>>,
    /// The first entry of each bucket. Their number is a power of two, at least that of the entries.
    buckets: Vec<Link>,
    oldest: Link,
    newest: Link,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    key: Fingerprint,
    value: V,
    /// The next entry of the same bucket.
    next_in_bucket: Link,
    /// The neighbours in the order of use.
    older: Link,
    newer: Link,
}

/// The slot of an entry, if any.
type Link = Option<Slot>;

/// A slot in the vector of entries plus one, so that a link takes four bytes.
type Slot = std::num::NonZeroU32;

const BUCKETS_MIN: usize = 16;

impl<V> Lru<V> {
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self { capacity, entries: Vec::new(), buckets: vec![None; BUCKETS_MIN], oldest: None, newest: None }
    }

    /// The value of `key`, inserted if absent; either way it becomes the most recently used.
    pub(super) fn get_or_insert_with(&mut self, key: Fingerprint, fresh: impl FnOnce() -> V) -> &mut V {
        let slot = match self.find(key) {
            Some(slot) => {
                self.unlink_from_order(slot);
                slot
            }
            None => self.insert(key, fresh()),
        };
        self.link_as_newest(slot);
        &mut self.entry(slot).value
    }

    fn find(&self, key: Fingerprint) -> Link {
        let mut link = self.buckets[self.bucket(key)];
        while let Some(slot) = link {
            let entry = &self.entries[index(slot)];
            if entry.key == key {
                break;
            }
            link = entry.next_in_bucket;
        }
        link
    }

    /// Adds an entry that is not in the order of use yet, in the slot of the oldest one if the cache is full.
    fn insert(&mut self, key: Fingerprint, value: V) -> Slot {
        let mut entry = Entry { key, value, next_in_bucket: None, older: None, newer: None };
        let evicted = self.oldest.filter(|_| self.entries.len() >= self.capacity);
        let slot = match evicted {
            Some(slot) => {
                self.unlink_from_order(slot);
                self.unlink_from_bucket(slot);
                let bucket = self.bucket(key);
                entry.next_in_bucket = self.buckets[bucket].replace(slot);
                *self.entry(slot) = entry;
                return slot;
            }
            None => slot_of(self.entries.len()),
        };
        self.entries.push(entry);
        if self.entries.len() > self.buckets.len() {
            self.buckets = vec![None; self.buckets.len() * 2];
            (0..self.entries.len()).for_each(|index| self.link_in_bucket(slot_of(index)));
        } else {
            self.link_in_bucket(slot);
        }
        slot
    }

    fn link_in_bucket(&mut self, slot: Slot) {
        let bucket = self.bucket(self.entries[index(slot)].key);
        self.entries[index(slot)].next_in_bucket = self.buckets[bucket].replace(slot);
    }

    fn unlink_from_bucket(&mut self, slot: Slot) {
        let Entry { key, next_in_bucket, .. } = self.entries[index(slot)];
        let bucket = self.bucket(key);
        let mut link = self.buckets[bucket];
        if link == Some(slot) {
            self.buckets[bucket] = next_in_bucket;
            return;
        }
        while let Some(before) = link {
            link = self.entries[index(before)].next_in_bucket;
            if link == Some(slot) {
                self.entries[index(before)].next_in_bucket = next_in_bucket;
                return;
            }
        }
    }

    fn unlink_from_order(&mut self, slot: Slot) {
        let entry = self.entry(slot);
        let (older, newer) = (entry.older.take(), entry.newer.take());
        match older {
            Some(older) => self.entry(older).newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.entry(newer).older = older,
            None => self.newest = older,
        }
    }

    fn link_as_newest(&mut self, slot: Slot) {
        let older = self.newest.replace(slot);
        self.entry(slot).older = older;
        match older {
            Some(older) => self.entry(older).newer = Some(slot),
            None => self.oldest = Some(slot),
        }
    }

    fn entry(&mut self, slot: Slot) -> &mut Entry<V> {
        &mut self.entries[index(slot)]
    }

    /// The bucket of a key. Fingerprints are distributed evenly.
    fn bucket(&self, key: Fingerprint) -> usize {
        let mask = self.buckets.len() as u64 - 1;
        usize::try_from(key.low_bits() & mask).expect("it is less than the number of buckets")
    }
}

fn index(slot: Slot) -> usize {
    slot.get() as usize - 1
}

fn slot_of(index: usize) -> Slot {
    u32::try_from(index + 1).ok().and_then(Slot::new).expect("a cache has fewer than 2^32 entries")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let mut memory = Lru::new(2);
        let [web, db, cache] = ["web", "db", "cache"].map(|name| Fingerprint::of(&name));
        *memory.get_or_insert_with(web, || 0) = 1;
        *memory.get_or_insert_with(db, || 0) = 2;
        memory.get_or_insert_with(web, || 0);
        memory.get_or_insert_with(cache, || 0);
        assert_eq!(*memory.get_or_insert_with(web, || 0), 1);
        assert_eq!(*memory.get_or_insert_with(db, || 0), 0, "db was evicted when cache was inserted");
    }

    proptest! {
        #[test]
        fn the_cache_agrees_with_a_list_in_order_of_use(
            capacity in 1_usize..40,
            keys in prop::collection::vec(0_u8..60, 0..300),
        ) {
            let (mut memory, mut list) = (Lru::new(capacity), Vec::<(u8, u32)>::new());
            for key in keys {
                let known = list.iter().position(|(other, _)| *other == key).map(|at| list.remove(at).1);
                let uses = memory.get_or_insert_with(Fingerprint::of(&key), || 0);
                prop_assert_eq!(*uses, known.unwrap_or(0));
                *uses += 1;
                list.push((key, *uses));
                list.drain(..list.len().saturating_sub(capacity));
                prop_assert_eq!(memory.entries.len(), list.len());
            }
        }
    }
}
