//! Server-side apply: merges the configuration that a manager applies into an object, or reports conflicts.
//!
//! Fields that the same manager applied before and no longer does are removed, unless another manager owns them.
//! Changing a field that another manager owns is a conflict. The result is not yet defaulted and validated, and has
//! its new `metadata.managedFields`.

mod conflict;
mod last_applied;
mod merge;
mod prune;
mod typed;

pub use conflict::Conflict;
pub(crate) use typed::first_without_key;

use gantry_json::Value;

use crate::ownership::{
    Entry, FieldSet, Identity, ManagedFields, Write, compare, fields_of, initial_owner, reconcile, strip,
};
use gantry_primitives::Refusal;
use gantry_schema::decode::wrap_int32;

/// The owner of an object that has no managed fields when it is first applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// How to handle conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Return them as an error.
    Refuse,
    /// Take over ownership.
    Force,
}

/// The result of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object, with its new managed fields.
    pub object: Value,
    /// The change.
    pub change: Change,
}

/// What an apply changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// Only the ownership.
    Ownership,
    /// Values, or the object is new.
    Values,
}

/// The result of merging: whether values changed, and the new managed fields.
struct Attempt {
    object: Option<Value>,
    managed: ManagedFields,
}

/// Applies a configuration to the stored object, or creates it if there is none.
pub fn apply(
    live: Option<&Value>,
    applied: &Value,
    write: &Write<'_>,
    on_conflict: OnConflict,
) -> Result<Applied, Refusal> {
    // The initial owner is determined before the configuration is checked.
    let is_recorded = |live: &&Value| !ManagedFields::of(live).is_empty();
    if let Some(unrecorded) = live.filter(|live| !is_recorded(live)) {
        typed::check_stored(unrecorded, write)?;
    }
    check_type(applied, write)?;
    if applied.pointer("/metadata/managedFields").is_some_and(Value::is_array) {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    typed::check(applied, write)?;
    typed::check_values(applied, write)?;
    let statement = wrap_int32(stated(applied, write.reset), write.nature);
    let Attempt { object, managed } = match live {
        None => create(&statement, write),
        Some(live) => {
            typed::check_stored(live, write)?;
            let managed = match ManagedFields::of(live) {
                none if none.is_empty() => initial_owner(live, write, BEFORE_FIRST_APPLY),
                mut managed => {
                    reconcile(&mut managed, write.nature);
                    managed
                }
            };
            attempt(live, &statement, &managed, write, on_conflict)
                .or_else(|conflicts| {
                    last_applied::retry(live, conflicts, write, || {
                        attempt(live, &statement, &managed, write, OnConflict::Force)
                    })
                })
                .map_err(|conflicts| conflict::refusal(&conflicts))?
        }
    };
    let values_changed = object.is_some();
    let mut object = object.or_else(|| live.cloned()).unwrap_or_default();
    managed.store(&mut object);
    last_applied::rewrite(&mut object, applied, write);
    let change = match live {
        _ if values_changed => Change::Values,
        Some(live) if *live == object => Change::Nothing,
        _ => Change::Ownership,
    };
    Ok(Applied { object, change })
}

/// The applied configuration without the fields that this write resets. Preconditions stay in it.
fn stated(applied: &Value, reset: &FieldSet) -> Value {
    let mut statement = applied.clone();
    prune::remove(&mut statement, reset);
    for expected in ["resourceVersion", "uid"] {
        if let Some(value) = applied.get("metadata").and_then(|metadata| metadata.get(expected)) {
            statement["metadata"][expected] = value.clone();
        }
    }
    statement
}

fn create(statement: &Value, write: &Write<'_>) -> Attempt {
    let mut managed = ManagedFields::new();
    let entry = Entry {
        api_version: write.api_version.to_owned(),
        time: Some(write.now.to_owned()),
        fields: strip(fields_of(write.nature, statement)).into(),
    };
    managed.set(Identity::applier(write.manager, write.subresource), entry);
    Attempt { object: Some(statement.clone()), managed }
}

fn attempt(
    live: &Value,
    statement: &Value,
    managed: &ManagedFields,
    write: &Write<'_>,
    on_conflict: OnConflict,
) -> Result<Attempt, Vec<Conflict>> {
    let me = Identity::applier(write.manager, write.subresource);
    let stated = fields_of(write.nature, statement);
    let mut merged = merge::merge(write.nature, live, statement);
    if let Some(last) = managed.get(&me)
        && !last.fields.is_subset(&stated)
    {
        let mut owned = stated.clone();
        for (_, entry) in managed.entries().filter(|(identity, _)| **identity != me) {
            owned.absorb(FieldSet::clone(&entry.fields));
        }
        prune::prune(write.nature, &mut merged, &last.fields, &owned);
    }
    let mut comparison = compare(write.nature, live, &merged);
    comparison.ignore(write.reset);
    let gained = comparison.gained();
    if on_conflict == OnConflict::Refuse {
        let conflicts = conflict::find(managed, &me, &gained);
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
    }
    let mut managed = managed.clone();
    managed.take_from_others(Some(&me), &gained);
    managed.take_from_others(Some(&me), &comparison.removed);
    // A changed order of a list is a change of values without an owner.
    let changed = merged != *live;
    record(&mut managed, me, stated, changed, write);
    Ok(Attempt { object: changed.then_some(merged), managed })
}

/// Makes the manager own the applied fields; the time changes only with a value.
fn record(managed: &mut ManagedFields, me: Identity, stated: FieldSet, changed: bool, write: &Write<'_>) {
    let before = managed.remove(&me).and_then(|entry| entry.time);
    let time = if changed { Some(write.now.to_owned()) } else { before };
    managed.set(me, Entry { api_version: write.api_version.to_owned(), time, fields: strip(stated).into() });
}

/// Checks that the configuration names its kind and version, and that they are those of the request.
fn check_type(applied: &Value, write: &Write<'_>) -> Result<(), Refusal> {
    let Some(members) = applied.as_object() else {
        return Err(Refusal::bad_request(format!(
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go \
             value of type map[string]interface {{}}",
            gantry_schema::decode::json_word(applied)
        )));
    };
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or("");
    let (version, kind) = (text("apiVersion"), text("kind"));
    if version == write.api_version && kind == write.kind {
        return Ok(());
    }
    Err(Refusal::bad_request(format!("invalid object type: {}", typed::group_version_kind(version, kind))))
}
