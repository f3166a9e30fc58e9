//! Deletion of objects, with finalizers and grace periods.

use gantry_json::{Value, json};

use super::options::{DeleteOptions, Propagation};
use super::{FOREGROUND, ORPHAN, finalizers, generation, metadata, metadata_mut, text};
use crate::Timestamp;
use crate::kinds::{DefaultPropagation, Kind};
use crate::strategies;

/// The effect of a request to delete an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Deletion {
    /// Nothing: the object is being deleted already.
    Unchanged,
    /// The object stays for now, as this.
    Linger(Value),
    /// The object is removed. A pod is first written as this, so that watchers see its deletion timestamp.
    Remove(Option<Value>),
}

/// Decides on a request to delete an object, whose preconditions hold.
pub fn delete(stored: &Value, options: &DeleteOptions, kind: &Kind, now: Timestamp) -> Deletion {
    match strategies::of(kind).delete {
        Some(delete) => delete(stored, options, kind, now),
        None => delete_at_once(stored, options, kind, now),
    }
}

/// Whether a request to delete an object with these finalizers removes it, whatever else the object contains.
///
/// `stored` needs no more than the finalizers of the object.
pub fn is_removed_at_once(stored: &Value, options: &DeleteOptions, kind: &Kind) -> bool {
    strategies::of(kind).delete.is_none() && finalizers_after(stored, options, kind).is_empty()
}

/// Removes an object unless finalizers hold it.
pub(crate) fn delete_at_once(
    stored: &Value,
    options: &DeleteOptions,
    kind: &Kind,
    now: Timestamp,
) -> Deletion {
    let kept = finalizers_after(stored, options, kind);
    if kept.is_empty() {
        return Deletion::Remove(None);
    }
    let mut object = stored.clone();
    set_finalizers(&mut object, &kept);
    set_deletion(&mut object, now, 0);
    if object == *stored { Deletion::Unchanged } else { Deletion::Linger(object) }
}

/// Removes a pod after its grace period.
pub(crate) fn delete_gracefully(
    stored: &Value,
    options: &DeleteOptions,
    kind: &Kind,
    now: Timestamp,
) -> Deletion {
    match pending_grace(stored) {
        None => begin_grace(stored, options, kind, now),
        Some(pending @ 1..) => shorten_grace_period(stored, pending, options, now),
        // A pod whose grace period is over is held by finalizers alone, like any other object.
        Some(_) => delete_at_once(stored, options, kind, now),
    }
}

fn begin_grace(stored: &Value, options: &DeleteOptions, kind: &Kind, now: Timestamp) -> Deletion {
    let grace = grace(stored, options);
    let mut object = stored.clone();
    set_finalizers(&mut object, &finalizers_after(stored, options, kind));
    set_deletion(&mut object, now.plus(grace), grace);
    if grace > 0 || !finalizers(&object).is_empty() {
        Deletion::Linger(object)
    } else {
        Deletion::Remove(Some(object))
    }
}

/// Shortens the grace period of a pod that is being deleted. It starts when the deletion began, and does not end in the
/// past. It is never extended.
fn shorten_grace_period(stored: &Value, pending: i64, options: &DeleteOptions, now: Timestamp) -> Deletion {
    let Some(grace) = options.grace_period_seconds.map(not_negative).filter(|grace| *grace < pending) else {
        return Deletion::Unchanged;
    };
    let ends = text(stored, "deletionTimestamp").and_then(Timestamp::parse).unwrap_or(now);
    let sooner = ends.plus(-pending).plus(grace);
    let (ends, grace) = if sooner < now { (now, grace.min(1)) } else { (sooner, grace) };
    let mut object = stored.clone();
    let metadata = metadata_mut(&mut object);
    metadata.insert("deletionTimestamp", json!(ends.to_string()));
    metadata.insert("deletionGracePeriodSeconds", json!(grace));
    if grace == 0 && finalizers(&object).is_empty() {
        Deletion::Remove(Some(object))
    } else {
        Deletion::Linger(object)
    }
}

/// Returns the grace period of a pod: from the request, otherwise from its spec; zero if it is not running on a node.
fn grace(pod: &Value, options: &DeleteOptions) -> i64 {
    let node = pod.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
    let phase = pod.pointer("/status/phase").and_then(Value::as_str);
    if node.is_empty() || matches!(phase, Some("Succeeded" | "Failed")) {
        return 0;
    }
    let own = || pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0);
    not_negative(options.grace_period_seconds.unwrap_or_else(own))
}

/// Kubernetes counts a negative grace period as one second.
fn not_negative(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

fn pending_grace(object: &Value) -> Option<i64> {
    text(object, "deletionTimestamp")?;
    let grace = metadata(object)?.get("deletionGracePeriodSeconds").and_then(Value::as_i64);
    Some(not_negative(grace.unwrap_or(0)))
}

/// Sets the deletion timestamp and grace period. The first time increments the generation, if the kind has one.
fn set_deletion(object: &mut Value, ends: Timestamp, grace: i64) {
    let is_first =
        metadata(object).is_none_or(|metadata| !metadata.contains_key("deletionGracePeriodSeconds"));
    let ends = match text(object, "deletionTimestamp").and_then(Timestamp::parse) {
        Some(before) if before <= ends => before,
        _ => ends,
    };
    let counted = generation(object);
    let metadata = metadata_mut(object);
    metadata.insert("deletionTimestamp", json!(ends.to_string()));
    metadata.insert("deletionGracePeriodSeconds", json!(grace));
    if is_first && counted > 0 {
        metadata.insert("generation", json!(counted.saturating_add(1)));
    }
}

/// Returns the finalizers after a request to delete: those of the garbage collector follow the propagation policy.
pub(crate) fn finalizers_after(stored: &Value, options: &DeleteOptions, kind: &Kind) -> Vec<String> {
    let before = finalizers(stored);
    let held = |finalizer: &str| before.contains(&finalizer);
    let propagation = match options.propagation {
        Some(propagation) => Some(propagation),
        None if held(ORPHAN) => Some(Propagation::Orphan),
        None if held(FOREGROUND) => Some(Propagation::Foreground),
        None if kind.propagation == DefaultPropagation::Orphan => Some(Propagation::Orphan),
        None => Some(Propagation::Background),
    };
    let wanted = match (kind.propagation, propagation) {
        (DefaultPropagation::Unsupported, _) | (_, Some(Propagation::Background) | None) => None,
        (_, Some(Propagation::Orphan)) => Some(ORPHAN),
        (_, Some(Propagation::Foreground)) => Some(FOREGROUND),
    };
    let others = before.iter().filter(|finalizer| **finalizer != ORPHAN && **finalizer != FOREGROUND);
    let after: Vec<_> = others.copied().chain(wanted).map(str::to_owned).collect();
    let is_same_set = after.len() == before.len() && after.iter().all(|finalizer| held(finalizer));
    if is_same_set { before.into_iter().map(str::to_owned).collect() } else { after }
}

pub(crate) fn set_finalizers(object: &mut Value, kept: &[String]) {
    let metadata = metadata_mut(object);
    if kept.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers", json!(kept));
    }
}
