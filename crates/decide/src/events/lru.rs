//! A bounded cache that evicts the least recently used entry.

use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(super) struct Lru<K, V> {
    capacity: usize,
    entries: BTreeMap<K, Entry<V>>,
    /// The keys by last use.
    by_use: BTreeMap<u64, K>,
    uses: u64,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    value: V,
    last_use: u64,
}

impl<K: Ord + Clone, V> Lru<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, entries: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    /// The value of `key`, inserted if absent; either way it becomes the most recently used.
    pub(super) fn get_or_insert_with(&mut self, key: K, fresh: impl FnOnce() -> V) -> &mut V {
        self.uses = self.uses.wrapping_add(1);
        match self.entries.get(&key) {
            Some(entry) => drop(self.by_use.remove(&entry.last_use)),
            None => self.evict(),
        }
        self.by_use.insert(self.uses, key.clone());
        let entry = self.entries.entry(key).or_insert_with(|| Entry { value: fresh(), last_use: 0 });
        entry.last_use = self.uses;
        &mut entry.value
    }

    fn evict(&mut self) {
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
        *memory.get_or_insert_with("web", || 0) = 1;
        *memory.get_or_insert_with("db", || 0) = 2;
        memory.get_or_insert_with("web", || 0);
        memory.get_or_insert_with("cache", || 0);
        assert_eq!(*memory.get_or_insert_with("web", || 0), 1);
        assert_eq!(*memory.get_or_insert_with("db", || 0), 0, "db made room for cache");
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
                let uses = memory.get_or_insert_with(key, || 0);
                prop_assert_eq!(*uses, known.unwrap_or(0));
                *uses += 1;
                list.push((key, *uses));
                list.drain(..list.len().saturating_sub(capacity));
                prop_assert_eq!((memory.entries.len(), memory.by_use.len()), (list.len(), list.len()));
            }
        }
    }
}
