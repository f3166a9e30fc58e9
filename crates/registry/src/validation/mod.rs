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
mod definition;
mod deployment;
mod difference;
mod downward;
mod endpoints;
mod environment;
pub(crate) mod error_list;
mod event;
mod ingress;
mod job;
mod job_policy;
mod limit_range;
pub(crate) mod metadata;
mod mount;
pub(crate) mod names;
mod network_policy;
mod node;
mod overlap;
mod plain;
mod pod;
mod pod_resources;
mod pod_update;
mod pod_warnings;
mod policy;
mod probe;
mod quota;
mod rbac;
mod resize;
mod resource_names;
mod resources;
mod restart;
mod same;
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

use crate::decode::KeyOrder;
use crate::kinds::{Kind, Nature};
use crate::lifecycle::Part;
use crate::refusal::FieldError;
use error_list::{ErrorList, Path, list};

pub(crate) use definition::steps_to;
pub use same::same;

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
    let mut errors = ErrorList::in_order(order);
    if (kind.group, kind.kind) == ("policy", "PodDisruptionBudget") {
        // Its metadata is only looked at if nothing else is wrong.
        specific(&mut errors, kind, None, object);
        if !errors.all.is_empty() {
            return Judged { errors: errors.all, warnings: Vec::new() };
        }
    }
    metadata::create(&mut errors, kind, object);
    if let Nature::Custom(custom) = &kind.nature {
        errors.all.extend(custom.structure.judge(object, custom.scaling.as_ref()));
        return judged_custom(errors.all, &[], &Value::Null, object);
    }
    if let Some(judged) = wrong_addresses(kind, object) {
        return judged;
    }
    match (kind.group, kind.kind) {
        ("", "Pod") => pod::create(&mut errors, object),
        ("" | "events.k8s.io", "Event") => event::create(&mut errors, kind, object),
        ("batch", "Job") => job::create(&mut errors, object),
        ("apps", "StatefulSet") => workload::new_stateful_set(&mut errors, object),
        ("scheduling.k8s.io", "PriorityClass") => plain::new_priority_class(&mut errors, object),
        ("apiextensions.k8s.io", _) => definition::create(&mut errors, object),
        _ => specific(&mut errors, kind, None, object),
    }
    if !errors.all.is_empty() {
        return Judged { errors: errors.all, warnings: Vec::new() };
    }
    Judged { errors: Vec::new(), warnings: warnings::of_new(kind, object) }
}

/// Judges a changed object; its uid and times are already those of the stored one where the client left them out.
pub fn update(kind: &Kind, old: &Value, new: &Value) -> Judged {
    update_in_order(kind, old, new, &KeyOrder::default())
}

fn update_in_order(kind: &Kind, old: &Value, new: &Value, order: &KeyOrder) -> Judged {
    let mut errors = ErrorList::in_order(order);
    metadata::update(&mut errors, kind, old, new);
    if let Nature::Custom(custom) = &kind.nature {
        let judged = custom.structure.judge_change(old, new, custom.scaling.as_ref());
        errors.all.extend(judged.errors);
        return judged_custom(errors.all, &judged.excused, old, new);
    }
    if let Some(judged) = wrong_addresses(kind, new) {
        return judged;
    }
    match (kind.group, kind.kind) {
        ("", "Pod") => {
            pod::pod(&mut errors, new);
            pod_update::update(&mut errors, old, new);
        }
        ("" | "events.k8s.io", "Event") => event::update(&mut errors, kind, old, new),
        ("apiextensions.k8s.io", _) => definition::update(&mut errors, old, new),
        ("apps", "StatefulSet") => {
            workload::stateful_set(&mut errors, new);
            workload::stateful_set_changes(&mut errors, old, new);
        }
        ("apps", "DaemonSet") => {
            workload::keeps_selector(&mut errors, &old["spec"], &new["spec"]);
            workload::daemon_set(&mut errors, new);
        }
        // These kinds look at what changed before they look at the whole.
        ("", "Service" | "Secret" | "ConfigMap") => {
            changes(&mut errors, kind, old, new);
            specific(&mut errors, kind, Some(old), new);
        }
        ("rbac.authorization.k8s.io", _) => rbac::update(&mut errors, kind, old, new),
        _ => {
            specific(&mut errors, kind, Some(old), new);
            changes(&mut errors, kind, old, new);
        }
    }
    if !errors.all.is_empty() {
        return Judged { errors: errors.all, warnings: Vec::new() };
    }
    Judged { errors: Vec::new(), warnings: warnings::of_change(kind, old, new) }
}

/// What is wrong with the addresses of a Service, which is told before and without anything else.
fn wrong_addresses(kind: &Kind, service: &Value) -> Option<Judged> {
    if (kind.group, kind.kind) != ("", "Service") {
        return None;
    }
    let mut errors = ErrorList::default();
    service_addresses::service_addresses(&mut errors, service);
    let errors = errors.all;
    (!errors.is_empty()).then(|| Judged { errors, warnings: Vec::new() })
}

/// Whether addresses can be given to a Service: nothing is wrong with what it says of them itself.
pub fn is_addressable(kind: &Kind, service: &Value) -> bool {
    wrong_addresses(kind, service).is_none()
}

/// Judges a write to the subresource `status`.
pub fn status(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut errors = ErrorList::default();
    metadata::update(&mut errors, kind, old, new);
    let mut warnings = Vec::new();
    match &kind.nature {
        Nature::BuiltIn(_) => {
            status::status(&mut errors, kind, old, new);
            if errors.all.is_empty() {
                warnings = warnings::of_status(kind, new);
            }
        }
        Nature::Custom(custom) => {
            let judged = custom.structure.judge_status(old, new, custom.scaling.as_ref());
            errors.all.extend(judged.errors);
            warnings = as_warnings(&judged.excused);
        }
    }
    Judged { errors: errors.all, warnings }
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
    let mut errors = ErrorList::default();
    metadata::update(&mut errors, kind, old, new);
    specific(&mut errors, kind, Some(old), new);
    Judged { errors: errors.all, warnings: Vec::new() }
}

/// Judges a write to a pod's subresource `resize`.
pub fn resize(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut errors = ErrorList::default();
    metadata::update(&mut errors, kind, old, new);
    pod::pod(&mut errors, new);
    resize::resize(&mut errors, old, new);
    Judged { errors: errors.all, warnings: Vec::new() }
}

/// Judges a write to a pod's subresource `ephemeralcontainers`.
pub fn ephemeral_containers(kind: &Kind, old: &Value, new: &Value) -> Judged {
    let mut errors = ErrorList::default();
    metadata::update(&mut errors, kind, old, new);
    pod::pod(&mut errors, new);
    pod_update::ephemeral_containers(&mut errors, old, new);
    Judged { errors: errors.all, warnings: Vec::new() }
}

/// Judges the `Scale` written to a subresource `scale`.
pub fn scale(scale: &Value) -> Judged {
    let mut errors = ErrorList::default();
    errors.not_negative(&Path::new("spec"), &scale["spec"], "replicas");
    Judged { errors: errors.all, warnings: Vec::new() }
}

/// Drops owners that are named again, word for word; what is returned tells the client about them.
pub fn fold_owners(object: &mut Value) -> Option<String> {
    metadata::fold_owners(object)
}

/// What a kind asks of its objects, new or changed; `old` is the stored one if it is changed.
fn specific(errors: &mut ErrorList, kind: &Kind, old: Option<&Value>, object: &Value) {
    match (kind.group, kind.kind) {
        ("", "PodTemplate") => template::template(errors, &Path::new("template"), &object["template"]),
        ("", "ReplicationController") => workload::replication_controller(errors, object),
        ("apps", "Deployment") => deployment::deployment(errors, object),
        ("apps", "ReplicaSet") => deployment::replica_set(errors, object),
        ("apps", "DaemonSet") => workload::daemon_set(errors, object),
        ("batch", "Job") => job::job(errors, object),
        ("", "Node") => node::node(errors, object),
        ("batch", "CronJob") => cron_job::cron_job(errors, object),
        ("", "Service") => service::service(errors, object),
        ("", "ConfigMap") => config::config_map(errors, object),
        ("", "Secret") => config::secret(errors, object),
        ("policy", "PodDisruptionBudget") => policy::disruption_budget(errors, object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::autoscaler(errors, old, object),
        ("networking.k8s.io", "Ingress") => ingress::ingress(errors, old, object),
        ("networking.k8s.io", "NetworkPolicy") => network_policy::policy(errors, old, object),
        ("discovery.k8s.io", "EndpointSlice") => endpoints::slice(errors, old, object),
        ("", "Endpoints") => endpoints::endpoints(errors, old, object),
        ("", "LimitRange") => limit_range::limit_range(errors, object),
        ("", "ResourceQuota") => quota::quota(errors, object),
        ("", "PersistentVolume") => storage::volume(errors, object),
        ("", "PersistentVolumeClaim") => {
            storage::claim(errors, &Path::new("spec"), old, &object["spec"]);
        }
        ("storage.k8s.io", "StorageClass") => storage::storage_class(errors, object),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver(errors, object),
        ("storage.k8s.io", "CSINode") => storage::csi_node(errors, object),
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity(errors, object),
        ("storage.k8s.io", "VolumeAttachment") => storage::attachment(errors, old, object),
        ("rbac.authorization.k8s.io", _) => rbac::rbac(errors, kind, object),
        ("", "Namespace") => {
            let at = Path::new("spec");
            metadata::finalizer_names(errors, &at.child("finalizers"), list(&object["spec"], "finalizers"));
        }
        _ => plain::plain(errors, kind, object, old.is_none()),
    }
}

/// What a kind asks of changes.
fn changes(errors: &mut ErrorList, kind: &Kind, old: &Value, new: &Value) {
    match (kind.group, kind.kind) {
        ("apps", "Deployment" | "ReplicaSet") => {
            workload::keeps_selector(errors, &old["spec"], &new["spec"]);
        }
        ("batch", "Job") => job::job_changes(errors, old, new),
        ("", "Node") => node::changes(errors, old, new),
        ("", "Service") => service::service_changes(errors, old, new),
        ("", "ConfigMap" | "Secret") => config::changes(errors, kind, old, new),
        ("", "PersistentVolumeClaim") => storage::claim_changes(errors, old, new),
        ("", "PersistentVolume") => storage::volume_changes(errors, old, new),
        ("", "ResourceQuota") => quota::changes(errors, old, new),
        ("storage.k8s.io", "StorageClass") => storage::storage_class_changes(errors, old, new),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver_changes(errors, old, new),
        ("storage.k8s.io", "CSINode") => storage::csi_node_changes(errors, old, new),
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity_changes(errors, old, new),
        _ => plain::changes(errors, kind, old, new),
    }
}
