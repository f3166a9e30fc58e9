//! The recent changes, in order, limited by age and size.
//!
//! A record holds the value it replaced; the value it wrote is shared with the live map. So history costs about what
//! was overwritten, not a second copy of the store.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use crate::{Change, Event, Key, Revision, Versioned};

/// The limits of history; records beyond either of them are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// The maximum age of a record.
    pub age: Duration,
    /// The maximum memory of all records.
    pub bytes: usize,
}

/// One change of one key.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) revision: Revision,
    /// System time of the write in milliseconds since 1970; used only for the age limit.
    pub(crate) at_millis: u64,
    pub(crate) key: Key,
    pub(crate) value: Option<Bytes>,
    pub(crate) previous: Option<Versioned>,
}

/// Records in the order of their revisions.
#[derive(Debug)]
pub(crate) struct History {
    records: VecDeque<Record>,
    bytes: usize,
    /// The last revision whose records are dropped.
    forgotten: Revision,
}

/// The cost of a record beside its key and replaced value: the record itself and its share of allocations.
const RECORD_BYTES: usize = 160;

impl HistoryLimits {
    /// Without limits; for tests that compare all of history.
    pub const UNLIMITED: Self = Self { age: Duration::MAX, bytes: usize::MAX };
}

impl Default for HistoryLimits {
    /// Five minutes, as in Kubernetes, and at most 32 MiB.
    fn default() -> Self {
        Self { age: Duration::from_mins(5), bytes: 32 << 20 }
    }
}

impl Record {
    /// The record as a watch event.
    pub(crate) fn event(&self) -> Event {
        let change = match (&self.value, &self.previous) {
            (Some(value), Some(previous)) => {
                Change::Updated { value: value.clone(), previous: previous.clone() }
            }
            (Some(value), None) => Change::Created { value: value.clone() },
            // A delete always has a previous value: its condition requires it.
            (None, previous) => {
                Change::Deleted { previous: previous.clone().unwrap_or_else(|| self.nothing()) }
            }
        };
        Event::new(self.key.clone(), self.revision, change)
    }

    fn nothing(&self) -> Versioned {
        Versioned { value: Bytes::new(), revision: self.revision }
    }

    fn bytes(&self) -> usize {
        RECORD_BYTES + self.key.as_bytes().len() + self.previous.as_ref().map_or(0, |kept| kept.value.len())
    }
}

impl History {
    /// A history that begins after a revision.
    pub(crate) fn after_revision(forgotten: Revision) -> Self {
        Self { records: VecDeque::new(), bytes: 0, forgotten }
    }

    pub(crate) fn forgotten(&self) -> Revision {
        self.forgotten
    }

    pub(crate) fn push(&mut self, record: Record) {
        self.bytes = self.bytes.saturating_add(record.bytes());
        self.records.push_back(record);
    }

    /// The records after a revision, oldest first.
    pub(crate) fn after(&self, revision: Revision) -> impl Iterator<Item = &Record> {
        let start = self.records.partition_point(|record| record.revision <= revision);
        self.records.range(start..)
    }

    /// The revision of the oldest record, if it is beyond the limits.
    pub(crate) fn overdue(&self, limits: &HistoryLimits, now_millis: u64) -> Option<Revision> {
        let oldest = self.records.front()?;
        let age = Duration::from_millis(now_millis.saturating_sub(oldest.at_millis));
        (age > limits.age || self.bytes > limits.bytes).then_some(oldest.revision)
    }

    /// Drops records up to and including a revision.
    pub(crate) fn forget(&mut self, through: Revision) {
        while let Some(oldest) = self.records.pop_front_if(|oldest| oldest.revision <= through) {
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
            self.forgotten = oldest.revision;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }
}
