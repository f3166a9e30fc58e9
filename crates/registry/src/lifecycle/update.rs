//! Updates of objects: restores fields that clients may not change, and increments the generation.

use gantry_json::{Value, json};

use super::{content_fields, finalizers, generation, metadata, metadata_mut, text};
use crate::empties::{self, Form};
use crate::kinds::{Generation, Kind};
use crate::pods;
use crate::strategies::{self, KindStrategy};

gantry_formats::text_enum! {
    /// The part of an object that a request writes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Part {
        /// The object, but not its status.
        Main = "",
        /// Its status, and most of its metadata.
        Status = "status",
        /// The finalizers in a namespace's spec.
        Finalize = "finalize",
        /// A pod's ephemeral containers.
        EphemeralContainers = "ephemeralcontainers",
        /// The resources of a pod's containers.
        Resize = "resize",
        /// The decision on a CertificateSigningRequest.
        Approval = "approval",
    }

    /// The subresource; empty for the object itself.
    pub fn subresource(self) -> &'static str;
}

/// The effect of an update.
#[derive(Clone, Debug, PartialEq)]
pub enum Updated {
    /// The object equals the stored one: nothing is written.
    Unchanged,
    /// The object is to be stored.
    Store(Value),
    /// The last finalizer of an object that is being deleted is gone: the object is removed, and the client gets this.
    Remove(Value),
}

/// Metadata that only the server writes.
const SERVER_METADATA: [&str; 2] = ["creationTimestamp", "generation"];
/// Metadata of a deletion. Absent, it is restored; validation refuses other changes.
const DELETION_METADATA: [&str; 2] = ["deletionTimestamp", "deletionGracePeriodSeconds"];

/// Prepares an object that was put or patched for replacing the stored one.
pub fn update(stored: &Value, mut object: Value, part: Part, kind: &Kind) -> Updated {
    let strategy = strategies::of(kind);
    keep_servers_metadata(stored, &mut object, part, strategy);
    keep_other_part(stored, &mut object, part, kind);
    (strategy.prepare)(part, Some(stored), &mut object);
    increment_generation(stored, &mut object, part, kind);
    if object == *stored {
        return Updated::Unchanged;
    }
    if is_grace_over(stored) && finalizers(&object).is_empty() && !(strategy.is_held)(&object) {
        Updated::Remove(object)
    } else {
        Updated::Store(object)
    }
}

fn keep_servers_metadata(stored: &Value, object: &mut Value, part: Part, strategy: &KindStrategy) {
    let mut fields: Vec<&str> = SERVER_METADATA.to_vec();
    if part == Part::Status {
        let reset = strategy.status_reset_fields.iter();
        fields.extend(reset.filter_map(|field| field.strip_prefix("metadata.")));
    }
    let is_ending = text(stored, "deletionTimestamp").is_some();
    let left_out =
        |field: &&str| metadata(object).is_none_or(|sent| sent.get(field).is_none_or(Value::is_null));
    // Validation refuses another uid.
    fields.extend(["uid"].into_iter().filter(left_out));
    fields.extend(
        DELETION_METADATA
            .into_iter()
            .filter(|field| left_out(field) || (is_ending && *field == "deletionTimestamp")),
    );
    // The precondition has been checked.
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
        Some(managed) => metadata_mut(object).insert("managedFields", managed),
        None => metadata_mut(object).remove("managedFields"),
    };
}

/// Restores the fields that a write to this part does not change.
fn keep_other_part(stored: &Value, object: &mut Value, part: Part, kind: &Kind) {
    match part {
        Part::Main if !kind.has_status() => {}
        Part::Main | Part::Finalize => keep(stored, object, "status"),
        Part::Status => {
            let Value::Object(after) = &mut *object else { return };
            after.retain(|field, _| matches!(field.as_str(), "metadata" | "status" | "kind" | "apiVersion"));
            after.extend(content_fields(stored).map(|(field, value)| (field.clone(), value.clone())));
        }
        Part::EphemeralContainers => *object = pods::parts::with_ephemeral_containers(stored, object),
        Part::Resize => *object = pods::parts::with_resources(stored, object),
        // The strategy of the kind does this.
        Part::Approval => {}
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

fn increment_generation(stored: &Value, object: &mut Value, part: Part, kind: &Kind) {
    let of = |object: &Value, field: &str| {
        let found = metadata(object).and_then(|metadata| metadata.get(field)).cloned();
        // Absent and empty annotations are equal.
        found.filter(|value| value.as_object().is_none_or(|map| !map.is_empty()))
    };
    let differs = |field: &str| of(stored, field) != of(object, field);
    let is_changed =
        |object: &Value| part != Part::Status && !content_fields(stored).eq(content_fields(object));
    let is_exactly_changed = is_changed(object);
    // Absent and empty lists and maps are equal.
    let is_changed = is_exactly_changed && is_changed(&empties::in_form(Form::Stored, &kind.nature, object));
    let has_new_status =
        part == Part::Main && !kind.has_status() && stored.get("status") != object.get("status");
    let counts = match kind.generation {
        Generation::Absent | Generation::AlwaysOne => false,
        Generation::Spec | Generation::SpecFromZero => is_changed,
        Generation::ExactSpec => is_exactly_changed,
        Generation::Content => is_changed || has_new_status,
        Generation::SpecOrAnnotations => is_changed || (part == Part::Main && differs("annotations")),
        Generation::Anything => is_changed || (part == Part::Main && differs("labels")),
    };
    if counts {
        let next = generation(stored).saturating_add(1);
        metadata_mut(object).insert("generation", json!(next));
    }
}

/// Whether a deletion has no grace period left and is not held by finalizers, so that the object is to be removed.
pub fn is_deletion_due(object: &Value) -> bool {
    is_grace_over(object) && finalizers(object).is_empty()
}

/// Whether the stored object is being deleted and its grace period is over.
fn is_grace_over(stored: &Value) -> bool {
    let grace = metadata(stored).and_then(|metadata| metadata.get("deletionGracePeriodSeconds"));
    text(stored, "deletionTimestamp").is_some() && grace.and_then(Value::as_i64).unwrap_or(0) == 0
}
