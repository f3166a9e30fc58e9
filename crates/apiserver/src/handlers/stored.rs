//! The last steps of every write: who owns what, what the server itself writes, whether it may be stored.

use gantry_registry::Refusal;
use gantry_registry::kinds::Kind;
use gantry_registry::lifecycle::{self, Updated};
use gantry_registry::ownership::{FieldSet, Write, keep_times_if_only_they_differ, track_update};
use gantry_registry::validation::{self, Judged};
use serde_json::{Value, json};

use super::call::Call;
use super::write::Part;
use crate::objects::{Change, Place, conflict};
use crate::query::WriteOptions;

/// What becomes of an object that exists when this is written to it, and what the client is shown if it goes.
pub(super) fn settle(
    call: &Call<'_>,
    stored: &Value,
    mut wanted: Value,
    part: Part,
    options: &WriteOptions,
    ownership: Ownership,
) -> Result<(Change, Option<Value>), Refusal> {
    check_preconditions(call.place(), stored, &wanted)?;
    let now = call.server.surroundings.now().to_string();
    if ownership == Ownership::ByChange {
        let reset = reset_fields(call.kind, part);
        let write = writing(call, part, options, &reset, &now);
        track_update(Some(stored), &mut wanted, &write);
        keep_times_if_only_they_differ(stored, &mut wanted);
    }
    let (half, judge): (_, fn(&Kind, &Value, &Value) -> Judged) = match part {
        Part::Main => (lifecycle::Part::Main, validation::update),
        Part::Status => (lifecycle::Part::Status, validation::status),
    };
    let updated = lifecycle::update(stored, wanted, half, call.kind);
    if let Updated::Store(object) | Updated::Remove(object) = &updated {
        call.judged(call.place().name, &judge(call.kind, stored, object))?;
    }
    Ok(match updated {
        Updated::Unchanged => (Change::Keep, None),
        Updated::Store(object) => (Change::Store(object), None),
        Updated::Remove(shown) => (Change::Remove(None), Some(shown)),
    })
}

/// How the owners of fields are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// Whoever changes a field owns it.
    ByChange,
    /// It is settled already: by server-side apply.
    Settled,
}

/// One write, as ownership sees it.
pub(super) fn writing<'w>(
    call: &Call<'_>,
    part: Part,
    options: &'w WriteOptions,
    reset: &'w FieldSet,
    now: &'w str,
) -> Write<'w> {
    let subresource = match part {
        Part::Main => "",
        Part::Status => "status",
    };
    let api_version = api_version(call.kind);
    Write { kind: call.kind.message, api_version, subresource, manager: &options.manager, reset, now }
}

/// What a write cannot change, and so cannot own.
pub(super) fn reset_fields(kind: &Kind, part: Part) -> FieldSet {
    match part {
        Part::Main if kind.has_status() => FieldSet::of_fields(&["status"]),
        Part::Main => FieldSet::new(),
        Part::Status => FieldSet::of_fields(&["spec"]),
    }
}

/// `apps/v1`, for as long as the program runs.
fn api_version(kind: &Kind) -> &'static str {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;
    static VERSIONS: LazyLock<BTreeMap<(&'static str, &'static str), String>> = LazyLock::new(|| {
        let all = gantry_registry::kinds::kinds().all().iter();
        all.map(|kind| ((kind.group, kind.version), kind.api_version())).collect()
    });
    VERSIONS.get(&(kind.group, kind.version)).map_or("v1", String::as_str)
}

/// The version and the uid that a body names must be those of the stored object.
fn check_preconditions(place: Place<'_>, stored: &Value, wanted: &Value) -> Result<(), Refusal> {
    let text =
        |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let version = text(wanted, "resourceVersion");
    if !matches!(version.as_str(), "" | "0") && version != text(stored, "resourceVersion") {
        if version.parse::<u64>().is_err() {
            return Err(Refusal::server_error(format!(
                "strconv.ParseUint: parsing \"{version}\": invalid syntax"
            )));
        }
        return Err(conflict(place));
    }
    let (uid, known) = (text(wanted, "uid"), text(stored, "uid"));
    if !uid.is_empty() && uid != known {
        let resource = place.kind.group_resource();
        let message = format!(
            "Operation cannot be fulfilled on {resource} \"{}\": Precondition failed: UID in precondition: {uid}, UID in \
             object meta: {known}",
            place.name
        );
        let details = Some(Box::new(place.details()));
        return Err(Refusal { code: 409, reason: "Conflict", message, details });
    }
    Ok(())
}

/// Puts the name and the namespace of the path into an object, or says how they differ.
pub(super) fn check_place(call: &Call<'_>, object: &mut Value) -> Result<(), Refusal> {
    use gantry_registry::kinds::Scope;
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return Ok(()) };
    match (call.kind.scope, call.namespace) {
        (Scope::Namespaced, Some(namespace)) => {
            let given = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
            if !given.is_empty() && given != namespace {
                let message =
                    "the namespace of the provided object does not match the namespace sent on the request";
                return Err(Refusal::bad_request(message));
            }
            metadata.insert("namespace".to_owned(), json!(namespace));
        }
        _ => {
            metadata.remove("namespace");
        }
    }
    Ok(())
}
