//! Validation of objects, and warnings about valid ones.
//!
//! Objects are decoded and have their defaults. All errors are reported at once, in Kubernetes' order and wording.
//! Decoding has reported unknown fields and wrong types; admission reports what depends on other objects. The rules of
//! one kind are in its [strategy](crate::strategies); here are those that several kinds share.

pub(crate) mod addresses;
pub(crate) mod config;
pub(crate) mod container;
pub mod custom_objects;
pub(crate) mod downward;
pub(crate) mod environment;
pub(crate) mod error_list;
pub(crate) mod go_format;
mod go_names;
pub(crate) mod metadata;
pub(crate) mod mount;
pub(crate) mod overlap;
pub(crate) mod paths;
pub(crate) mod pod;
pub(crate) mod pod_resources;
pub(crate) mod pod_warnings;
mod port_warnings;
pub(crate) mod ports;
pub(crate) mod probe;
pub(crate) mod resource_names;
pub(crate) mod resources;
pub(crate) mod restart;
pub(crate) mod scheduling;
pub(crate) mod security;
pub(crate) mod selector;
pub(crate) mod status;
pub(crate) mod template;
pub(crate) mod unified_diff;
pub(crate) mod volume;
pub mod warnings;
pub(crate) mod webhook_client;
pub(crate) mod windows;
pub(crate) mod workload;

use gantry_json::Value;

use crate::FieldError;
use crate::decode::KeyOrder;
use crate::kinds::Kind;
use crate::lifecycle::Part;
use crate::strategies::certificates::signing_request;
use crate::strategies::{self, KindStrategy, pod as pod_strategy};
use error_list::{ErrorList, Path};

pub(crate) use gantry_primitives::names;
pub(crate) use gantry_schema::semantically_equal;

/// The result of a validation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidationReport {
    /// Why the object cannot be stored; empty if it can.
    pub errors: Vec<FieldError>,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

/// Validates a new object.
pub fn create(kind: &Kind, object: &Value) -> ValidationReport {
    create_in_order(kind, object, &KeyOrder::default())
}

/// Validates a new object with maps whose keys were sent in this order.
pub fn create_in_order(kind: &Kind, object: &Value, order: &KeyOrder) -> ValidationReport {
    main(kind, None, object, order)
}

/// Validates a changed object; its uid and times are already those of the stored one where the client left them out.
pub fn update(kind: &Kind, old: &Value, new: &Value) -> ValidationReport {
    main(kind, Some(old), new, &KeyOrder::default())
}

fn main(kind: &Kind, old: Option<&Value>, new: &Value, order: &KeyOrder) -> ValidationReport {
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
    if let Some(old) = old {
        (strategy.validate_change)(&mut errors, old, new);
    }
    if errors.all.is_empty() {
        (strategy.warnings)(&mut errors.warnings, old, new);
    }
    errors.into()
}

/// Whether the addresses of a Service are valid, so that addresses can be allocated to it.
pub fn is_addressable(kind: &Kind, service: &Value) -> bool {
    let mut errors = ErrorList::default();
    (strategies::of(kind).validate_first)(&mut errors, None, service);
    errors.all.is_empty()
}

/// Validates a write to one part of an object with maps whose keys were sent in this order.
pub fn part(part: Part, kind: &Kind, old: &Value, new: &Value, order: &KeyOrder) -> ValidationReport {
    match part {
        Part::Main => main(kind, Some(old), new, order),
        Part::Status => status(kind, old, new),
        Part::Finalize => finalize(kind, old, new),
        Part::EphemeralContainers => ephemeral_containers(kind, old, new),
        Part::Resize => resize(kind, old, new),
        Part::Approval => approval(kind, old, new),
    }
}

/// Validates a write to the subresource `status`.
pub fn status(kind: &Kind, old: &Value, new: &Value) -> ValidationReport {
    subresource(kind, old, new, |strategy, errors| (strategy.validate_status)(errors, kind, old, new))
}

/// Validates a write to a namespace's subresource `finalize`.
pub fn finalize(kind: &Kind, old: &Value, new: &Value) -> ValidationReport {
    subresource(kind, old, new, |strategy, errors| (strategy.validate)(errors, kind, Some(old), new))
}

/// Validates a write to a pod's subresource `resize`.
pub fn resize(kind: &Kind, old: &Value, new: &Value) -> ValidationReport {
    subresource(kind, old, new, |_, errors| {
        pod::pod(errors, new);
        pod_strategy::resize::resize(errors, old, new);
    })
}

/// Validates a write to a pod's subresource `ephemeralcontainers`.
pub fn ephemeral_containers(kind: &Kind, old: &Value, new: &Value) -> ValidationReport {
    subresource(kind, old, new, |_, errors| {
        pod::pod(errors, new);
        pod_strategy::update::ephemeral_containers(errors, old, new);
    })
}

/// Validates a write to the subresource `approval` of a CertificateSigningRequest.
pub fn approval(kind: &Kind, old: &Value, new: &Value) -> ValidationReport {
    subresource(kind, old, new, |_, errors| {
        signing_request::validate_status(errors, Some(old), new, Part::Approval);
    })
}

fn subresource(
    kind: &Kind,
    old: &Value,
    new: &Value,
    validate: impl FnOnce(&KindStrategy, &mut ErrorList),
) -> ValidationReport {
    let mut errors = ErrorList::default();
    metadata::update(&mut errors, kind, old, new);
    validate(strategies::of(kind), &mut errors);
    errors.into()
}

/// Validates the `Scale` written to a subresource `scale`.
pub fn scale(scale: &Value) -> ValidationReport {
    let mut errors = ErrorList::default();
    errors.not_negative(&Path::new("spec"), &scale["spec"], "replicas");
    errors.into()
}

/// Drops owner references that are repeated exactly, and returns a warning about them, which says when they were found.
pub fn deduplicate_owners(object: &mut Value, when: &str) -> Option<String> {
    metadata::deduplicate_owners(object, when)
}

impl From<ErrorList> for ValidationReport {
    fn from(list: ErrorList) -> Self {
        Self { errors: list.all, warnings: list.warnings }
    }
}
