//! A bounded memory that forgets first what was not thought of for longest.

use std::collections::BTreeMap;

/// At most so many values by key; the least recently used one makes room.
#[derive(Clone, Debug)]
pub(super) struct Lru<K, V> {
    capacity: usize,
    entries: BTreeMap<K, Entry<V>>,
    /// The keys by when they were last used.
    by_use: BTreeMap<u64, K>,
    uses: u64,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    value: V,
    last_use: u64,
}

impl<K: Ord + Clone, V> Lru<K, V> {
    /// Remembers nothing yet.
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, entries: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    /// The value of `key`, a fresh one if there is none; either way it is now the last to be forgotten.
    pub(super) fn recall(&mut self, key: K, fresh: impl FnOnce() -> V) -> &mut V {
        self.uses = self.uses.wrapping_add(1);
        match self.entries.get(&key) {
            Some(entry) => drop(self.by_use.remove(&entry.last_use)),
            None => self.make_room(),
        }
        self.by_use.insert(self.uses, key.clone());
        let entry = self.entries.entry(key).or_insert_with(|| Entry { value: fresh(), last_use: 0 });
        entry.last_use = self.uses;
        &mut entry.value
    }

    fn make_room(&mut self) {
        while self.entries.len() >= self.capacity {
            let Some((_, forgotten)) = self.by_use.pop_first() else { return };
            self.entries.remove(&forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_used_last_is_forgotten_last() {
        let mut memory = Lru::new(2);
        *memory.recall("web", || 0) = 1;
        *memory.recall("db", || 0) = 2;
        memory.recall("web", || 0);
        memory.recall("cache", || 0);
        assert_eq!(*memory.recall("web", || 0), 1);
        assert_eq!(*memory.recall("db", || 0), 0, "db made room for cache");
    }

    proptest! {
        #[test]
        fn the_memory_agrees_with_a_list_in_order_of_use(
            capacity in 1_usize..6,
            keys in prop::collection::vec(0_u8..9, 0..80),
        ) {
            let (mut memory, mut list) = (Lru::new(capacity), Vec::<(u8, u32)>::new());
            for key in keys {
                let known = list.iter().position(|(other, _)| *other == key).map(|at| list.remove(at).1);
                let uses = memory.recall(key, || 0);
                prop_assert_eq!(*uses, known.unwrap_or(0));
                *uses += 1;
                list.push((key, *uses));
                list.drain(..list.len().saturating_sub(capacity));
                prop_assert_eq!((memory.entries.len(), memory.by_use.len()), (list.len(), list.len()));
            }
        }
    }
}
