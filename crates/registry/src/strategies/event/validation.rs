//! Validates Events of both groups, converted to the core group.

use gantry_json::{Value, json};

use crate::conversion::to_storage;
use crate::kinds::Kind;
use crate::validation::error_list::{ErrorList, Path, is_set, number, text};
use crate::validation::names::{qualified_name, subdomain};

/// The namespace of events about cluster-scoped objects.
const DEFAULT_NAMESPACE: &str = "default";
/// Their other possible namespace, if they have an event time.
const SYSTEM_NAMESPACE: &str = "kube-system";
const WORD_LENGTH_MAX: usize = 128;
const MESSAGE_LENGTH_MAX: usize = 1024;
/// Fields that are immutable in `events.k8s.io`.
const IMMUTABLE: [&str; 13] = [
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
];
/// Fields that are deprecated in `events.k8s.io`.
const OLD_FIELDS: [&str; 3] = ["firstTimestamp", "lastTimestamp", "count"];

/// Validates a new event. `events.k8s.io` requires time and type, and forbids deprecated fields.
pub(crate) fn create(errors: &mut ErrorList, kind: &Kind, object: &Value) {
    let event = to_storage(kind, object.clone());
    common(errors, kind, &event);
    if !is_modern(kind) {
        return;
    }
    if !is_set(&event, "eventTime") {
        errors.required(&Path::new("eventTime"), "");
    }
    let sort = text(&event, "type");
    if !matches!(sort, "Normal" | "Warning") {
        errors.invalid(&Path::new("type"), &json!(""), format!("has invalid value: {sort}"));
    }
    let is_used = |value: &Value| !value.is_null() && *value != json!(0) && *value != json!({});
    for field in OLD_FIELDS.into_iter().chain(["source"]).filter(|field| is_used(&event[*field])) {
        errors.invalid(&Path::new(field), &json!(""), "needs to be unset");
    }
    series(errors, &event);
}

/// Validates a changed event. In `events.k8s.io`, only the series can change.
pub(crate) fn update(errors: &mut ErrorList, kind: &Kind, old: &Value, new: &Value) {
    let (old, new) = (to_storage(kind, old.clone()), to_storage(kind, new.clone()));
    common(errors, kind, &new);
    if !is_modern(kind) {
        return;
    }
    if old["series"] != new["series"] {
        series(errors, &new);
    }
    for field in IMMUTABLE {
        let shown = if field == "reportingComponent" { "reportingController" } else { field };
        errors.immutable(&Path::new(shown), old[field] == new[field], &new[field]);
    }
}

fn is_modern(kind: &Kind) -> bool {
    kind.group == "events.k8s.io"
}

/// Validates the namespace of an event, and the reporter of one with an event time.
fn common(errors: &mut ErrorList, kind: &Kind, event: &Value) {
    let (here, there) = (text(&event["metadata"], "namespace"), text(&event["involvedObject"], "namespace"));
    let timed = is_set(event, "eventTime");
    let is_near = match (there, here) {
        ("", "" | DEFAULT_NAMESPACE) => true,
        ("", SYSTEM_NAMESPACE) => timed,
        _ => here == there,
    };
    if !is_near {
        let at = Path::new("involvedObject");
        errors.invalid(&at.child("namespace"), &json!(there), "does not match event.namespace");
    }
    if timed {
        reporter(errors, kind, event);
    }
    errors.invalid_text(&Path::new("namespace"), here, subdomain(here));
}

fn reporter(errors: &mut ErrorList, kind: &Kind, event: &Value) {
    let controller = text(event, "reportingComponent");
    let at = Path::new(if is_modern(kind) { "reportingController" } else { "reportingComponent" });
    if controller.is_empty() {
        errors.required(&at, "");
    }
    errors.invalid_text(&at, controller, qualified_name(controller));
    for field in ["reportingInstance", "action", "reason"] {
        let word = text(event, field);
        if word.is_empty() {
            errors.required(&Path::new(field), "");
        }
        at_most(errors, field, word, WORD_LENGTH_MAX);
    }
    at_most(errors, "message", text(event, "message"), MESSAGE_LENGTH_MAX);
}

fn at_most(errors: &mut ErrorList, field: &str, word: &str, most: usize) {
    if word.len() > most {
        errors.invalid(&Path::new(field), &json!(""), format!("can have at most {most} characters"));
    }
}

fn series(errors: &mut ErrorList, event: &Value) {
    let series = &event["series"];
    if series.is_null() {
        return;
    }
    let at = Path::new("series");
    if number(series, "count").unwrap_or(0) < 2 {
        errors.invalid(&at.child("count"), &json!(""), "should be at least 2");
    }
    if !is_set(series, "lastObservedTime") {
        errors.required(&at.child("lastObservedTime"), "");
    }
}
