//! Watch events: one change of one key, shared by all watchers.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::{Key, Revision};

/// A value and the revision that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The bytes as they were written.
    pub value: Bytes,
    /// The revision of the write.
    pub revision: Revision,
}

/// What happened to the key.
///
/// The previous value is always included: a watch with a selector needs it to distinguish "left the selection" from
/// "never was in it".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The key was absent before.
    Created {
        /// The new value.
        value: Bytes,
    },
    /// The key existed before.
    Updated {
        /// The new value.
        value: Bytes,
        /// The previous value.
        previous: Versioned,
    },
    /// The key was deleted.
    Deleted {
        /// The last value.
        previous: Versioned,
    },
}

impl Change {
    /// The change at this revision from a previous value to a new one, none if the key is absent.
    pub(crate) fn of(revision: Revision, value: Option<Bytes>, previous: Option<Versioned>) -> Self {
        match (value, previous) {
            (Some(value), Some(previous)) => Self::Updated { value, previous },
            (Some(value), None) => Self::Created { value },
            // A delete always has a previous value: its condition requires it.
            (None, previous) => {
                Self::Deleted { previous: previous.unwrap_or(Versioned { value: Bytes::new(), revision }) }
            }
        }
    }
}

/// One change of one key at one revision.
///
/// All live watchers of a change get the same `Arc<Event>`. The encoder for the wire keeps its result in
/// [`Event::attached`], so that a thousand watchers cost one encoding.
pub struct Event {
    /// The key that changed.
    pub key: Key,
    /// The revision of the change. Events of one watch are in this order.
    pub revision: Revision,
    /// The change.
    pub change: Change,
    attachment: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Event {
    /// An event without an attachment.
    pub fn new(key: Key, revision: Revision, change: Change) -> Self {
        Self { key, revision, change, attachment: OnceLock::new() }
    }

    /// A value derived from this event, computed on the first call and shared by all later ones.
    ///
    /// There is one slot. A caller that requests another type than the first caller gets an unshared value of its own.
    pub fn attached<T: Any + Send + Sync>(&self, make: impl Fn(&Self) -> T) -> Arc<T> {
        let shared = Arc::clone(self.attachment.get_or_init(|| Arc::new(make(self))));
        shared.downcast().unwrap_or_else(|_other_type| Arc::new(make(self)))
    }

    /// The size of its values.
    pub(crate) fn bytes(&self) -> usize {
        let previous = self.previous().map_or(0, |previous| previous.value.len());
        previous.saturating_add(self.value().map_or(0, Bytes::len))
    }

    /// The new value, if the key still exists.
    pub fn value(&self) -> Option<&Bytes> {
        match &self.change {
            Change::Created { value } | Change::Updated { value, .. } => Some(value),
            Change::Deleted { .. } => None,
        }
    }

    /// The previous value, if the key existed.
    pub fn previous(&self) -> Option<&Versioned> {
        match &self.change {
            Change::Created { .. } => None,
            Change::Updated { previous, .. } | Change::Deleted { previous } => Some(previous),
        }
    }
}

impl PartialEq for Event {
    /// Attachments are ignored.
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.revision == other.revision && self.change == other.change
    }
}

impl Eq for Event {}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} {:?}", self.key, self.revision, self.change)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn an_attachment_is_computed_once_for_all_watchers() {
        let made = AtomicUsize::new(0);
        let created = Change::Created { value: Bytes::from_static(b"v") };
        let event = Event::new(Key::new("k").unwrap(), Revision::EMPTY.next(), created);
        let encode = |event: &Event| {
            made.fetch_add(1, Ordering::Relaxed);
            format!("{event:?}")
        };
        let first = event.attached(encode);
        let second = event.attached(encode);
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert_eq!(*event.attached(|_| 7_u8), 7, "another type is returned, too, but not shared");
    }
}
