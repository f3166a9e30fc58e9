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

/// The place of an entry, if any.
type Link = Option<Place>;

/// A place in the vector of entries plus one, so that a link takes four bytes.
type Place = std::num::NonZeroU32;

const BUCKETS_MIN: usize = 16;

impl<V> Lru<V> {
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self { capacity, entries: Vec::new(), buckets: vec![None; BUCKETS_MIN], oldest: None, newest: None }
    }

    /// The value of `key`, inserted if absent; either way it becomes the most recently used.
    pub(super) fn get_or_insert_with(&mut self, key: Fingerprint, fresh: impl FnOnce() -> V) -> &mut V {
        let place = match self.find(key) {
            Some(place) => {
                self.unlink_from_order(place);
                place
            }
            None => self.insert(key, fresh()),
        };
        self.link_as_newest(place);
        &mut self.entry(place).value
    }

    fn find(&self, key: Fingerprint) -> Link {
        let mut link = self.buckets[self.bucket(key)];
        while let Some(place) = link {
            let entry = &self.entries[index(place)];
            if entry.key == key {
                break;
            }
            link = entry.next_in_bucket;
        }
        link
    }

    /// Adds an entry that is not in the order of use yet, in the place of the oldest one if there is no room.
    fn insert(&mut self, key: Fingerprint, value: V) -> Place {
        let mut entry = Entry { key, value, next_in_bucket: None, older: None, newer: None };
        let evicted = self.oldest.filter(|_| self.entries.len() >= self.capacity);
        let place = match evicted {
            Some(place) => {
                self.unlink_from_order(place);
                self.unlink_from_bucket(place);
                let bucket = self.bucket(key);
                entry.next_in_bucket = self.buckets[bucket].replace(place);
                *self.entry(place) = entry;
                return place;
            }
            None => place_of(self.entries.len()),
        };
        self.entries.push(entry);
        if self.entries.len() > self.buckets.len() {
            self.buckets = vec![None; self.buckets.len() * 2];
            (0..self.entries.len()).for_each(|index| self.link_in_bucket(place_of(index)));
        } else {
            self.link_in_bucket(place);
        }
        place
    }

    fn link_in_bucket(&mut self, place: Place) {
        let bucket = self.bucket(self.entries[index(place)].key);
        self.entries[index(place)].next_in_bucket = self.buckets[bucket].replace(place);
    }

    fn unlink_from_bucket(&mut self, place: Place) {
        let Entry { key, next_in_bucket, .. } = self.entries[index(place)];
        let bucket = self.bucket(key);
        let mut link = self.buckets[bucket];
        if link == Some(place) {
            self.buckets[bucket] = next_in_bucket;
            return;
        }
        while let Some(before) = link {
            link = self.entries[index(before)].next_in_bucket;
            if link == Some(place) {
                self.entries[index(before)].next_in_bucket = next_in_bucket;
                return;
            }
        }
    }

    fn unlink_from_order(&mut self, place: Place) {
        let entry = self.entry(place);
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

    fn link_as_newest(&mut self, place: Place) {
        let older = self.newest.replace(place);
        self.entry(place).older = older;
        match older {
            Some(older) => self.entry(older).newer = Some(place),
            None => self.oldest = Some(place),
        }
    }

    fn entry(&mut self, place: Place) -> &mut Entry<V> {
        &mut self.entries[index(place)]
    }

    /// The bucket of a key. Fingerprints are distributed evenly.
    fn bucket(&self, key: Fingerprint) -> usize {
        let mask = self.buckets.len() as u64 - 1;
        usize::try_from(key.low_bits() & mask).expect("it is less than the number of buckets")
    }
}

fn index(place: Place) -> usize {
    place.get() as usize - 1
}

fn place_of(index: usize) -> Place {
    u32::try_from(index + 1).ok().and_then(Place::new).expect("a cache has fewer than 2^32 entries")
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
        fn the_memory_agrees_with_a_list_in_order_of_use(
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
