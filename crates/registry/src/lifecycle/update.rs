//! A change: what clients may not change is put back, and what was asked for is counted.

use serde_json::{Value, json};

use super::{asked_for, finalizers, generation, metadata, metadata_mut, text};
use crate::empties::{self, Form};
use crate::kinds::{Generation, Kind};
use crate::pods;
use crate::strategies::{self, Strategy};

/// Which part of an object a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The object, but not its status.
    Main,
    /// Its status, and most of its metadata.
    Status,
    /// A namespace's own finalizers.
    Finalize,
    /// A pod's containers for debugging.
    EphemeralContainers,
    /// The resources of a pod's containers.
    Resize,
}

/// What an update comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Updated {
    /// The object is the one that is stored: nothing is written.
    Unchanged,
    /// The object is to be stored.
    Store(Value),
    /// The last finalizer of an object that was being deleted is gone, and so is the object. This is what the client
    /// is shown.
    Remove(Value),
}

/// Metadata that only the server writes.
const SERVERS_OWN: [&str; 2] = ["creationTimestamp", "generation"];
/// When an object goes. Whoever leaves it out means what is stored; whoever writes something else is refused later.
const END: [&str; 2] = ["deletionTimestamp", "deletionGracePeriodSeconds"];
impl Part {
    /// The last segment of its path; empty for the object itself.
    pub fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
            Self::EphemeralContainers => "ephemeralcontainers",
            Self::Resize => "resize",
        }
    }
}

/// Makes an object that was put or patched one that can be stored in place of another.
pub fn update(stored: &Value, mut object: Value, part: Part, kind: &Kind) -> Updated {
    let strategy = strategies::of(kind);
    keep_servers_metadata(stored, &mut object, part, strategy);
    keep_other_part(stored, &mut object, part, kind);
    (strategy.prepare)(part, Some(stored), &mut object);
    count_generation(stored, &mut object, part, kind);
    if object == *stored {
        return Updated::Unchanged;
    }
    if may_go(stored) && finalizers(&object).is_empty() && !(strategy.is_held)(&object) {
        Updated::Remove(object)
    } else {
        Updated::Store(object)
    }
}

fn keep_servers_metadata(stored: &Value, object: &mut Value, part: Part, strategy: &Strategy) {
    let mut fields: Vec<&str> = SERVERS_OWN.to_vec();
    if part == Part::Status {
        let reset = strategy.status_reset_fields.iter();
        fields.extend(reset.filter_map(|field| field.strip_prefix("metadata.")));
    }
    let is_ending = text(stored, "deletionTimestamp").is_some();
    let left_out =
        |field: &&str| metadata(object).is_none_or(|sent| sent.get(*field).is_none_or(Value::is_null));
    // Another uid than the stored one is refused later.
    fields.extend(["uid"].into_iter().filter(left_out));
    fields.extend(
        END.into_iter().filter(|field| left_out(field) || (is_ending && *field == "deletionTimestamp")),
    );
    // A patch without a version, or an update that does not care, is of the stored version.
    fields.push("resourceVersion");
    for field in fields {
        keep_metadata(stored, object, field);
    }
}

/// Restores a field of the metadata.
pub(crate) fn keep_metadata(stored: &Value, object: &mut Value, field: &str) {
    let kept = metadata(stored).and_then(|metadata| metadata.get(field)).cloned();
    match kept {
        Some(value) => metadata_mut(object).insert(field.to_owned(), value),
        None => metadata_mut(object).remove(field),
    };
}

/// Restores all metadata but `managedFields`.
pub(crate) fn keep_all_but_managed_fields(stored: &Value, object: &mut Value) {
    let managed = metadata_mut(object).remove("managedFields");
    keep(stored, object, "metadata");
    match managed {
        Some(managed) => metadata_mut(object).insert("managedFields".to_owned(), managed),
        None => metadata_mut(object).remove("managedFields"),
    };
}

/// What is not written through this part stays: the status here, everything else there.
fn keep_other_part(stored: &Value, object: &mut Value, part: Part, kind: &Kind) {
    match part {
        Part::Main if !kind.has_status() => {}
        Part::Main => keep(stored, object, "status"),
        Part::Status => {
            let Value::Object(after) = &mut *object else { return };
            after.retain(|field, _| matches!(field.as_str(), "metadata" | "status" | "kind" | "apiVersion"));
            after.extend(asked_for(stored).map(|(field, value)| (field.clone(), value.clone())));
        }
        Part::Finalize => keep(stored, object, "status"),
        Part::EphemeralContainers => *object = pods::parts::with_ephemeral_containers(stored, object),
        Part::Resize => *object = pods::parts::with_resources(stored, object),
    }
}

/// Restores a field of the object.
pub(crate) fn keep(stored: &Value, object: &mut Value, field: &str) {
    let Value::Object(after) = object else { return };
    match stored.get(field) {
        Some(value) => after.insert(field.to_owned(), value.clone()),
        None => after.remove(field),
    };
}

fn count_generation(stored: &Value, object: &mut Value, part: Part, kind: &Kind) {
    let of = |object: &Value, field: &str| {
        let found = metadata(object).and_then(|metadata| metadata.get(field)).cloned();
        // No annotations and empty annotations are the same.
        found.filter(|value| value.as_object().is_none_or(|map| !map.is_empty()))
    };
    let differs = |field: &str| of(stored, field) != of(object, field);
    let asks_for_more = |object: &Value| part != Part::Status && !asked_for(stored).eq(asked_for(object));
    let asks_exactly_for_more = asks_for_more(object);
    // Empty lists and maps that were sent in the place of none change nothing.
    let asks_for_more =
        asks_exactly_for_more && asks_for_more(&empties::in_form(Form::Stored, &kind.nature, object));
    let has_new_status =
        part == Part::Main && !kind.has_status() && stored.get("status") != object.get("status");
    let counts = match kind.generation {
        Generation::Absent | Generation::AlwaysOne => false,
        Generation::Spec | Generation::SpecFromZero => asks_for_more,
        Generation::ExactSpec => asks_exactly_for_more,
        Generation::Content => asks_for_more || has_new_status,
        Generation::SpecOrAnnotations => asks_for_more || (part == Part::Main && differs("annotations")),
        Generation::Anything => asks_for_more || (part == Part::Main && differs("labels")),
    };
    if counts {
        let next = generation(stored).saturating_add(1);
        metadata_mut(object).insert("generation".to_owned(), json!(next));
    }
}

/// Whether nothing but finalizers holds the stored object.
fn may_go(stored: &Value) -> bool {
    let grace = metadata(stored).and_then(|metadata| metadata.get("deletionGracePeriodSeconds"));
    text(stored, "deletionTimestamp").is_some() && grace.and_then(Value::as_i64).unwrap_or(0) == 0
}
