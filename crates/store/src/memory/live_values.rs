//! The live keys and values.
//!
//! A value that has not changed for some seconds is stored as its delta from a similar one: of a thousand pods of one
//! Deployment, each takes what distinguishes it. Values that change frequently stay whole.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::memory::delta;
use crate::memory::similar_values::SimilarValues;
use crate::{Key, Revision, Versioned};

/// The map of the live values.
#[derive(Debug, Default)]
pub struct LiveValues {
    values: BTreeMap<Key, LiveValue>,
    /// The size of keys and values, as if all were whole.
    bytes: usize,
    /// Values that are whole, in the order of their writes; some have been replaced since.
    written: VecDeque<WrittenValue>,
    bases: SimilarValues,
}

/// A value in the map.
#[derive(Debug)]
pub struct LiveValue {
    revision: Revision,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Whole(Bytes),
    Delta { base: Arc<[u8]>, delta: Box<[u8]> },
}

#[derive(Debug)]
struct WrittenValue {
    key: Key,
    revision: Revision,
    at_millis: u64,
}

/// How long a value has to be unchanged before it is stored as a delta.
const UNCHANGED: Duration = Duration::from_secs(5);
/// Values below this size are not worth it.
const DELTA_BYTES_MIN: usize = 256;

impl LiveValue {
    /// The revision that wrote it.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The value with its revision.
    pub fn versioned(&self) -> Versioned {
        let value = match &self.form {
            Form::Whole(value) => value.clone(),
            Form::Delta { base, delta } => delta::apply(base, delta),
        };
        Versioned { value, revision: self.revision }
    }

    fn into_versioned(self) -> Versioned {
        match self.form {
            Form::Whole(value) => Versioned { value, revision: self.revision },
            Form::Delta { .. } => self.versioned(),
        }
    }
}

// === impl LiveValues: reads ===

impl LiveValues {
    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&LiveValue> {
        self.values.get(key)
    }

    /// The values of a range of keys.
    pub fn range<'a>(
        &'a self,
        range: (Bound<&[u8]>, Bound<&[u8]>),
    ) -> impl Iterator<Item = (&'a Key, &'a LiveValue)> + use<'a> {
        self.values.range::<[u8], _>(range)
    }

    /// All values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &LiveValue)> {
        self.values.iter()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The size of all keys and values.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

// === impl LiveValues: writes ===

impl LiveValues {
    /// Values that were written long ago.
    pub(crate) fn of(values: BTreeMap<Key, Versioned>) -> Self {
        let mut live = Self::default();
        for (key, Versioned { value, revision }) in values {
            live.insert(&key, value, revision, 0);
        }
        live
    }

    /// Writes a value; returns the one that it replaces.
    pub(crate) fn insert(
        &mut self,
        key: &Key,
        value: Bytes,
        revision: Revision,
        at_millis: u64,
    ) -> Option<Versioned> {
        if value.len() >= DELTA_BYTES_MIN {
            self.written.push_back(WrittenValue { key: key.clone(), revision, at_millis });
        }
        self.bytes += key.as_bytes().len() + value.len();
        let written = LiveValue { revision, form: Form::Whole(value) };
        let replaced = match self.values.get_mut(key) {
            Some(present) => Some(std::mem::replace(present, written)),
            None => self.values.insert(key.clone(), written),
        };
        replaced.map(|replaced| self.taken(key, replaced))
    }

    /// Removes a key; returns its value.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<Versioned> {
        let removed = self.values.remove(key)?;
        Some(self.taken(key, removed))
    }

    fn taken(&mut self, key: &Key, value: LiveValue) -> Versioned {
        let taken = value.into_versioned();
        self.bytes -= key.as_bytes().len() + taken.value.len();
        taken
    }

    /// Stores values that have not changed for a while as deltas. Looks at a number of values at most; returns whether any are left.
    pub(crate) fn encode_unchanged(&mut self, now_millis: u64, values_max: usize) -> bool {
        let is_due = |written: &WrittenValue| {
            Duration::from_millis(now_millis.saturating_sub(written.at_millis)) >= UNCHANGED
        };
        for _ in 0..values_max {
            let Some(written) = self.written.pop_front_if(|written| is_due(written)) else { break };
            self.encode(&written);
        }
        if self.written.len() < self.written.capacity() / 4 {
            self.written.shrink_to(self.written.capacity() / 2);
        }
        self.written.front().is_some_and(is_due)
    }

    fn encode(&mut self, written: &WrittenValue) {
        let Some(present) = self.values.get_mut(&written.key) else { return };
        let Form::Whole(value) = &present.form else { return };
        if present.revision == written.revision
            && let Some((base, delta)) = self.bases.delta(&written.key, value)
        {
            present.form = Form::Delta { base, delta: delta.into() };
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_rng::Rng;

    use super::*;

    fn key(name: &str) -> Key {
        Key::new(name.to_owned()).unwrap()
    }

    fn revision(number: u64) -> Revision {
        Revision::new(number).unwrap()
    }

    /// A value of 3 KB that differs from others by a number.
    fn pod(number: u64) -> Bytes {
        let mut rng = Rng::new(1);
        [rng.bytes(1000), format!("number {number}").into_bytes(), rng.bytes(2000)].concat().into()
    }

    fn whole_values(live: &LiveValues) -> usize {
        live.iter().filter(|(_, value)| matches!(value.form, Form::Whole(_))).count()
    }

    fn with_pods(count: u64, at_millis: u64) -> LiveValues {
        let mut live = LiveValues::default();
        for number in 1..=count {
            live.insert(&key(&format!("/pods/{number:03}")), pod(number), revision(number), at_millis);
        }
        live
    }

    #[test]
    fn values_that_do_not_change_are_stored_as_deltas() {
        let mut live = with_pods(100, 1000);
        let bytes = live.bytes();
        assert!(!live.encode_unchanged(5999, 1000));
        assert_eq!(whole_values(&live), 100, "they were written less than five seconds ago");
        assert!(live.encode_unchanged(6000, 60));
        assert!(!live.encode_unchanged(6000, 60));
        assert_eq!(whole_values(&live), 1, "the first one is the base");
        assert!(live.iter().zip(1..).all(|((_, value), number)| {
            value.versioned() == Versioned { value: pod(number), revision: revision(number) }
        }));
        assert_eq!(live.bytes(), bytes);
    }

    #[test]
    fn a_value_that_was_replaced_meanwhile_is_not_encoded_yet() {
        let mut live = with_pods(2, 0);
        live.insert(&key("/pods/002"), pod(7), revision(3), 4000);
        assert!(!live.encode_unchanged(6000, 1000));
        assert_eq!(whole_values(&live), 2);
        assert!(!live.encode_unchanged(9000, 1000));
        assert_eq!(whole_values(&live), 1);
        assert_eq!(live.insert(&key("/pods/002"), pod(8), revision(4), 9000).unwrap().value, pod(7));
        assert_eq!(
            live.remove(&key("/pods/002")).unwrap(),
            Versioned { value: pod(8), revision: revision(4) }
        );
        assert!(live.get(b"/pods/002").is_none());
    }

    #[test]
    fn sizes_count_whole_values() {
        let mut live = with_pods(2, 0);
        live.encode_unchanged(6000, 1000);
        live.remove(&key("/pods/001"));
        live.insert(&key("/pods/002"), Bytes::from_static(b"small"), revision(3), 6000);
        assert_eq!(live.bytes(), "/pods/002small".len());
        live.remove(&key("/pods/002"));
        assert_eq!((live.bytes(), live.len()), (0, 0));
    }
}
