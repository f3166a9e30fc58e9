//! The last steps of every write: who owns what, what the server itself writes, whether it may be stored.

use gantry_managed_fields::ownership::{FieldSet, Write, differ_only_in_times, track_update};
use gantry_registry::Refusal;
use gantry_registry::decode::KeyOrder;
use gantry_registry::empties::{self, Form};
use gantry_registry::kinds::Kind;
use gantry_registry::lifecycle::{self, Updated};
use gantry_registry::{strategies, validation};
use serde_json::{Value, json};

use super::call::Call;
use super::write::Part;
use crate::admission::{self, Refused};
use crate::objects::{Change, Place, conflict};
use crate::query::WriteOptions;
use crate::served;

/// What a write to an object that exists comes to.
pub(super) struct Settled {
    pub(super) change: Change,
    /// What the client is shown instead of what becomes of the object.
    pub(super) shown: Option<Value>,
    /// What is odd about the object.
    pub(super) warnings: Vec<String>,
    /// What was wanted instead of the change, if that is wrong.
    pub(super) refused: Option<Refused>,
}

/// What becomes of an object that exists when this is written to it.
pub(super) fn settle(
    call: &Call<'_>,
    stored: &Value,
    mut wanted: Value,
    part: Part,
    options: &WriteOptions,
    ownership: Ownership,
) -> Result<Settled, Refusal> {
    check_version(call.place(), stored, &wanted)?;
    call.check_handout(Some(stored), &wanted)?;
    if !options.dry_run {
        lifecycle::forget_link(&mut wanted);
    }
    let mut warnings: Vec<String> = validation::fold_owners(&mut wanted).into_iter().collect();
    if ownership == Ownership::ByChange {
        let now = call.server.surroundings.now().to_string();
        let reset = reset_fields(call.kind, part);
        let write = writing(call, part, options, &reset, &now);
        track_update(Some(stored), &mut wanted, &write);
    }
    if part == Part::Main {
        admission::update(call.kind, stored, &mut wanted);
    }
    let updated = lifecycle::update(stored, wanted, part, call.kind);
    match &updated {
        Updated::Store(object) | Updated::Remove(object) => {
            let judge = |order: &KeyOrder| validation::part(part, call.kind, stored, object, order);
            match call.judged(call.place().name, judge) {
                Ok(found) => warnings.extend(found),
                Err(why) => {
                    let refused = Some(Refused { object: object.clone(), why });
                    return Ok(Settled { change: Change::Keep, shown: None, warnings, refused });
                }
            }
        }
        // Warnings are returned although nothing changes.
        Updated::Unchanged if part == Part::Main => {
            let order = KeyOrder::default();
            warnings.extend(validation::part(part, call.kind, stored, stored, &order).warnings);
        }
        Updated::Unchanged => {}
    }
    let updated = match updated {
        Updated::Store(object) if is_stored_as(call.kind, &object, stored) => Updated::Unchanged,
        updated => updated,
    };
    let (change, shown) = match updated {
        // What is written unchanged is stored in the version of today, and with the defaults that it was read with.
        Updated::Unchanged if served::is_renewed(call.kind) => (Change::Renew, None),
        Updated::Unchanged => (Change::Keep, None),
        Updated::Store(object) => (Change::Store(object), None),
        Updated::Remove(shown) => (Change::Remove(None), Some(shown)),
    };
    Ok(Settled { change, shown, warnings, refused: None })
}

/// Whether storing this object would change nothing, the times in its record of ownership aside.
fn is_stored_as(kind: &Kind, object: &Value, stored: &Value) -> bool {
    let object = empties::in_form(Form::Stored, &kind.nature, object);
    *object == *stored || differ_only_in_times(stored, &object)
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
    call: &'w Call<'_>,
    part: Part,
    options: &'w WriteOptions,
    reset: &'w FieldSet,
    now: &'w str,
) -> Write<'w> {
    let (api_version, subresource) = (call.kind.api_version, part.subresource());
    Write {
        kind: call.kind.kind,
        nature: &call.kind.nature,
        api_version,
        subresource,
        manager: &options.manager,
        reset,
        now,
    }
}

/// What a write cannot change, and so cannot own.
pub(crate) fn reset_fields(kind: &Kind, part: Part) -> FieldSet {
    match part {
        Part::Status => FieldSet::of_fields(strategies::of(kind).status_reset_fields),
        _ if kind.has_status() => FieldSet::of_fields(&["status"]),
        _ => FieldSet::new(),
    }
}

/// The version that a body names must be that of the stored object.
fn check_version(place: Place<'_>, stored: &Value, wanted: &Value) -> Result<(), Refusal> {
    check_number(wanted)?;
    let version = text(wanted, "resourceVersion");
    if !matches!(version, "" | "0") && version != text(stored, "resourceVersion") {
        return Err(conflict(place));
    }
    Ok(())
}

/// The version that a body names must be a number.
pub(super) fn check_number(wanted: &Value) -> Result<(), Refusal> {
    let version = text(wanted, "resourceVersion");
    if !version.is_empty() && version.parse::<u64>().is_err() {
        let problem = format!("strconv.ParseUint: parsing \"{version}\": invalid syntax");
        return Err(Refusal::server_error(problem));
    }
    Ok(())
}

/// The uid that the body of an update names must be that of the stored object.
pub(super) fn check_uid(place: Place<'_>, stored: &Value, wanted: &Value) -> Result<(), Refusal> {
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

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
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
