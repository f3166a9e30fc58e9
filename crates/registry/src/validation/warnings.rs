//! What is odd about an object that is stored all the same.

use serde_json::Value;

use super::found::{Path, list, members, number, text};
use super::names::label;
use super::{
    definition, endpoints, environment, ingress, network_policy, node, quota, resources, service, storage,
};
use crate::kinds::Kind;

/// Labels of nodes that have newer names: the old one, since when, the new one.
const OLD_NODE_LABELS: [(&str, &str, &str); 5] = [
    ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
    ("failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"),
    ("beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"),
];

/// Every warning about an object.
pub(super) fn of(kind: &Kind, object: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    let spec = &object["spec"];
    match (kind.group, kind.kind) {
        ("", "Pod") => {
            name(&mut warnings, object, "the Pod's hostname");
            pod_spec(&mut warnings, &Path::new("spec"), spec);
        }
        ("apps", "Deployment" | "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job") => {
            name(&mut warnings, object, "Pod names and hostnames");
            template(&mut warnings, &Path::new("spec"), spec);
        }
        ("", "Service") => warnings.extend(service::warnings(spec)),
        ("", "Node") => warnings.extend(node::warnings(spec)),
        ("apiextensions.k8s.io", _) => warnings.extend(definition::warnings(spec)),
        ("apps", "StatefulSet" | "DaemonSet") => template(&mut warnings, &Path::new("spec"), spec),
        ("batch", "CronJob") => {
            let at = Path::new("spec");
            let at = at.child("jobTemplate");
            template(&mut warnings, &at.child("spec"), &spec["jobTemplate"]["spec"]);
        }
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

/// Warnings about a change. Some kinds repeat all, some give none, the others give those that are new.
pub(super) fn of_change(kind: &Kind, old: &Value, new: &Value) -> Vec<String> {
    let all = of(kind, new);
    match (kind.group, kind.kind) {
        ("", "Node" | "PersistentVolume" | "PersistentVolumeClaim" | "Endpoints")
        | ("networking.k8s.io", "NetworkPolicy")
        | ("storage.k8s.io", "StorageClass") => all,
        ("", "ResourceQuota") | ("networking.k8s.io", "Ingress") => Vec::new(),
        ("discovery.k8s.io", "EndpointSlice") => endpoints::slice_change_warnings(new),
        ("storage.k8s.io", "CSIDriver") if old["spec"]["tokenRequests"] != new["spec"]["tokenRequests"] => {
            all
        }
        _ => {
            let before = of(kind, old);
            all.into_iter().filter(|warning| !before.contains(warning)).collect()
        }
    }
}

/// Warnings about a status.
pub(super) fn of_status(kind: &Kind, object: &Value) -> Vec<String> {
    match (kind.group, kind.kind) {
        ("networking.k8s.io", "Ingress") => ingress::status_warnings(object),
        _ => Vec::new(),
    }
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

fn template(warnings: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    let at = at.child("template");
    pod_spec(warnings, &at.child("spec"), &spec["template"]["spec"]);
}

fn pod_spec(warnings: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    for (key, _) in members(spec, "nodeSelector") {
        if let Some((_, since, instead)) = OLD_NODE_LABELS.iter().find(|(old, _, _)| old == key) {
            let at = at.child("nodeSelector");
            warnings.push(format!("{}: deprecated since {since}; use \"{instead}\" instead", at.key(key)));
        }
    }
    for (index, constraint) in list(spec, "topologySpreadConstraints").iter().enumerate() {
        if constraint["labelSelector"].is_null() {
            let at = at.child("topologySpreadConstraints");
            let at = at.index(index);
            warnings.push(format!(
                "{}: a null labelSelector results in matching no pod",
                at.child("labelSelector")
            ));
        }
    }
    for field in ["initContainers", "containers"] {
        for (index, container) in list(spec, field).iter().enumerate() {
            let at = at.child(field);
            let at = at.index(index);
            resources::fractions(warnings, &at.child("resources"), &container["resources"]);
            environment::hidden(warnings, &at, container);
            ports(warnings, &at.child("ports"), list(container, "ports"));
        }
    }
    if number(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        warnings.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            at.child("terminationGracePeriodSeconds")
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
            if let Some((_, since, instead)) = OLD_NODE_LABELS.iter().find(|(old, _, _)| *old == key) {
                warnings.push(format!(
                    "{}: deprecated since {since}; use \"{instead}\" instead",
                    at.child("key")
                ));
            }
        }
    }
}

/// Warnings about labels of nodes that have newer names, in the terms of a node selector.
pub(super) fn node_terms(warnings: &mut Vec<String>, at: &Path<'_>, terms: &[Value]) {
    for (index, term) in terms.iter().enumerate() {
        let at = at.index(index);
        for (index, expression) in list(term, "matchExpressions").iter().enumerate() {
            let (at, key) = (at.child("matchExpressions"), text(expression, "key"));
            let at = at.index(index);
            if let Some((_, since, instead)) = OLD_NODE_LABELS.iter().find(|(old, _, _)| *old == key) {
                warnings.push(format!(
                    "{}: {key} is deprecated since {since}; use \"{instead}\" instead",
                    at.child("key")
                ));
            }
        }
    }
}

fn ports(warnings: &mut Vec<String>, at: &Path<'_>, ports: &[Value]) {
    let place = |port: &Value| (number(port, "containerPort"), text(port, "protocol").to_owned());
    for (index, port) in ports.iter().enumerate() {
        if let Some(earlier) = ports[..index].iter().position(|earlier| place(earlier) == place(port)) {
            warnings.push(format!(
                "{}: duplicate port definition with {}",
                at.index(index),
                at.index(earlier)
            ));
        }
    }
}
