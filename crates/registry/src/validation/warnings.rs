//! What is odd about an object that is stored all the same.

use serde_json::Value;

use super::error_list::{Path, list, number, text};
use super::names::label;
use super::pod_warnings::{self, newer_label};
use super::{definition, endpoints, ingress, network_policy, node, quota, service, storage};
use crate::kinds::Kind;

/// Warnings about a new object.
pub(super) fn of_new(kind: &Kind, object: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    match (kind.group, kind.kind) {
        ("", "Pod") => name(&mut warnings, object, "the Pod's hostname"),
        ("apps", "Deployment" | "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job") => {
            name(&mut warnings, object, "Pod names and hostnames");
        }
        _ => {}
    }
    of_pods(&mut warnings, kind, object);
    warnings.extend(of_others(kind, object));
    warnings
}

/// Warnings about a change. Those about pods come whenever what is asked for changes; of the kinds without pods some
/// repeat all, some give none, the others give those that are new.
pub(super) fn of_change(kind: &Kind, old: &Value, new: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    let generation = |object: &Value| object["metadata"]["generation"].as_i64();
    if kind.kind == "Pod" || generation(old) != generation(new) {
        of_pods(&mut warnings, kind, new);
    }
    let all = of_others(kind, new);
    warnings.extend(match (kind.group, kind.kind) {
        ("", "Node" | "PersistentVolume" | "PersistentVolumeClaim" | "Endpoints" | "Service")
        | ("apps", "StatefulSet")
        | ("networking.k8s.io", "NetworkPolicy")
        | ("storage.k8s.io", "StorageClass") => all,
        ("", "ResourceQuota") | ("networking.k8s.io", "Ingress") => Vec::new(),
        ("discovery.k8s.io", "EndpointSlice") => endpoints::slice_change_warnings(new),
        ("storage.k8s.io", "CSIDriver") if old["spec"]["tokenRequests"] != new["spec"]["tokenRequests"] => {
            all
        }
        _ => {
            let before = of_others(kind, old);
            all.into_iter().filter(|warning| !before.contains(warning)).collect()
        }
    });
    warnings
}

/// Warnings about a status.
pub(super) fn of_status(kind: &Kind, object: &Value) -> Vec<String> {
    match (kind.group, kind.kind) {
        ("networking.k8s.io", "Ingress") => ingress::status_warnings(object),
        _ => Vec::new(),
    }
}

/// Warnings about a pod, or about the template that an object makes pods from.
fn of_pods(warnings: &mut Vec<String>, kind: &Kind, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    match (kind.group, kind.kind) {
        ("", "Pod") => pod_warnings::of(warnings, &Path::root(), object),
        ("apps", _) | ("", "ReplicationController") | ("batch", "Job") => {
            pod_warnings::of(warnings, &at.child("template"), &spec["template"]);
        }
        ("batch", "CronJob") => {
            let at = at.child("jobTemplate");
            let at = at.child("spec");
            pod_warnings::of(warnings, &at.child("template"), &spec["jobTemplate"]["spec"]["template"]);
        }
        _ => {}
    }
}

/// Warnings about anything but pods.
fn of_others(kind: &Kind, object: &Value) -> Vec<String> {
    let (mut warnings, spec) = (Vec::new(), &object["spec"]);
    match (kind.group, kind.kind) {
        ("apiextensions.k8s.io", _) => warnings.extend(definition::warnings(spec)),
        ("apps", "StatefulSet") if number(spec, "revisionHistoryLimit").is_some_and(|limit| limit < 0) => {
            let why = "a negative value retains all historical revisions; a value >= 0 is recommended";
            warnings.push(format!("spec.revisionHistoryLimit: {why}"));
        }
        ("", "Service") => warnings.extend(service::warnings(spec)),
        ("", "Node") => warnings.extend(node::warnings(spec)),
        ("", "PersistentVolume") => storage::volume_warnings(&mut warnings, object),
        ("", "PersistentVolumeClaim") => storage::claim_warnings(&mut warnings, object),
        ("", "ResourceQuota") => quota::warnings(&mut warnings, spec),
        ("", "Endpoints") => endpoints::warnings(&mut warnings, object),
        ("discovery.k8s.io", "EndpointSlice") => endpoints::slice_warnings(&mut warnings, object),
        ("networking.k8s.io", "NetworkPolicy") => network_policy::warnings(&mut warnings, object),
        ("networking.k8s.io", "Ingress") => ingress::warnings(&mut warnings, object),
        ("storage.k8s.io", "StorageClass") => topology_labels(&mut warnings, object),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver_warnings(&mut warnings, object),
        _ => {}
    }
    warnings
}

fn name(warnings: &mut Vec<String>, object: &Value, used_in: &str) {
    let wrong = label(text(&object["metadata"], "name"));
    if !wrong.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            wrong.join(" ")
        ));
    }
}

fn topology_labels(warnings: &mut Vec<String>, class: &Value) {
    let at = Path::new("allowedTopologies");
    for (index, term) in list(class, "allowedTopologies").iter().enumerate() {
        let at = at.index(index);
        for (index, expression) in list(term, "matchLabelExpressions").iter().enumerate() {
            let (at, key) = (at.child("matchLabelExpressions"), text(expression, "key"));
            let at = at.index(index);
            if let Some(instead) = newer_label(key) {
                warnings.push(format!("{}: {instead}", at.child("key")));
            }
        }
    }
}
