//! Whether an object can be stored, and what is odd about it though it can.
//!
//! Objects come decoded and with their defaults. All that is wrong is found at once, in the order and the words of
//! Kubernetes. What the schema rules out (unknown fields, wrong types) has been refused before; what depends on other
//! objects (namespaces, quotas, classes) is refused elsewhere.

mod addresses;
mod autoscaler;
mod config;
mod container;
mod cron_job;
pub mod custom_objects;
mod definition;
mod deployment;
mod difference;
mod downward;
mod endpoints;
mod environment;
mod event;
pub(crate) mod found;
mod ingress;
mod job;
mod job_policy;
mod limit_range;
pub(crate) mod metadata;
mod mount;
mod network_policy;
mod node;
mod overlap;
mod plain;
mod pod;
mod pod_resources;
mod pod_update;
mod pod_warnings;
mod policy;
mod ports;
mod probe;
mod quota;
mod rbac;
mod resize;
mod resource_names;
mod resources;
mod restart;
mod schedule;
mod scheduling;
mod security;
mod selector;
mod service;
mod service_addresses;
mod shown;
mod status;
mod storage;
mod template;
mod volume;
mod warnings;
mod windows;
mod workload;

use serde_json::Value;

use crate::FieldError;
use crate::decode::KeyOrder;
use crate::kinds::{Kind, Nature};
use crate::lifecycle::Part;
use found::{Found, Path, list};
use gantry_primitives::names;

pub use gantry_schema::same;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Why the object cannot be stored; empty if it can.
    pub errors: Vec<FieldError>,
    /// What is odd about an object that can be stored.
    pub warnings: Vec<String>,
}

/// Judges a new object.
pub fn create(kind: &Kind, object: &Value) -> Judged {
    create_in_order(kind, object, &KeyOrder::default())
}

/// Judges a new object whose maps were sent with their keys in this order.
pub fn create_in_order(kind: &Kind, object: &Value, order: &KeyOrder) -> Judged {
    let mut found = Found::in_order(order);
    if (kind.group, kind.kind) == ("policy", "PodDisruptionBudget") {
        // Its metadata is only looked at if nothing else is wrong.
        specific(&mut found, kind, None, object);
        if !found.errors.is_empty() {
            return Judged { errors: found.errors, warnings: Vec::new() };
        }
    }
    metadata::create(&mut found, kind, object);
    if let Nature::Custom(custom) = &kind.nature {
        found.errors.extend(custom_objects::create(&custom.structure, object, custom.scaling.as_ref()));
        return judged_custom(found.errors, &[], &Value::Null, object);
    }
    if let Some(judged) = wrong_addresses(kind, object) {
        return judged;
    }
    match (kind.group, kind.kind) {
        ("", "Pod") => pod::create(&mut found, object),
        ("" | "events.k8s.io", "Event") => event::create(&mut found, kind, object),
        ("batch", "Job") => job::create(&mut found, object),
        ("apps", "StatefulSet") => workload::new_stateful_set(&mut found, object),
        ("scheduling.k8s.io", "PriorityClass") => plain::new_priority_class(&mut found, object),
        ("apiextensions.k8s.io", _) => definition::create(&mut found, object),
        _ => specific(&mut found, kind, None, object),
    }
    if !found.errors.is_empty() {
        return Judged { errors: found.errors, warnings: Vec::new() };
    }
    Judged { errors: Vec::new(), warnings: warnings::of_new(kind, object) }
}

/// Judges a changed object; its uid and times are already those of the stored one where the client left them out.
pub fn update(kind: &Kind, old: &Value, new: &Value) -> Judged {
    update_in_order(kind, old, new, &KeyOrder::default())
}

fn update_in_order(kind: &Kind, old: &Value, new: &Value, order: &KeyOrder) -> Judged {
    let mut found = Found::in_order(order);
    metadata::update(&mut found, kind, old, new);
    if let Nature::Custom(custom) = &kind.nature {
        let judged = custom_objects::update(&custom.structure, old, new, custom.scaling.as_ref());
        found.errors.extend(judged.errors);
        return judged_custom(found.errors, &judged.ratcheted, old, new);
    }
    if let Some(judged) = wrong_addresses(kind, new) {
        return judged;
    }
    match (kind.group, kind.kind) {
        ("", "Pod") => {
            pod::pod(&mut found, new);
            pod_update::update(&mut found, old, new);
        }
        ("" | "events.k8s.io", "Event") => event::update(&mut found, kind, old, new),
        ("apiextensions.k8s.io", _) => definition::update(&mut found, old, new),
        ("apps", "StatefulSet") => {
            workload::stateful_set(&mut found, new);
            workload::stateful_set_changes(&mut found, old, new);
        }
        ("apps", "DaemonSet") => {
            workload::keeps_selector(&mut found, &old["spec"], &new["spec"]);
            workload::daemon_set(&mut found, new);
        }
        // These kinds look at what changed before they look at the whole.
        ("", "Service" | "Secret" | "ConfigMap") => {
            changes(&mut found, kind, old, new);
            specific(&mut found, kind, Some(old), new);
        }
        ("rbac.authorization.k8s.io", _) => rbac::update(&mut found, kind, old, new),
        _ => {
            specific(&mut found, kind, Some(old), new);
            changes(&mut found, kind, old, new);
        }
    }
    if !found.errors.is_empty() {
        return Judged { errors: found.errors, warnings: Vec::new() };
    }
    Judged { errors: Vec::new(), warnings: warnings::of_change(kind, old, new) }
}

/// What is wrong with the addresses of a Service, which is told before and without anything else.
fn wrong_addresses(kind: &Kind, service: &Value) -> Option<Judged> {
    if (kind.group, kind.kind) != ("", "Service") {
        return None;
    }
    let mut found = Found::default();
    service_addresses::service_addresses(&mut found, service);
    let errors = found.errors;
    (!errors.is_empty()).then(|| Judged { errors, warnings: Vec::new() })
}

/// Whether addresses can be given to a Service: nothing is wrong with what it says of them itself.
pub fn is_addressable(kind: &Kind, service: &Value) -> bool {
    wrong_addresses(kind, service).is_none()
}

/// Judges a write to the subresource `status`.
pub fn status(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut found = Found::default();
    metadata::update(&mut found, kind, old, new);
    let mut warnings = Vec::new();
    match &kind.nature {
        Nature::BuiltIn(_) => {
            status::status(&mut found, kind, old, new);
            if found.errors.is_empty() {
                warnings = warnings::of_status(kind, new);
            }
        }
        Nature::Custom(custom) => {
            let judged = custom_objects::update_status(&custom.structure, old, new, custom.scaling.as_ref());
            found.errors.extend(judged.errors);
            warnings = as_warnings(&judged.ratcheted);
        }
    }
    Judged { errors: found.errors, warnings }
}

/// What is let pass is still told.
fn as_warnings(excused: &[FieldError]) -> Vec<String> {
    excused.iter().map(ToString::to_string).collect()
}

/// What is odd about an object of a custom kind is said if nothing is wrong with it.
fn judged_custom(errors: Vec<FieldError>, excused: &[FieldError], old: &Value, new: &Value) -> Judged {
    let mut warnings = as_warnings(excused);
    if errors.is_empty() {
        warnings.extend(metadata::odd_finalizers(old, new));
    }
    Judged { errors, warnings }
}

/// Judges what was written through one part of an object, whose maps were sent with their keys in this order.
pub fn part(part: Part, kind: &Kind, old: &Value, new: &Value, order: &KeyOrder) -> Judged {
    match part {
        Part::Main => update_in_order(kind, old, new, order),
        Part::Status => status(kind, old, new),
        Part::Finalize => finalize(kind, old, new),
        Part::EphemeralContainers => ephemeral_containers(kind, old, new),
        Part::Resize => resize(kind, old, new),
    }
}

/// Judges a write to a namespace's subresource `finalize`.
pub fn finalize(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut found = Found::default();
    metadata::update(&mut found, kind, old, new);
    specific(&mut found, kind, Some(old), new);
    Judged { errors: found.errors, warnings: Vec::new() }
}

/// Judges a write to a pod's subresource `resize`.
pub fn resize(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut found = Found::default();
    metadata::update(&mut found, kind, old, new);
    pod::pod(&mut found, new);
    resize::resize(&mut found, old, new);
    Judged { errors: found.errors, warnings: Vec::new() }
}

/// Judges a write to a pod's subresource `ephemeralcontainers`.
pub fn ephemeral_containers(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut found = Found::default();
    metadata::update(&mut found, kind, old, new);
    pod::pod(&mut found, new);
    pod_update::ephemeral_containers(&mut found, old, new);
    Judged { errors: found.errors, warnings: Vec::new() }
}

/// Judges the `Scale` written to a subresource `scale`.
pub fn scale(scale: &Value) -> Judged {
    let mut found = Found::default();
    found.not_negative(&Path::new("spec"), &scale["spec"], "replicas");
    Judged { errors: found.errors, warnings: Vec::new() }
}

/// Drops owners that are named again, word for word; what is returned tells the client about them.
pub fn fold_owners(object: &mut Value) -> Option<String> {
    metadata::fold_owners(object)
}

/// What a kind asks of its objects, new or changed; `old` is the stored one if it is changed.
fn specific(found: &mut Found, kind: &Kind, old: Option<&Value>, object: &Value) {
    match (kind.group, kind.kind) {
        ("", "PodTemplate") => template::template(found, &Path::new("template"), &object["template"]),
        ("", "ReplicationController") => workload::replication_controller(found, object),
        ("apps", "Deployment") => deployment::deployment(found, object),
        ("apps", "ReplicaSet") => deployment::replica_set(found, object),
        ("apps", "DaemonSet") => workload::daemon_set(found, object),
        ("batch", "Job") => job::job(found, object),
        ("", "Node") => node::node(found, object),
        ("batch", "CronJob") => cron_job::cron_job(found, object),
        ("", "Service") => service::service(found, object),
        ("", "ConfigMap") => config::config_map(found, object),
        ("", "Secret") => config::secret(found, object),
        ("policy", "PodDisruptionBudget") => policy::disruption_budget(found, object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::autoscaler(found, old, object),
        ("networking.k8s.io", "Ingress") => ingress::ingress(found, old, object),
        ("networking.k8s.io", "NetworkPolicy") => network_policy::policy(found, old, object),
        ("discovery.k8s.io", "EndpointSlice") => endpoints::slice(found, old, object),
        ("", "Endpoints") => endpoints::endpoints(found, old, object),
        ("", "LimitRange") => limit_range::limit_range(found, object),
        ("", "ResourceQuota") => quota::quota(found, object),
        ("", "PersistentVolume") => storage::volume(found, object),
        ("", "PersistentVolumeClaim") => {
            storage::claim(found, &Path::new("spec"), old, &object["spec"]);
        }
        ("storage.k8s.io", "StorageClass") => storage::storage_class(found, object),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver(found, object),
        ("storage.k8s.io", "CSINode") => storage::csi_node(found, object),
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity(found, object),
        ("storage.k8s.io", "VolumeAttachment") => storage::attachment(found, old, object),
        ("rbac.authorization.k8s.io", _) => rbac::rbac(found, kind, object),
        ("", "Namespace") => {
            let at = Path::new("spec");
            metadata::finalizer_names(found, &at.child("finalizers"), list(&object["spec"], "finalizers"));
        }
        _ => plain::plain(found, kind, object, old.is_none()),
    }
}

/// What a kind asks of changes.
fn changes(found: &mut Found, kind: &Kind, old: &Value, new: &Value) {
    match (kind.group, kind.kind) {
        ("apps", "Deployment" | "ReplicaSet") => {
            workload::keeps_selector(found, &old["spec"], &new["spec"]);
        }
        ("batch", "Job") => job::job_changes(found, old, new),
        ("", "Node") => node::changes(found, old, new),
        ("", "Service") => service::service_changes(found, old, new),
        ("", "ConfigMap" | "Secret") => config::changes(found, kind, old, new),
        ("", "PersistentVolumeClaim") => storage::claim_changes(found, old, new),
        ("", "PersistentVolume") => storage::volume_changes(found, old, new),
        ("", "ResourceQuota") => quota::changes(found, old, new),
        ("storage.k8s.io", "StorageClass") => storage::storage_class_changes(found, old, new),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver_changes(found, old, new),
        ("storage.k8s.io", "CSINode") => storage::csi_node_changes(found, old, new),
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity_changes(found, old, new),
        _ => plain::changes(found, kind, old, new),
    }
}
