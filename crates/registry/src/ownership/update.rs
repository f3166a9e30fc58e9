//! Ownership on ordinary writes: whoever changes a value owns it from then on, silently.

use std::sync::LazyLock;

use serde_json::Value;

use super::fields_of::zero;
use super::{FieldSet, Identity, ManagedFields, compare};
use crate::schema::MessageId;

/// One write, as ownership sees it.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// What kind of object is written.
    pub kind: MessageId,
    /// The version it is written in, such as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource written through; empty for the object itself.
    pub subresource: &'a str,
    /// Who writes.
    pub manager: &'a str,
    /// What this write cannot change, such as `status`: it is neither compared nor owned.
    pub reset: &'a FieldSet,
    /// The time, in RFC 3339 with whole seconds.
    pub now: &'a str,
}

/// Records in the new object who owns what after an ordinary write; `old` is `None` for a creation.
///
/// The new object is decoded and defaulted, not yet touched by admission or allocation: what these add belongs to
/// nobody. An object without any record keeps none, as it was never tracked or a client wanted it so.
pub fn track_update(old: Option<&Value>, new: &mut Value, write: &Write<'_>) {
    let mut managed = record_to_start_from(old, new, write.subresource);
    if managed.is_empty() && old.is_some() {
        managed.store(new);
        return;
    }
    let zero = old.is_none().then(|| zero(write.kind));
    if let Some(old) = old.or(zero.as_ref()) {
        record_change(&mut managed, old, new, write);
    }
    managed.cap();
    managed.store(new);
}

/// Undoes a change of times if nothing else was changed, so that a write of what is stored stores nothing.
pub fn keep_times_if_only_they_differ(old: &Value, new: &mut Value) {
    let entries = |object: &'_ Value| object.pointer("/metadata/managedFields").cloned();
    let (Some(before), Some(after)) = (entries(old), entries(new)) else { return };
    if before == after || timeless(&before) != timeless(&after) {
        return;
    }
    if let Some(slot) = new.pointer_mut("/metadata/managedFields") {
        *slot = before;
    }
    if old != new
        && let Some(slot) = new.pointer_mut("/metadata/managedFields")
    {
        *slot = after;
    }
}

/// What nobody ever owns, as it is not for clients to decide.
pub fn never_tracked() -> &'static FieldSet {
    static NEVER: LazyLock<FieldSet> = LazyLock::new(|| {
        FieldSet::of_fields(&[
            "apiVersion",
            "kind",
            "metadata",
            "metadata.name",
            "metadata.namespace",
            "metadata.creationTimestamp",
            "metadata.uid",
            "metadata.resourceVersion",
            "metadata.generation",
            "metadata.selfLink",
            "metadata.managedFields",
        ])
    });
    &NEVER
}

/// Takes out what nobody ever owns.
pub(crate) fn strip(mut fields: FieldSet) -> FieldSet {
    fields.subtract(never_tracked());
    fields
}

/// The record of an object that never had one: all of it belongs to whoever came before.
pub(crate) fn initial_owner(live: &Value, write: &Write<'_>, manager: &str) -> ManagedFields {
    let mut record = ManagedFields::new();
    record_change(&mut record, &zero(write.kind), live, &Write { manager, ..*write });
    record
}

fn record_change(managed: &mut ManagedFields, old: &Value, new: &Value, write: &Write<'_>) {
    let mut comparison = compare(write.kind, old, new);
    comparison.ignore(write.reset);
    if comparison.is_same() {
        return;
    }
    let gained = comparison.gained();
    managed.take_from_others(None, &gained);
    managed.take_from_others(None, &comparison.removed);
    let gained = strip(gained);
    if !gained.is_empty() {
        let identity = Identity::updater(write.manager, write.api_version, write.subresource);
        managed.add(identity, write.api_version, gained, write.now);
    }
}

/// Clients may write the record themselves: a valid one replaces, an empty one resets, an absent one keeps.
fn record_to_start_from(old: Option<&Value>, new: &Value, subresource: &str) -> ManagedFields {
    let stored = || old.map(ManagedFields::of).unwrap_or_default();
    if !subresource.is_empty() {
        return stored();
    }
    let written = match new.pointer("/metadata/managedFields") {
        None | Some(Value::Null) => return stored(),
        Some(written) => written,
    };
    let reset = written.as_array().is_some_and(|entries| match entries.as_slice() {
        [] => true,
        [only] => only.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    });
    match ManagedFields::decode(written) {
        _ if reset => ManagedFields::new(),
        Ok(managed) if !managed.is_empty() => managed,
        _ => stored(),
    }
}

fn timeless(entries: &Value) -> Vec<Value> {
    let mut entries = entries.as_array().cloned().unwrap_or_default();
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    // Times decide the order, so without them it must not count.
    entries.sort_by_key(ToString::to_string);
    entries
}
