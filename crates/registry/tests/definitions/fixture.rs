//! A valid definition, and functions that change and validate it.

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::{defaults, lifecycle, validation};
use gantry_schema::decode::{self, Gvk};
use gantry_schema::kinds::{Kind, kinds};

pub(crate) const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

pub(crate) fn kind() -> &'static Kind {
    kinds().kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition").unwrap()
}

/// A minimal definition.
pub(crate) fn widgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.shop.example.com"},
        "spec": {
            "group": "shop.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version("v1", &json!({"type": "object"}))],
        },
    })
}

/// A version that is served and stored.
pub(crate) fn version(name: &str, schema: &Value) -> Value {
    json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
}

/// Returns the object with this value at the pointer.
pub(crate) fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
    match parent {
        Value::Array(list) => list[field.parse::<usize>().unwrap()] = value,
        parent => parent[field] = value,
    }
    object
}

/// Returns the definition as a POST stores it.
pub(crate) fn posted(definition: &Value) -> Value {
    let assigned = lifecycle::ServerAssignedMetadata { uid: "u", now: NOON, name_suffix: "" };
    let gvk = Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let mut object = decode::value(definition.clone(), &gvk.message().unwrap().into()).unwrap().object;
    defaults::apply(kind(), &mut object);
    let mut object = lifecycle::create(object, kind(), &assigned);
    defaults::set_initial_status(kind(), &mut object);
    object
}

/// Returns the errors that refuse the definition.
pub(crate) fn refused(definition: &Value) -> Vec<String> {
    let found = validation::create(kind(), &posted(definition));
    found.errors.iter().map(ToString::to_string).collect()
}
