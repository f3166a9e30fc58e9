//! Conversion between etcd's messages and the port's types.

use bytes::Bytes;
use gantry_store::{Change, Event, Item, Key, Revision, Versioned};

use crate::wire::{EVENT_PUT, KeyValue, WatchEvent};

/// etcd's number of a revision. Revisions beyond etcd's range match nothing.
pub(crate) fn number(revision: Revision) -> i64 {
    i64::try_from(revision.get()).unwrap_or(i64::MAX)
}

/// The revision of etcd's number, which starts at 1.
pub(crate) fn revision(number: i64) -> Revision {
    u64::try_from(number).ok().and_then(Revision::new).unwrap_or(Revision::EMPTY)
}

/// The value of a key.
pub(crate) fn versioned(kv: &KeyValue) -> Versioned {
    Versioned { value: kv.value.clone(), revision: revision(kv.mod_revision) }
}

/// `None` when the port does not allow the key.
pub(crate) fn item(kv: KeyValue) -> Option<Item> {
    Some(Item { key: key(kv.key)?, value: kv.value, revision: revision(kv.mod_revision) })
}

/// A converted event of etcd.
pub(crate) enum ConvertedEvent {
    /// The event, with the previous value.
    Event(Event),
    /// The port does not allow the key.
    Unnameable,
    /// The previous value is compacted.
    PreviousForgotten,
}

/// Converts an event.
pub(crate) fn event(event: WatchEvent) -> ConvertedEvent {
    let Some(kv) = event.kv else { return ConvertedEvent::Unnameable };
    let Some(key) = key(kv.key) else { return ConvertedEvent::Unnameable };
    let previous = event.prev_kv.as_ref().map(versioned);
    let is_put = event.kind == EVENT_PUT;
    let change = match previous {
        _ if is_put && kv.version == 1 => Change::Created { value: kv.value },
        Some(previous) if is_put => Change::Updated { value: kv.value, previous },
        Some(previous) => Change::Deleted { previous },
        None => return ConvertedEvent::PreviousForgotten,
    };
    ConvertedEvent::Event(Event::new(key, revision(kv.mod_revision), change))
}

fn key(bytes: Bytes) -> Option<Key> {
    Key::new(bytes).ok()
}
