//! Finds the fields of a message by name: every member of every object that is decoded or encoded is looked up.

/// The positions of names, in a hash table with open addressing.
#[derive(Debug, Default)]
pub(super) struct FieldTable {
    /// A power of two of places, at least half of them empty.
    places: Vec<Option<(&'static str, usize)>>,
}

impl FieldTable {
    /// The positions of these names; of several of the same name the last one counts.
    pub(super) fn new(names: impl ExactSizeIterator<Item = &'static str>) -> Self {
        let mut table = Self { places: vec![None; (2 * names.len()).next_power_of_two()] };
        for (position, name) in names.enumerate() {
            let place = table.place(name);
            table.places[place] = Some((name, position));
        }
        table
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        self.places[self.place(name)].map(|(_, position)| position)
    }

    /// The place of a name, or the free place for it.
    fn place(&self, name: &str) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(name) & mask;
        while self.places[place].is_some_and(|(other, _)| other != name) {
            place = (place + 1) & mask;
        }
        place
    }
}

/// Names of fields differ in their lengths and in a few letters, so this is sufficient.
fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let byte = |index: usize| bytes.get(index).copied().map_or(0, usize::from);
    let length = bytes.len();
    [byte(0), byte(length / 2), byte(length.wrapping_sub(1)), byte(length.wrapping_sub(3))]
        .into_iter()
        .fold(length, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_not() {
        let names = ["", "a", "name", "mane", "namespace", "generateName", "name"];
        let table = FieldTable::new(names.into_iter());
        let found = ["", "a", "name", "mane", "namespace", "generateName"].map(|name| table.find(name));
        assert_eq!(found, [Some(0), Some(1), Some(6), Some(3), Some(4), Some(5)]);
        assert_eq!(["b", "nam", "names"].map(|name| table.find(name)), [None; 3]);
        assert_eq!(FieldTable::default().find("a"), None);
    }
}
