//! Whether an object can be stored, and what is odd about it though it can.
//!
//! Objects come decoded and with their defaults. All that is wrong is found at once, in the order and the words of
//! Kubernetes. What the schema rules out (unknown fields, wrong types) has been refused before; what depends on other
//! objects (namespaces, quotas, classes) is refused elsewhere.

pub(crate) mod addresses;
pub(crate) mod autoscaler;
pub(crate) mod config;
pub(crate) mod container;
pub(crate) mod cron_job;
pub mod custom_objects;
pub(crate) mod definition;
pub(crate) mod deployment;
pub(crate) mod difference;
pub(crate) mod downward;
pub(crate) mod endpoints;
pub(crate) mod environment;
pub(crate) mod error_list;
pub(crate) mod event;
pub(crate) mod ingress;
pub(crate) mod job;
pub(crate) mod job_policy;
pub(crate) mod limit_range;
pub(crate) mod metadata;
pub(crate) mod mount;
pub(crate) mod network_policy;
pub(crate) mod node;
pub(crate) mod overlap;
pub(crate) mod pod;
pub(crate) mod pod_resources;
pub(crate) mod pod_status;
pub(crate) mod pod_update;
pub(crate) mod pod_warnings;
pub(crate) mod policy;
pub(crate) mod ports;
pub(crate) mod probe;
pub(crate) mod quota;
pub(crate) mod rbac;
pub(crate) mod resize;
pub(crate) mod resource_names;
pub(crate) mod resources;
pub(crate) mod restart;
pub(crate) mod schedule;
pub(crate) mod scheduling;
pub(crate) mod security;
pub(crate) mod selector;
pub(crate) mod service;
pub(crate) mod service_addresses;
pub(crate) mod shown;
pub(crate) mod status;
pub(crate) mod storage;
pub(crate) mod template;
pub(crate) mod volume;
pub(crate) mod warnings;
pub(crate) mod windows;
pub(crate) mod workload;

use serde_json::Value;

use crate::FieldError;
use crate::decode::KeyOrder;
use crate::kinds::Kind;
use crate::lifecycle::Part;
use crate::strategies::{self, Strategy};
use error_list::{ErrorList, Path};

pub(crate) use gantry_primitives::names;
pub use gantry_schema::same;

/// The result of a validation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Why the object cannot be stored; empty if it can.
    pub errors: Vec<FieldError>,
    /// What the client is warned about.
    pub warnings: Vec<String>,
}

/// Validates a new object.
pub fn create(kind: &Kind, object: &Value) -> Judged {
    create_in_order(kind, object, &KeyOrder::default())
}

/// Validates a new object whose maps were sent with their keys in this order.
pub fn create_in_order(kind: &Kind, object: &Value, order: &KeyOrder) -> Judged {
    main(kind, None, object, order)
}

/// Validates a changed object; its uid and times are already those of the stored one where the client left them out.
pub fn update(kind: &Kind, old: &Value, new: &Value) -> Judged {
    main(kind, Some(old), new, &KeyOrder::default())
}

fn main(kind: &Kind, old: Option<&Value>, new: &Value, order: &KeyOrder) -> Judged {
    let strategy = strategies::of(kind);
    let mut errors = ErrorList::in_order(order);
    (strategy.validate_first)(&mut errors, old, new);
    if !errors.all.is_empty() {
        return errors.into();
    }
    match old {
        None => metadata::create(&mut errors, kind, new),
        Some(old) => metadata::update(&mut errors, kind, old, new),
    }
    (strategy.validate)(&mut errors, kind, old, new);
    if errors.all.is_empty() {
        (strategy.warnings)(&mut errors.warnings, old, new);
    }
    errors.into()
}

/// Whether a Service is valid as far as its addresses are concerned, so that addresses can be allocated to it.
pub fn is_addressable(kind: &Kind, service: &Value) -> bool {
    let mut errors = ErrorList::default();
    (strategies::of(kind).validate_first)(&mut errors, None, service);
    errors.all.is_empty()
}

/// Validates a write to one part of an object, whose maps were sent with their keys in this order.
pub fn part(part: Part, kind: &Kind, old: &Value, new: &Value, order: &KeyOrder) -> Judged {
    match part {
        Part::Main => main(kind, Some(old), new, order),
        Part::Status => status(kind, old, new),
        Part::Finalize => finalize(kind, old, new),
        Part::EphemeralContainers => ephemeral_containers(kind, old, new),
        Part::Resize => resize(kind, old, new),
    }
}

/// Validates a write to the subresource `status`.
pub fn status(kind: &Kind, old: &Value, new: &Value) -> Judged {
    subresource(kind, old, new, |strategy, errors| (strategy.validate_status)(errors, kind, old, new))
}

/// Validates a write to a namespace's subresource `finalize`.
pub fn finalize(kind: &Kind, old: &Value, new: &Value) -> Judged {
    subresource(kind, old, new, |strategy, errors| (strategy.validate)(errors, kind, Some(old), new))
}

/// Validates a write to a pod's subresource `resize`.
pub fn resize(kind: &Kind, old: &Value, new: &Value) -> Judged {
    subresource(kind, old, new, |_, errors| {
        pod::pod(errors, new);
        resize::resize(errors, old, new);
    })
}

/// Validates a write to a pod's subresource `ephemeralcontainers`.
pub fn ephemeral_containers(kind: &Kind, old: &Value, new: &Value) -> Judged {
    subresource(kind, old, new, |_, errors| {
        pod::pod(errors, new);
        pod_update::ephemeral_containers(errors, old, new);
    })
}

fn subresource(
    kind: &Kind,
    old: &Value,
    new: &Value,
    validate: impl FnOnce(&Strategy, &mut ErrorList),
) -> Judged {
    let mut errors = ErrorList::default();
    metadata::update(&mut errors, kind, old, new);
    validate(strategies::of(kind), &mut errors);
    errors.into()
}

/// Validates the `Scale` written to a subresource `scale`.
pub fn scale(scale: &Value) -> Judged {
    let mut errors = ErrorList::default();
    errors.not_negative(&Path::new("spec"), &scale["spec"], "replicas");
    errors.into()
}

/// Drops owner references that are repeated exactly, and returns the warning about them.
pub fn fold_owners(object: &mut Value) -> Option<String> {
    metadata::fold_owners(object)
}

impl From<ErrorList> for Judged {
    fn from(list: ErrorList) -> Self {
        Self { errors: list.all, warnings: list.warnings }
    }
}
