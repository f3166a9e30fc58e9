//! Plans the update of an existing object: field ownership, server-managed fields, validation.

use gantry_json::{Value, json};
use gantry_managed_fields::ownership::{FieldSet, Write, differ_only_in_times, track_update};
use gantry_registry::lifecycle::{self, Updated};
use gantry_registry::{strategies, validation};
use gantry_schema::decode::KeyOrder;
use gantry_schema::empties::{self, Form};
use gantry_schema::kinds::Kind;
use http::Method;

use super::call::Call;
use super::write::Part;
use crate::admission::{self, RejectedObject};
use crate::authorization::NodeWrite;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::{Change, ObjectRef};
use crate::query::WriteOptions;
use crate::storage_codec;

/// The planned update of an existing object.
pub(super) struct PlannedUpdate {
    pub(super) change: Change,
    /// The object to respond with, if not the stored one.
    pub(super) response: Option<Value>,
    /// Warnings about the object.
    pub(super) warnings: Vec<String>,
    /// The rejected object and why, if it is invalid.
    pub(super) refused: Option<RejectedObject>,
}

/// Plans the update of an existing object to the wanted state.
pub(super) fn plan_update(
    call: &Call<'_>,
    stored: &Value,
    mut wanted: Value,
    part: Part,
    options: &WriteOptions,
    ownership: Ownership,
) -> Result<PlannedUpdate, ApiError> {
    check_version(call.object_ref(), stored, &wanted)?;
    call.check_escalation(Some(stored), &wanted)?;
    call.info.caller.check_node_write(call.object_ref(), &NodeWrite::Update(stored, &wanted))?;
    if !options.dry_run {
        lifecycle::drop_self_link(&mut wanted);
    }
    let is_patch = call.info.method == Method::PATCH;
    let when = if is_patch { " after mutating admission happens" } else { "" };
    let mut warnings: Vec<String> = validation::deduplicate_owners(&mut wanted, when).into_iter().collect();
    if ownership == Ownership::ByChange && call.server.settings.managed_fields {
        let now = call.server.environment.now().to_string();
        let reset = reset_fields(call.kind, part);
        let write = field_write(call, part, options, &reset, &now);
        track_update(Some(stored), &mut wanted, &write);
    }
    admission::update(call.kind, part, stored, &mut wanted, call.server.environment.now());
    let updated = lifecycle::update(stored, wanted, part, call.kind);
    match &updated {
        Updated::Store(object) | Updated::Remove(object) => {
            let check = |order: &KeyOrder| {
                let report = validation::part(part, call.kind, stored, object, order);
                admission::validate(call.kind, Some(stored), object, report)
            };
            match call.validate(call.object_ref().name, check) {
                Ok(found) => warnings.extend(found),
                Err(why) => {
                    let refused = Some(RejectedObject { object: object.clone(), why });
                    return Ok(PlannedUpdate { change: Change::Keep, response: None, warnings, refused });
                }
            }
            admission::check_caller(&call.info.caller, call.object_ref(), part, Some(stored), object)?;
        }
        // Warnings are returned even if nothing changes.
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
    let (change, response) = match updated {
        // An unchanged object is re-encoded in the current storage version, with the current defaults.
        Updated::Unchanged if storage_codec::must_reencode(call.kind) => (Change::Renew, None),
        Updated::Unchanged => (Change::Keep, None),
        Updated::Store(object) => (Change::Store(object), None),
        Updated::Remove(response) => (Change::Remove(None), Some(response)),
    };
    Ok(PlannedUpdate { change, response, warnings, refused: None })
}

/// Whether the object equals the stored one, except for times in managed fields.
fn is_stored_as(kind: &Kind, object: &Value, stored: &Value) -> bool {
    let object = empties::in_form(Form::Stored, &kind.nature, object);
    *object == *stored || differ_only_in_times(stored, &object)
}

/// How field ownership is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The manager owns the fields that it changes.
    ByChange,
    /// Server-side apply has set the managed fields.
    AlreadyTracked,
}

/// The field ownership of a write.
pub(super) fn field_write<'w>(
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

/// The fields that a write cannot change, and so cannot own.
pub(crate) fn reset_fields(kind: &Kind, part: Part) -> FieldSet {
    match part {
        Part::Status => FieldSet::of_fields(strategies::of(kind).status_reset_fields),
        Part::Approval => FieldSet::of_fields(&["spec", "status.certificate"]),
        _ if kind.has_status() => FieldSet::of_fields(strategies::of(kind).reset_fields),
        _ => FieldSet::new(),
    }
}

/// The resource version in a body must equal the version of the stored object.
fn check_version(object_ref: ObjectRef<'_>, stored: &Value, wanted: &Value) -> Result<(), ApiError> {
    check_version_syntax(wanted)?;
    let version = Metadata::of(wanted).resource_version();
    if !matches!(version, "" | "0") && version != Metadata::of(stored).resource_version() {
        return Err(ApiError::modified(object_ref));
    }
    Ok(())
}

/// The resource version in a body must be a number.
pub(super) fn check_version_syntax(wanted: &Value) -> Result<(), ApiError> {
    let version = Metadata::of(wanted).resource_version();
    if !version.is_empty() && version.parse::<u64>().is_err() {
        let problem = format!("strconv.ParseUint: parsing \"{version}\": invalid syntax");
        return Err(ApiError::unclassified(problem));
    }
    Ok(())
}

/// The uid in the body of an update must equal the uid of the stored object.
pub(super) fn check_uid(object_ref: ObjectRef<'_>, stored: &Value, wanted: &Value) -> Result<(), ApiError> {
    let (uid, known) = (Metadata::of(wanted).uid(), Metadata::of(stored).uid());
    if !uid.is_empty() && uid != known {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {known}");
        return Err(ApiError::conflict(object_ref, why));
    }
    Ok(())
}

/// Sets the namespace of an object from the path. Returns 400 if it has another one.
pub(super) fn check_namespace(call: &Call<'_>, object: &mut Value) -> Result<(), ApiError> {
    use gantry_schema::kinds::Scope;
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return Ok(()) };
    match (call.kind.scope, call.namespace) {
        (Scope::Namespaced, Some(namespace)) => {
            let given = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
            if !given.is_empty() && given != namespace {
                let message =
                    "the namespace of the provided object does not match the namespace sent on the request";
                return Err(ApiError::bad_request(message));
            }
            metadata.insert("namespace", json!(namespace));
        }
        _ => {
            metadata.remove("namespace");
        }
    }
    Ok(())
}
