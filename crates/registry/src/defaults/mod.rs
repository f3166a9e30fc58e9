//! What an object means where it says nothing: the defaults of every kind.
//!
//! [`apply`] belongs to every decode (of requests, of patched objects, of stored ones) and may run any number of times.
//! [`on_create`] is what only a new object gets. What the server adds on its own account, mostly for the sake of other
//! objects (accounts, classes, quotas, addresses), is not here but in [`admission`](crate::admission).

mod autoscaling;
mod batch;
mod cluster;
mod container;
mod definition;
mod image;
mod network;
mod pod;
pub mod quality;
mod resources;
mod secret;
pub(crate) mod setting;
mod volume;
pub(crate) mod workload;

use serde_json::{Value, json};

use crate::decode;
use crate::kinds::{Kind, Nature};
use setting::{Object, object};

/// Fills in what the object leaves out.
pub fn apply(kind: &Kind, value: &mut Value) {
    if let Nature::Custom(custom) = &kind.nature {
        custom.structure.fill(value);
        return decode::custom::tidy(&custom.structure, value);
    }
    compiled_in(kind, value);
}

/// The same for what server-side apply makes of an object: `null` stays what it is in custom kinds.
pub fn apply_to_applied(kind: &Kind, value: &mut Value) {
    match &kind.nature {
        Nature::Custom(custom) => {
            custom.structure.fill_applied(value);
            decode::custom::tidy(&custom.structure, value);
        }
        Nature::BuiltIn(_) => compiled_in(kind, value),
    }
}

fn compiled_in(kind: &Kind, value: &mut Value) {
    let Some(object) = object(value) else { return };
    match (kind.group, kind.kind) {
        ("", "Pod") => pod::pod(object),
        ("", "PodTemplate") => pod::template(object),
        ("", "ReplicationController") => workload::replication_controller(object),
        ("apps", "Deployment") => workload::deployment(object),
        ("apps", "ReplicaSet") => workload::replica_set(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("apps", "DaemonSet") => workload::daemon_set(object),
        ("batch", "Job") => batch::job(object),
        ("batch", "CronJob") => batch::cron_job(object),
        ("autoscaling", _) if kind.version == "v1" => autoscaling::first_version(object),
        ("autoscaling", _) => autoscaling::autoscaler(object),
        ("", "Service") => network::service(object),
        ("", "Endpoints") => network::endpoints(object),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(object),
        ("networking.k8s.io", "NetworkPolicy") => network::policy(object),
        ("", "Namespace") => cluster::namespace(object),
        ("", "Node") => cluster::node(object),
        ("", "Secret") => secret::secret(object),
        ("", "LimitRange") => resources::limit_range(object),
        ("", "PersistentVolume") => volume::persistent_volume(object),
        ("", "PersistentVolumeClaim") => volume::claim(object),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => cluster::role_binding(object),
        ("storage.k8s.io", "StorageClass") => cluster::storage_class(object),
        ("storage.k8s.io", "CSIDriver") => cluster::csi_driver(object),
        ("scheduling.k8s.io", "PriorityClass") => cluster::priority_class(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::definition(object),
        _ => {}
    }
}

/// Gives a new object what only new objects get: its first status, and a namespace its finalizer.
///
/// A status that came with the request is dropped, except for Nodes, which may bring theirs.
pub fn on_create(kind: &Kind, value: &mut Value) {
    let Some(object) = object(value) else { return };
    if kind.has_status() && kind.kind != "Node" {
        match first_status(kind, object) {
            Some(status) => object.insert("status".to_owned(), status),
            None => object.remove("status"),
        };
    }
    if (kind.group, kind.kind) == ("", "Namespace") {
        cluster::namespace(object);
        cluster::finalized_namespace(object);
    }
}

fn first_status(kind: &Kind, object: &Object) -> Option<Value> {
    match (kind.group, kind.kind) {
        ("", "Pod") => Some(pod::first_status(object)),
        ("", "Namespace") => Some(json!({"phase": "Active"})),
        ("", "PersistentVolume") => {
            let created = object.get("metadata").map(|metadata| &metadata["creationTimestamp"]);
            Some(json!({"phase": "Pending", "lastPhaseTransitionTime": created}))
        }
        ("", "PersistentVolumeClaim") => Some(json!({"phase": "Pending"})),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(definition::first_status(object)),
        _ => None,
    }
}
