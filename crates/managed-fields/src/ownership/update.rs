//! Ownership on writes other than apply: the manager that changes a value owns it from then on.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gantry_json::{Map, Value};

use super::fields_of::zero;
use super::{FieldSet, Identity, ManagedFields, PathElement, compare_written, reconcile};
use crate::apply::first_without_key;
use gantry_schema::kinds::Nature;

/// A write, for ownership.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The kind of the object, such as `Deployment`.
    pub kind: &'a str,
    /// The schema of its objects.
    pub nature: &'a Nature,
    /// The version of the request, such as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
    /// The field manager.
    pub manager: &'a str,
    /// The fields that this write resets, such as `status`: they are neither compared nor owned.
    pub reset: &'a FieldSet,
    /// The time, in RFC 3339 with whole seconds.
    pub now: &'a str,
}

/// Updates the managed fields of the new object after a write other than apply; `old` is `None` for a creation.
///
/// The new object is decoded and defaulted, but not yet changed by admission or allocation: fields set there have no
/// owner. An object without managed fields keeps none: it was never tracked, or a client reset them.
pub fn track_update(old: Option<&Value>, new: &mut Value, write: &Write<'_>) {
    if [old, Some(&*new)].into_iter().flatten().any(|object| first_without_key(write, object).is_some()) {
        // An object whose elements cannot be named keeps its managed fields.
        return old.map(ManagedFields::of).unwrap_or_default().store(new);
    }
    let mut managed = record_to_start_from(old, new, write.subresource);
    if managed.is_empty() && old.is_some() {
        managed.store(new);
        return;
    }
    reconcile(&mut managed, write.nature);
    let zero = old.is_none().then(|| zero(write.nature));
    if let Some(old) = old.or(zero.as_ref()) {
        record_change(&mut managed, old, new, write);
    }
    managed.cap();
    managed.store(new);
}

/// Whether two objects differ only in the times of managed fields; if so, nothing is stored.
pub fn differ_only_in_times(old: &Value, new: &Value) -> bool {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return false };
    same_but_for("metadata", old, new, |old, new| {
        let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return false };
        same_but_for("managedFields", old, new, same_but_for_times)
    })
}

/// Whether all members but one are equal; that one is compared by the caller.
fn same_but_for(name: &str, old: &Map, new: &Map, is_equal: impl Fn(&Value, &Value) -> bool) -> bool {
    old.len() == new.len()
        && old.iter().all(|(key, value)| key == name || new.get(key) == Some(value))
        && old.get(name).zip(new.get(name)).is_some_and(|(old, new)| is_equal(old, new))
}

/// Entries are sorted by time, so without times their order is ignored.
fn same_but_for_times(old: &Value, new: &Value) -> bool {
    let (Some(old), Some(new)) = (old.as_array(), new.as_array()) else { return false };
    let without_time = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("time");
        }
        entry.to_string()
    };
    if old.len() != new.len() {
        return false;
    }
    let new: BTreeSet<_> = new.iter().map(without_time).collect();
    old.iter().all(|entry| new.contains(&without_time(entry)))
}

/// The fields that are never tracked, since clients do not control them.
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

/// Removes the fields that are never tracked.
pub(crate) fn strip(mut fields: FieldSet) -> FieldSet {
    fields.subtract(never_tracked());
    fields
}

/// The managed fields of an object that had none: `manager` owns everything.
pub(crate) fn initial_owner(live: &Value, write: &Write<'_>, manager: &str) -> ManagedFields {
    let mut record = ManagedFields::new();
    record_change(&mut record, &zero(write.nature), live, &Write { manager, ..*write });
    record
}

fn record_change(managed: &mut ManagedFields, old: &Value, new: &Value, write: &Write<'_>) {
    let (old, new) = (without(old, write.reset), without(new, write.reset));
    let mut comparison = compare_written(write.nature, &old, &new);
    comparison.ignore(write.reset);
    if comparison.is_same() {
        return;
    }
    let (gained, removed) = comparison.into_gained_and_removed();
    let identity = Identity::updater(write.manager, write.api_version, write.subresource);
    // Paths that the manager already owns stay its own.
    managed.take_from_others(Some(&identity), &gained);
    managed.take_from(&identity, &gained.intersection(never_tracked()));
    managed.take_from_others(None, &removed);
    let gained = strip(gained);
    if !gained.is_empty() {
        managed.add(identity, write.api_version, gained, write.now);
    }
}

/// An object without the members that are reset as a whole, which need not be compared.
fn without(object: &Value, reset: &FieldSet) -> Value {
    let mut object = object.clone();
    for (element, node) in reset.nodes() {
        if let (Some(members), PathElement::Field(name), true) = (object.as_object_mut(), element, node.owned)
        {
            members.remove(name);
        }
    }
    object
}

/// Handles managed fields sent by a client: valid ones replace, empty ones reset, absent ones keep the stored ones.
fn record_to_start_from(old: Option<&Value>, new: &Value, subresource: &str) -> ManagedFields {
    let stored = || old.map(ManagedFields::of).unwrap_or_default();
    if !subresource.is_empty() {
        return stored();
    }
    let written = match new.pointer("/metadata/managedFields") {
        None | Some(Value::Null) => return stored(),
        Some(written) => written,
    };
    if old.and_then(|old| old.pointer("/metadata/managedFields")) == Some(written) {
        // The stored managed fields need not be checked.
        return stored();
    }
    let reset = written.as_array().is_some_and(|entries| match entries.as_slice() {
        [] => true,
        [only] => only.as_object().is_some_and(Map::is_empty),
        _ => false,
    });
    match ManagedFields::decode(written) {
        _ if reset => ManagedFields::new(),
        Ok(managed) if !managed.is_empty() => managed,
        _ => stored(),
    }
}
