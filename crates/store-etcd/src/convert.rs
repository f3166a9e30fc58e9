//! Between etcd's numbers and records and the port's.

use bytes::Bytes;
use gantry_store::{Change, Event, Item, Key, Revision, Versioned};

use crate::wire::{EVENT_PUT, KeyValue, WatchEvent};

/// The number etcd knows a revision by. Beyond what etcd can count there is nothing, and nothing matches.
pub(crate) fn number(revision: Revision) -> i64 {
    i64::try_from(revision.get()).unwrap_or(i64::MAX)
}

/// The revision of etcd's number; etcd starts counting at 1.
pub(crate) fn revision(number: i64) -> Revision {
    u64::try_from(number).ok().and_then(Revision::new).unwrap_or(Revision::EMPTY)
}

/// What a key holds.
pub(crate) fn versioned(kv: &KeyValue) -> Versioned {
    Versioned { value: kv.value.clone(), revision: revision(kv.mod_revision) }
}

/// A key with what it holds; `None` when etcd has a key that the port cannot name.
pub(crate) fn item(kv: KeyValue) -> Option<Item> {
    Some(Item { key: key(kv.key)?, value: kv.value, revision: revision(kv.mod_revision) })
}

/// What became of one event of etcd.
pub(crate) enum Told {
    /// The change, with what was before it.
    Event(Event),
    /// A key that the port cannot name.
    Unnameable,
    /// What was before the change is forgotten.
    PreviousForgotten,
}

/// The event as the port tells it.
pub(crate) fn event(event: WatchEvent) -> Told {
    let Some(kv) = event.kv else { return Told::Unnameable };
    let Some(key) = key(kv.key) else { return Told::Unnameable };
    let previous = event.prev_kv.as_ref().map(versioned);
    let is_put = event.kind == EVENT_PUT;
    let change = match previous {
        _ if is_put && kv.version == 1 => Change::Created { value: kv.value },
        Some(previous) if is_put => Change::Updated { value: kv.value, previous },
        Some(previous) => Change::Deleted { previous },
        None => return Told::PreviousForgotten,
    };
    Told::Event(Event::new(key, revision(kv.mod_revision), change))
}

fn key(bytes: Bytes) -> Option<Key> {
    Key::new(bytes).ok()
}
