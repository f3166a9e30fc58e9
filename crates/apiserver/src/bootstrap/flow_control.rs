//! The default FlowSchemas and PriorityLevelConfigurations.

use gantry_json::Value;
use gantry_primitives::Timestamp;
use gantry_registry::flow_control::{
    FLOW_SCHEMA, GROUP, mandatory_levels, mandatory_schemas, suggested_levels, suggested_schemas,
};
use gantry_schema::kinds::{Kind, kinds};

use super::{DefaultObject, UpdateSource};
use crate::flow_control::{PRODUCER, with_condition};
use crate::metadata::Metadata;

/// All default objects, in the order in which Kubernetes creates them.
pub(super) fn all() -> Vec<DefaultObject> {
    let lists = [
        (suggested_levels(), false),
        (suggested_schemas(), false),
        (mandatory_levels(), true),
        (mandatory_schemas(), true),
    ];
    let objects = lists.into_iter().flat_map(|(objects, is_mandatory)| {
        objects.into_iter().filter_map(move |object| default_object(object, is_mandatory))
    });
    objects.collect()
}

/// Whether a default object has this kind and name.
pub(crate) fn is_default(object: &Value) -> bool {
    let is_same = |default: &DefaultObject| {
        default.object["kind"] == object["kind"]
            && Metadata::of(&default.object).name() == Metadata::of(object).name()
    };
    all().iter().any(is_same)
}

/// The object with the status that it has once it is in effect: all default levels exist.
pub(super) fn with_status(kind: &Kind, object: Value, now: Timestamp) -> Value {
    if kind.kind != FLOW_SCHEMA {
        return object;
    }
    with_condition(kind, &object, true, now).unwrap_or(object)
}

fn default_object(object: Value, is_mandatory: bool) -> Option<DefaultObject> {
    let kind = kinds().kind(GROUP, "v1", object["kind"].as_str()?)?;
    let updates = UpdateSource::FlowControl { is_mandatory };
    Some(DefaultObject { kind, object, manager: PRODUCER, updates, condition: None })
}
