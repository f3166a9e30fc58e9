//! The recent changes, in order, limited by age and size.
//!
//! A record holds the value it replaced, as its difference from the value that it wrote. The written value is in the
//! live map, or was replaced by the next record of the key:
//!
//! ```text
//! records   a@1 created    a@5: a@1 is a@5 and a difference    a@9: a@5 is a@9 and a difference
//! live                                                         a@9
//! ```
//!
//! So history takes memory for differences only. The last value of a deleted key is stored as a difference from the
//! last value of another deleted key, which is probably similar.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::memory::byte_log::{ByteLog, Span};
use crate::memory::delta;
use crate::{Change, Event, Key, Revision, Versioned};

/// The limits of history; records beyond either of them are dropped.
///
/// If the oldest record is older than a tenth of the age, which is enough for a watcher to resume, history may have
/// only a quarter of the memory; if half of the records are, a sixteenth. So much is kept while much changes, and
/// little of it afterwards. The replaced values may have four times that size as whole values, which they are in a log
/// on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// The maximum age of a record.
    pub age: Duration,
    /// The maximum memory of all records.
    pub bytes: usize,
}

/// One change of one key.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) revision: Revision,
    /// System time of the write in milliseconds since 1970; used only for the age limit.
    at_millis: u64,
    key: Span,
    written: Written,
    previous: Option<Replaced>,
}

/// Where the value is stored that a record wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// In the live map.
    Live,
    /// It was replaced or deleted by the record of this revision.
    ReplacedAt(Revision),
    /// The record deleted the key.
    Nothing,
}

/// A value that was replaced.
#[derive(Debug)]
struct Replaced {
    revision: Revision,
    kept: Kept,
    /// The size of the value.
    length: usize,
    /// The maximum number of differences to apply, one after the other, to the value that the record wrote or any later one.
    links: u8,
}

#[derive(Debug)]
enum Kept {
    Whole(Span),
    /// Too large to be copied.
    Large(Bytes),
    /// The difference from the value that its record wrote.
    FromWritten(Span),
    /// The difference from the last value of another key.
    FromSibling(Arc<[u8]>, Span),
}

/// Records in the order of their revisions.
#[derive(Debug)]
pub(crate) struct History {
    records: VecDeque<Record>,
    /// The keys and values of the records.
    contents: ByteLog,
    bytes: usize,
    /// The size that the records would have with whole values.
    whole_bytes: usize,
    /// The last revision whose records are dropped.
    forgotten: Revision,
    siblings: Siblings,
}

/// Last values of deleted keys, which are the bases of differences for their siblings.
#[derive(Debug, Default)]
struct Siblings(VecDeque<Sibling>);

#[derive(Debug)]
struct Sibling {
    /// The part of the key that siblings have in common.
    parent: Box<[u8]>,
    value: Arc<[u8]>,
}

/// The live values, to which the last record of each key refers.
pub(crate) type LiveValues = BTreeMap<Key, Versioned>;

/// The size of a record without its key and replaced value: the record itself, and its share of the queue's unused
/// capacity.
const RECORD_BYTES: usize = 160;
/// The maximum number of differences between a value and one that is kept whole, so that reading one record is never expensive.
const LINKS_MAX: u8 = 16;
/// The maximum number of deleted values that are bases of differences: kinds times namespaces in which much is deleted
/// at a time.
const SIBLINGS_MAX: usize = 64;
/// The maximum size of these values; they are not counted after their records are dropped.
const SIBLING_BYTES_MAX: usize = 16 << 10;

impl HistoryLimits {
    /// Without limits; for tests that compare all of history.
    pub const UNLIMITED: Self = Self { age: Duration::MAX, bytes: usize::MAX };
}

impl Default for HistoryLimits {
    /// Five minutes, as in Kubernetes, and at most 32 MiB: about sixty thousand changes of pods.
    fn default() -> Self {
        Self { age: Duration::from_mins(5), bytes: 32 << 20 }
    }
}

impl Record {
    fn bytes(&self) -> usize {
        let previous = self.previous.as_ref().map_or(0, |previous| previous.kept.bytes());
        RECORD_BYTES + self.key.len() + previous
    }

    fn whole_bytes(&self) -> usize {
        RECORD_BYTES + self.key.len() + self.previous.as_ref().map_or(0, |previous| previous.length)
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        match self {
            Self::Large(value) => value.len(),
            Self::Whole(bytes) | Self::FromWritten(bytes) | Self::FromSibling(_, bytes) => bytes.len(),
        }
    }
}

impl History {
    /// A history that begins after a revision.
    pub(crate) fn after_revision(forgotten: Revision) -> Self {
        let (records, contents) = (VecDeque::new(), ByteLog::default());
        Self { records, contents, bytes: 0, whole_bytes: 0, forgotten, siblings: Siblings::default() }
    }

    pub(crate) fn forgotten(&self) -> Revision {
        self.forgotten
    }

    /// Adds a change: the value that was written, none if the key was deleted, and the value that it replaced.
    pub(crate) fn push(
        &mut self,
        (key, revision, at_millis): (&Key, Revision, u64),
        value: Option<&Bytes>,
        previous: Option<Versioned>,
    ) {
        let written = if value.is_some() { Written::Live } else { Written::Nothing };
        let span = self.contents.push(key.as_bytes());
        let previous = previous.map(|previous| self.replaced(key, revision, value, previous));
        let record = Record { revision, at_millis, key: span, written, previous };
        self.bytes = self.bytes.saturating_add(record.bytes());
        self.whole_bytes = self.whole_bytes.saturating_add(record.whole_bytes());
        self.records.push_back(record);
    }

    /// The stored form of a value that is replaced at this revision. The record that wrote the value refers to it from
    /// now on.
    fn replaced(
        &mut self,
        key: &Key,
        at: Revision,
        value: Option<&Bytes>,
        Versioned { value: previous, revision }: Versioned,
    ) -> Replaced {
        let links = match self.position(revision, key.as_bytes()) {
            Some(writer) => {
                self.records[writer].written = Written::ReplacedAt(at);
                self.records[writer].previous.as_ref().map_or(0, |previous| previous.links)
            }
            None => 0,
        };
        let length = previous.len();
        let from_written = value
            .filter(|_| links < LINKS_MAX)
            .and_then(|value| delta::between(value, &previous))
            .map(|delta| Kept::FromWritten(self.contents.push(&delta)));
        let kept = match from_written {
            Some(kept) => return Replaced { revision, kept, length, links: links + 1 },
            None if previous.len() > delta::VALUE_MAX => Kept::Large(previous),
            None if value.is_none() => self.keep_last(key, &previous),
            None => Kept::Whole(self.contents.push(&previous)),
        };
        Replaced { revision, kept, length, links: 0 }
    }

    /// Keeps the last value of a key.
    fn keep_last(&mut self, key: &Key, value: &[u8]) -> Kept {
        let sibling = self.siblings.of(key);
        let delta = sibling.as_ref().and_then(|sibling| delta::between(sibling, value));
        if let Some((sibling, delta)) = sibling.zip(delta) {
            return Kept::FromSibling(sibling, self.contents.push(&delta));
        }
        self.siblings.replace(key, value);
        Kept::Whole(self.contents.push(value))
    }

    /// The index of the record of a key at a revision.
    fn position(&self, revision: Revision, key: &[u8]) -> Option<usize> {
        let start = self.records.partition_point(|record| record.revision < revision);
        let records = self.records.range(start..).take_while(|record| record.revision == revision);
        records.enumerate().find(|(_, record)| self.key(record) == key).map(|(place, _)| start + place)
    }

    /// The key that a record changed.
    pub(crate) fn key(&self, record: &Record) -> &[u8] {
        self.contents.get(record.key)
    }

    /// The records after a revision, oldest first.
    pub(crate) fn after(&self, revision: Revision) -> impl Iterator<Item = &Record> {
        let start = self.records.partition_point(|record| record.revision <= revision);
        self.records.range(start..)
    }

    /// A record as a watch event.
    pub(crate) fn event(&self, record: &Record, live: &LiveValues) -> Event {
        let value = self.value(record, live);
        let previous = self.previous(record, live);
        let change = Change::of(record.revision, value, previous);
        Event::new(Key::copied(self.key(record)), record.revision, change)
    }

    /// The value that a record wrote.
    fn value(&self, record: &Record, live: &LiveValues) -> Option<Bytes> {
        match record.written {
            Written::Nothing => None,
            Written::Live => live.get(self.key(record)).map(|version| version.value.clone()),
            Written::ReplacedAt(revision) => {
                let replacing = self.position(revision, self.key(record))?;
                self.previous(&self.records[replacing], live).map(|previous| previous.value)
            }
        }
    }

    /// The value that a record replaced.
    pub(crate) fn previous(&self, record: &Record, live: &LiveValues) -> Option<Versioned> {
        let Replaced { revision, kept, .. } = record.previous.as_ref()?;
        let value = match kept {
            Kept::Whole(value) => Bytes::copy_from_slice(self.contents.get(*value)),
            Kept::Large(value) => value.clone(),
            Kept::FromWritten(delta) => delta::apply(&self.value(record, live)?, self.contents.get(*delta)),
            Kept::FromSibling(sibling, delta) => delta::apply(sibling, self.contents.get(*delta)),
        };
        Some(Versioned { value, revision: *revision })
    }

    /// The revision of the oldest record, if it is beyond the limits.
    pub(crate) fn overdue(&self, limits: &HistoryLimits, now_millis: u64) -> Option<Revision> {
        let (oldest, middle) = (self.records.front()?, self.records.get(self.records.len() / 2)?);
        let age = |record: &Record| Duration::from_millis(now_millis.saturating_sub(record.at_millis));
        let is_old = |record| age(record) > limits.age / 10;
        let share = match (is_old(oldest), is_old(middle)) {
            (false, _) => 1,
            (true, false) => 4,
            (true, true) => 16,
        };
        let bytes = self.bytes.max(self.whole_bytes / 4);
        let is_overdue = age(oldest) > limits.age || bytes > limits.bytes / share;
        is_overdue.then_some(oldest.revision)
    }

    /// Drops records up to and including a revision.
    pub(crate) fn forget(&mut self, through: Revision) {
        while let Some(oldest) = self.records.pop_front_if(|oldest| oldest.revision <= through) {
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
            self.whole_bytes = self.whole_bytes.saturating_sub(oldest.whole_bytes());
            self.forgotten = oldest.revision;
        }
        self.contents.drop_before(self.records.front().map(|oldest| oldest.key));
        if self.records.is_empty() {
            self.siblings = Siblings::default();
        }
        // The capacity doubles when the queue is full. With this bound at least a quarter of the records are added or
        // removed before it changes again.
        if self.records.len() < self.records.capacity() / 8 * 3 {
            self.records.shrink_to(self.records.capacity() / 2);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }
}

impl Siblings {
    /// The base for the last value of this key, which is probably similar.
    fn of(&self, key: &Key) -> Option<Arc<[u8]>> {
        self.0.iter().find(|sibling| *sibling.parent == *parent(key)).map(|sibling| sibling.value.clone())
    }

    /// Makes this the base for the last values of later deleted siblings.
    fn replace(&mut self, key: &Key, value: &[u8]) {
        if value.len() <= SIBLING_BYTES_MAX {
            self.0.retain(|sibling| *sibling.parent != *parent(key));
            self.0.truncate(SIBLINGS_MAX - 1);
            self.0.push_front(Sibling { parent: parent(key).into(), value: value.into() });
        }
    }
}

/// A key up to its last slash. The rest is a name among values of one kind.
fn parent(key: &Key) -> &[u8] {
    let key = key.as_bytes();
    let end = key.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
    &key[..end]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gantry_rng::Rng;

    use super::*;
    use crate::memory::State;
    use crate::{Op, Transaction};

    fn key(name: &str) -> Key {
        Key::new(name.to_owned()).unwrap()
    }

    fn write(state: &mut State, name: &str, value: Option<Vec<u8>>) {
        let key = key(name);
        let op = match (state.get(&key).found, value) {
            (None, Some(value)) => Op::Create { value: value.into() },
            (Some(found), Some(value)) => Op::Update { value: value.into(), seen: found.revision },
            (Some(found), None) => Op::Delete { seen: found.revision },
            (None, None) => return,
        };
        state.replay(Transaction::single(key, op), 0).unwrap();
    }

    fn write_at(state: &mut State, name: &str, at_millis: u64) {
        let op = Op::Create { value: b"v".to_vec().into() };
        state.replay(Transaction::single(key(name), op), at_millis).unwrap();
    }

    /// A value of a few kilobytes that differs from others of its seed by a number.
    fn numbered(seed: u64, number: usize) -> Vec<u8> {
        let mut rng = Rng::new(seed);
        [rng.bytes(900), format!("number {number}").into_bytes(), rng.bytes(2000)].concat()
    }

    fn events(state: &State) -> Vec<Event> {
        state.history().after(Revision::EMPTY).map(|record| state.event(record)).collect()
    }

    /// Values that were written, deleted and written again are read back unchanged, whatever form they were stored in.
    #[test]
    fn every_record_has_the_values_that_were_written() {
        let mut rng = Rng::new(3);
        let (mut state, mut values, mut changes) =
            (State::empty(HistoryLimits::UNLIMITED), BTreeMap::new(), Vec::new());
        for number in 0..500 {
            let name = format!("/kind-{}/{}", rng.index(3), rng.index(4));
            let value = match rng.index(6) {
                0 => None,
                1 => Some(rng.bytes(50)),
                2 => Some(rng.bytes(3000)),
                _ => Some(numbered(7, number)),
            };
            let previous = values.remove(&name);
            if let Some(value) = &value {
                values.insert(name.clone(), value.clone());
            }
            if value.is_some() || previous.is_some() {
                changes.push((name.clone(), value.clone(), previous));
            }
            write(&mut state, &name, value);
        }
        let read = events(&state).into_iter().map(|event| {
            let previous = event.previous().map(|previous| previous.value.to_vec());
            (event.key.to_string(), event.value().map(|value| value.to_vec()), previous)
        });
        assert_eq!(read.collect::<Vec<_>>(), changes);
    }

    #[test]
    fn states_of_one_object_cost_what_differs() {
        let mut state = State::empty(HistoryLimits::UNLIMITED);
        for number in 0..100 {
            write(&mut state, "/pods/a", Some(numbered(1, number)));
        }
        let whole = 100 / usize::from(LINKS_MAX) + 1;
        let bytes = state.usage().history_bytes;
        assert!(bytes < whole * 3000 + 100 * (RECORD_BYTES + 64), "{bytes}");
    }

    /// The log on disk has whole values, and is kept for as long as history.
    #[test]
    fn large_values_that_hardly_differ_are_limited_by_their_size() {
        let mut state = State::empty(HistoryLimits { age: Duration::MAX, bytes: 30_000 });
        for number in 0..100 {
            write(&mut state, "/maps/a", Some(numbered(1, number)));
        }
        let changes = state.usage().changes;
        assert!((30..=40).contains(&changes), "{changes}");
    }

    #[test]
    fn deleted_objects_that_are_alike_cost_what_differs() {
        let mut state = State::empty(HistoryLimits::UNLIMITED);
        for number in 0..100 {
            let name = format!("/pods/{number}");
            write(&mut state, &name, Some(numbered(1, number)));
            write(&mut state, &name, None);
        }
        let bytes = state.usage().history_bytes;
        assert!(bytes < 3000 + 200 * (RECORD_BYTES + 64), "{bytes}");
    }

    #[test]
    fn little_is_kept_for_long_after_much_has_changed() {
        let limits = HistoryLimits { age: Duration::from_secs(100), bytes: 40_000 };
        let mut state = State::empty(limits);
        for number in 0..100 {
            write(&mut state, &format!("/pods/{number}"), Some(b"v".to_vec()));
        }
        state.forget(9_000);
        assert_eq!(state.usage().changes, 100, "recent changes are kept for watchers that resume");
        for number in 0..40 {
            write_at(&mut state, &format!("/others/{number}"), 8_000);
        }
        state.forget(11_000);
        let bytes = state.usage().history_bytes;
        assert!((9_000..=10_000).contains(&bytes), "{bytes}: a quarter of the limit");
        state.forget(19_000);
        let bytes = state.usage().history_bytes;
        assert!((2_000..=2_500).contains(&bytes), "{bytes}");
        state.forget(109_000);
        assert_eq!(state.usage().changes, 0);
    }

    /// A hot key is written thousands of times in five minutes.
    #[test]
    fn few_differences_are_between_a_record_and_a_whole_value() {
        let mut state = State::empty(HistoryLimits::UNLIMITED);
        for number in 0..1000 {
            write(&mut state, "/leases/a", Some(numbered(1, number)));
        }
        let links = state.history().records.iter().filter_map(|record| Some(record.previous.as_ref()?.links));
        assert_eq!(links.max(), Some(LINKS_MAX));
    }
}
