//! One object, several versions: what is stored, and what each version shows of it.
//!
//! Events of both groups are the same objects, and so are autoscalers of both versions. Each is stored in one of its
//! forms; [`to_storage`] and [`from_storage`] go between that and the form in which a request speaks. Every other kind
//! is stored as it is served, which costs nothing.

mod autoscaler;
mod event;

use serde_json::{Value, json};

use crate::kinds::{Kind, kinds};

/// How a kind differs from what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Stored,
    NewEvent,
    OldAutoscaler,
}

/// The kind as which objects of this kind are stored, if that is another one: what refusals call them, too.
pub fn stored_kind(kind: &Kind) -> Option<&'static Kind> {
    match form(kind) {
        Form::Stored => None,
        Form::NewEvent => kinds().kind("", "v1", "Event"),
        Form::OldAutoscaler => kinds().kind("autoscaling", "v2", "HorizontalPodAutoscaler"),
    }
}

/// An object of this kind as it is stored.
pub fn to_storage(kind: &Kind, object: Value) -> Value {
    match form(kind) {
        Form::Stored => object,
        Form::NewEvent => named(event::to_core(object), "v1"),
        Form::OldAutoscaler => named(autoscaler::to_second(object), "autoscaling/v2"),
    }
}

/// A stored object as this kind shows it.
pub fn from_storage(kind: &Kind, object: Value) -> Value {
    match form(kind) {
        Form::Stored => object,
        Form::NewEvent => named(event::from_core(object), "events.k8s.io/v1"),
        Form::OldAutoscaler => named(autoscaler::to_first(object), "autoscaling/v1"),
    }
}

fn form(kind: &Kind) -> Form {
    match (kind.group, kind.version, kind.kind) {
        ("events.k8s.io", _, "Event") => Form::NewEvent,
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => Form::OldAutoscaler,
        _ => Form::Stored,
    }
}

fn named(mut object: Value, api_version: &str) -> Value {
    if let Value::Object(members) = &mut object {
        members.insert("apiVersion".to_owned(), json!(api_version));
    }
    object
}
