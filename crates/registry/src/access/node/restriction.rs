//! Which objects a node may write: its own, and pods that are bound to it.
//!
//! This is a part of the admission plugin NodeRestriction of Kubernetes, without which the Node authorizer would allow
//! a node to write the objects of others. The rules for its own Node object are in `node_object`.

use gantry_json::Value;

use super::node_object;
use super::references::{MIRROR, PodReferences};

/// The reason for refusing the lease of another node.
pub(super) const LEASE_OF_OTHER: &str =
    "can only access node lease with the same name as the requesting node";
/// The reason for refusing the CSINode of another node.
pub(super) const CSI_NODE_OF_OTHER: &str =
    "can only access CSINode with the same name as the requesting node";

/// Decides whether a node may create this object; the error is the reason.
pub fn check_create(node: &str, group: &str, resource: &str, object: &Value) -> Result<(), String> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match (group, resource) {
        ("", "nodes") => check_node(node, name).and_then(|()| node_object::check_create(node, object)),
        ("coordination.k8s.io", "leases") if name != node => Err(LEASE_OF_OTHER.to_owned()),
        ("storage.k8s.io", "csinodes") if name != node => Err(CSI_NODE_OF_OTHER.to_owned()),
        ("", "pods") => check_mirror_pod(node, object),
        _ => Ok(()),
    }
}

/// Decides whether a node may change this stored object to the wanted one; the error is the reason.
pub fn check_update(
    node: &str,
    group: &str,
    resource: &str,
    stored: &Value,
    wanted: &Value,
) -> Result<(), String> {
    match (group, resource) {
        ("", "nodes") => {
            check_node(node, stored["metadata"]["name"].as_str().unwrap_or_default())?;
            node_object::check_update(node, stored, wanted)
        }
        ("", "pods") if !is_bound_to(node, stored) => Err(format!(
            "node \"{node}\" can only update pod status for pods with spec.nodeName set to itself"
        )),
        _ => Ok(()),
    }
}

/// Decides whether a node may delete this object; the error is the reason.
pub fn check_delete(node: &str, group: &str, resource: &str, stored: &Value) -> Result<(), String> {
    if (group, resource) == ("", "pods") && !is_bound_to(node, stored) {
        return Err(format!("node \"{node}\" can only delete pods with spec.nodeName set to itself"));
    }
    Ok(())
}

/// Decides whether a node may evict this pod; the error is the reason.
pub fn check_eviction(node: &str, pod: &Value) -> Result<(), String> {
    if is_bound_to(node, pod) {
        return Ok(());
    }
    Err(format!("node {node} can only evict pods with spec.nodeName set to itself"))
}

/// Decides whether a node may request a token that is bound to this object; the error is the reason.
///
/// `pod` is the pod that the reference names, if it names one.
pub fn check_token(node: &str, reference: &Value, pod: Option<&Value>) -> Result<(), String> {
    let Some(pod) = pod.filter(|_| reference["kind"] == "Pod") else {
        return Err("node requested token not bound to a pod".to_owned());
    };
    if reference["uid"].as_str().is_none_or(str::is_empty) {
        return Err("node requested token with a pod binding without a uid".to_owned());
    }
    if !is_bound_to(node, pod) {
        return Err("node requested token bound to a pod scheduled on a different node".to_owned());
    }
    Ok(())
}

fn check_node(node: &str, name: &str) -> Result<(), String> {
    if name == node {
        Ok(())
    } else {
        Err(format!("node \"{node}\" is not allowed to modify node \"{name}\""))
    }
}

/// A node creates only mirror pods of itself, which refer to no other objects.
fn check_mirror_pod(node: &str, pod: &Value) -> Result<(), String> {
    if pod["metadata"]["annotations"].get(MIRROR).is_none() {
        return Err(format!(
            "pod does not have \"{MIRROR}\" annotation, node \"{node}\" can only create mirror pods"
        ));
    }
    if !is_bound_to(node, pod) {
        return Err(format!("node \"{node}\" can only create pods with spec.nodeName set to itself"));
    }
    let references = PodReferences::of(pod);
    let kinds = [
        ("service accounts", references.service_account.is_empty()),
        ("secrets", references.secrets.is_empty()),
        ("configmaps", references.config_maps.is_empty()),
        ("persistentvolumeclaims", references.claims.is_empty()),
    ];
    match kinds.into_iter().find(|(_, is_empty)| !is_empty) {
        Some((kind, _)) => Err(format!("a mirror pod may not reference {kind}")),
        None => Ok(()),
    }
}

fn is_bound_to(node: &str, pod: &Value) -> bool {
    pod["spec"]["nodeName"] == node
}
