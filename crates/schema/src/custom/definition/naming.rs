//! The decisions about a definition: whether its names are accepted, whether its kind is served, and when it can be
//! deleted.
//!
//! ```text
//!               names taken                                  objects left
//! new ─────────────────────────► NamesAccepted=False   Terminating=True ──────────► Terminating=True
//!  │ names free                        │ freed             ▲  │ none left
//!  └──► NamesAccepted, Established ◄───┘                   │  └──► finalizer removed
//!                                  └────────── DELETE ─────┘
//! ```
//!
//! Both decisions depend on the state alone and are idempotent.

use std::collections::BTreeSet;

use gantry_json::{Map, Value, json};

use super::condition::{
    self, APPROVED, ConditionStatus, DefinitionCondition, ESTABLISHED, NAMES_ACCEPTED, TERMINATING,
};
use super::{CLEANUP, approval, certificates};
use crate::kinds::kinds;
use crate::semantically_equal;
use gantry_primitives::Timestamp;

/// The next step of deleting a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// None: it is not being deleted, or waits for its objects and its status says so.
    Nothing,
    /// Write this status: it waits for its objects.
    Wait(Value),
    /// Write this object without the finalizer: its objects are deleted.
    Release(Value),
}

/// The status that a definition should have, considering all others; `None` if it has that already.
///
/// The definition itself may be among the others.
pub fn settle(definition: &Value, others: &[&Value], now: Timestamp) -> Option<Value> {
    let mut status = definition["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    if !semantically_equal(NAMES, &definition["spec"]["names"], &status["acceptedNames"]) {
        let (names, conflict) = Taken::of(definition, others).share(definition);
        status["acceptedNames"] = names;
        accept(&mut status, conflict, now);
    }
    let says = |status: &Value, name: &str| {
        condition::find(status, name).is_some_and(|condition| condition["status"] == "True")
    };
    if says(&status, NAMES_ACCEPTED) && !says(&status, ESTABLISHED) {
        condition::set(&mut status, &established(definition), now);
    }
    if let Some(approved) = approved(definition) {
        condition::set(&mut status, &approved, now);
    }
    (status != definition["status"]).then_some(status)
}

/// The next step of deleting a definition with so many objects left.
pub fn end(definition: &Value, objects_left: usize, now: Timestamp) -> Ending {
    let metadata = &definition["metadata"];
    let held = metadata["finalizers"].as_array().map_or(&[][..], Vec::as_slice);
    if metadata["deletionTimestamp"].is_null() || !held.iter().any(|finalizer| finalizer == CLEANUP) {
        return Ending::Nothing;
    }
    let was_served = condition::holds(definition, ESTABLISHED);
    let (condition_status, reason, message) = match objects_left {
        _ if !was_served => (ConditionStatus::False, "NeverEstablished", "resource was never established"),
        0 => (ConditionStatus::False, "InstanceDeletionCompleted", "removed all instances"),
        _ => (ConditionStatus::True, "InstanceDeletionInProgress", "CustomResource deletion is in progress"),
    };
    let mut ended = definition.clone();
    let terminating =
        DefinitionCondition { name: TERMINATING, status: condition_status, reason, message: message.into() };
    condition::set(&mut ended["status"], &terminating, now);
    if condition_status == ConditionStatus::True {
        return if ended == *definition { Ending::Nothing } else { Ending::Wait(ended) };
    }
    let kept: Vec<_> = held.iter().filter(|finalizer| *finalizer != CLEANUP).cloned().collect();
    if let Some(metadata) = ended["metadata"].as_object_mut() {
        if kept.is_empty() {
            metadata.remove("finalizers");
        } else {
            metadata.insert("finalizers", Value::Array(kept));
        }
    }
    Ending::Release(ended)
}

/// The step after a failed deletion of the objects of a definition.
pub fn hold(definition: &Value, why: &str, now: Timestamp) -> Ending {
    let message = format!("could not list instances: {why}").into();
    let failed = DefinitionCondition {
        name: TERMINATING,
        status: ConditionStatus::True,
        reason: DELETION_FAILED,
        message,
    };
    let mut held = definition.clone();
    condition::set(&mut held["status"], &failed, now);
    if held == *definition { Ending::Nothing } else { Ending::Wait(held) }
}

/// Whether the last deletion of its objects failed.
pub fn is_stuck(definition: &Value) -> bool {
    condition::find(&definition["status"], TERMINATING)
        .is_some_and(|condition| condition["reason"] == DELETION_FAILED)
}

const DELETION_FAILED: &str = "InstanceDeletionFailed";
const NAMES: &str = "apiextensions/v1.CustomResourceDefinitionNames";

/// The names in use in a group.
struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

/// Why a name is not accepted; the last reason is reported.
type Conflict = Option<(&'static str, String)>;

impl Taken {
    /// The names of the definitions of the same group, and of built-in kinds.
    fn of(definition: &Value, others: &[&Value]) -> Self {
        let group = &definition["spec"]["group"];
        let mut taken = Self { resources: BTreeSet::new(), kinds: BTreeSet::new() };
        let same_group = others.iter().filter(|other| other["spec"]["group"] == *group);
        for names in same_group.chain([&definition]).map(|other| &other["status"]["acceptedNames"]) {
            taken.resources.extend([text(names, "plural"), text(names, "singular")].map(str::to_owned));
            taken.resources.extend(short_names(names).into_iter().map(str::to_owned));
            taken.kinds.extend([text(names, "kind"), text(names, "listKind")].map(str::to_owned));
        }
        for kind in kinds().all().filter(|kind| *group == *kind.group) {
            taken.resources.extend([kind.resource, kind.singular].map(str::to_owned));
            taken.resources.extend(kind.short_names.iter().map(|name| (*name).to_owned()));
            taken.kinds.extend([kind.kind.to_owned(), format!("{}List", kind.kind)]);
        }
        taken
    }

    /// The accepted names of those in the spec; a name in use is not changed.
    fn share(&self, definition: &Value) -> (Value, Conflict) {
        let (wanted, given) = (&definition["spec"]["names"], &definition["status"]["acceptedNames"]);
        let mut names = given.as_object().cloned().unwrap_or_default();
        let mut conflict = None;
        for (field, reason, used) in [
            ("plural", "PluralConflict", &self.resources),
            ("singular", "SingularConflict", &self.resources),
            ("shortNames", "ShortNamesConflict", &self.resources),
            ("kind", "KindConflict", &self.kinds),
            ("listKind", "ListKindConflict", &self.kinds),
        ] {
            let problem = if field == "shortNames" {
                self.short_names(wanted, given)
            } else {
                let name = text(wanted, field);
                (name != text(given, field) && used.contains(name)).then(|| in_use(name))
            };
            match problem {
                Some(problem) => conflict = Some((reason, problem)),
                None => put(&mut names, field, &wanted[field]),
            }
        }
        put(&mut names, "categories", &wanted["categories"]);
        for always in ["plural", "kind"] {
            names.entry(always).or_insert_with(|| json!(""));
        }
        (Value::Object(names), conflict)
    }

    fn short_names(&self, wanted: &Value, given: &Value) -> Option<String> {
        let own = short_names(given);
        let mut problems: Vec<String> = Vec::new();
        for name in short_names(wanted) {
            let problem = in_use(name);
            if !own.contains(&name) && self.resources.contains(name) && !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        match problems.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            many => Some(format!("[{}]", many.join(", "))),
        }
    }
}

fn accept(status: &mut Value, conflict: Conflict, now: Timestamp) {
    let (condition_status, reason, message) = match conflict {
        Some((reason, message)) => (ConditionStatus::False, reason, message),
        None => (ConditionStatus::True, "NoConflicts", "no conflicts found".to_owned()),
    };
    let accepted = DefinitionCondition {
        name: NAMES_ACCEPTED,
        status: condition_status,
        reason,
        message: message.into(),
    };
    condition::set(status, &accepted, now);
    // Established definitions stay established, with their accepted names.
    if condition_status == ConditionStatus::False && condition::find(status, ESTABLISHED).is_none() {
        let message = "not all names are accepted".into();
        let not = DefinitionCondition {
            name: ESTABLISHED,
            status: ConditionStatus::False,
            reason: "NotAccepted",
            message,
        };
        condition::set(status, &not, now);
    }
}

fn established(definition: &Value) -> DefinitionCondition<'static> {
    let bundle = &definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"];
    let (condition_status, reason, message) = match certificates::problem(bundle.as_str().unwrap_or_default())
    {
        None => (ConditionStatus::True, "InitialNamesAccepted", "the initial names have been accepted"),
        Some(_) => (ConditionStatus::False, "InvalidCABundle", "The conversion webhook CABundle is invalid"),
    };
    DefinitionCondition { name: ESTABLISHED, status: condition_status, reason, message: message.into() }
}

fn approved(definition: &Value) -> Option<DefinitionCondition<'static>> {
    if !approval::is_protected(text(&definition["spec"], "group")) {
        return None;
    }
    let (approval, why) = approval::of(definition);
    let (condition_status, reason) = match approval {
        approval::Approval::Approved => (ConditionStatus::True, "ApprovedAnnotation"),
        approval::Approval::Bypassed => (ConditionStatus::False, "UnapprovedAnnotation"),
        approval::Approval::Invalid => (ConditionStatus::False, "InvalidAnnotation"),
        approval::Approval::Missing => (ConditionStatus::False, "MissingAnnotation"),
    };
    Some(DefinitionCondition { name: APPROVED, status: condition_status, reason, message: why.into() })
}

fn in_use(name: &str) -> String {
    format!("{name:?} is already in use")
}

fn text<'a>(names: &'a Value, field: &str) -> &'a str {
    names[field].as_str().unwrap_or_default()
}

fn short_names(names: &Value) -> Vec<&str> {
    names["shortNames"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn put(names: &mut Map, field: &str, value: &Value) {
    if value.is_null() {
        names.remove(field);
    } else {
        names.insert(field.to_owned(), value.clone());
    }
}
