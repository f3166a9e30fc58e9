//! Pods and workloads, validated as by Kubernetes 1.37.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod jobs;
mod pods;
mod sets;
mod warnings;

use gantry_json::{Value, json};
use gantry_registry::{defaults, validation};
use gantry_schema::kinds::{Kind, kinds};

fn kind(group: &str, resource: &str) -> &'static Kind {
    kinds().resource(group, "v1", resource).unwrap()
}

/// A template whose pods have the label `a=b`.
fn template() -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}})
}

/// An object of a kind with these fields in its spec.
fn object(kind: &Kind, spec: &Value) -> Value {
    let mut whole = json!({
        "kind": kind.kind, "apiVersion": kind.api_version,
        "metadata": {"name": "web", "namespace": "n", "uid": "u"}, "spec": spec,
    });
    defaults::apply(kind, &mut whole);
    whole
}

fn texts(errors: &[gantry_primitives::FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the errors in a new object.
fn wrong(kind: &Kind, spec: &Value) -> Vec<String> {
    texts(&validation::create(kind, &object(kind, spec)).errors)
}

/// Returns the errors in a change of the spec.
fn wrong_change(kind: &Kind, old: &Value, new: &Value) -> Vec<String> {
    texts(&validation::update(kind, &object(kind, old), &object(kind, new)).errors)
}
