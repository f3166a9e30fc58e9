//! Statuses as controllers write them: counters that add up.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, number, text};
use super::names::{qualified_name, subdomain};
use super::{autoscaler, definition, ingress, node, quota, service, storage};
use crate::kinds::Kind;

/// The counters of a kind: those that are not negative, and those of them that are not more than `replicas`.
struct Counters {
    counted: &'static [&'static str],
    at_most_replicas: &'static [&'static str],
}

const DEPLOYMENT: Counters = Counters {
    counted: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    at_most_replicas: &["updatedReplicas", "readyReplicas", "availableReplicas"],
};
const REPLICA_SET: Counters = Counters {
    counted: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    ],
    at_most_replicas: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
};
const STATEFUL_SET: Counters = Counters {
    counted: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    at_most_replicas: &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
};
const DAEMON_SET: [&str; 9] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];
const DISRUPTION_BUDGET: [&str; 4] =
    ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

/// A status that is written over another.
pub(super) fn status(errors: &mut ErrorList, kind: &Kind, old: &Value, new: &Value) {
    let at = Path::new("status");
    let status = &new["status"];
    match (kind.group, kind.kind) {
        ("apps", "Deployment") => {
            counters(errors, &at, status, &DEPLOYMENT);
            not_decremented(errors, &at, &old["status"], status);
        }
        ("apps", "ReplicaSet") | ("", "ReplicationController") => counters(errors, &at, status, &REPLICA_SET),
        ("apps", "StatefulSet") => {
            counters(errors, &at, status, &STATEFUL_SET);
            not_decremented(errors, &at, &old["status"], status);
        }
        ("apps", "DaemonSet") => {
            not_negative(errors, &at, status, &DAEMON_SET);
            not_decremented(errors, &at, &old["status"], status);
        }
        ("policy", "PodDisruptionBudget") => not_negative(errors, &at, status, &DISRUPTION_BUDGET),
        ("", "Pod") => pod(errors, &at, old, new),
        ("", "Service") => service::status(errors, old, new),
        ("", "Node") => node::status(errors, new),
        ("", "Namespace") => phase_of_namespace(errors, new),
        ("", "PersistentVolumeClaim") => storage::claim_status(errors, new),
        ("", "ResourceQuota") => quota::status(errors, new),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::status(errors, new),
        ("networking.k8s.io", "Ingress") => ingress::balancer_addresses(errors, old, new),
        ("apiextensions.k8s.io", _) => definition::status(errors, new),
        _ => {}
    }
}

fn counters(errors: &mut ErrorList, at: &Path<'_>, status: &Value, counters: &Counters) {
    not_negative(errors, at, status, counters.counted);
    let count = |field: &str| number(status, field).unwrap_or(0);
    for field in counters.at_most_replicas {
        if count(field) > count("replicas") {
            errors.invalid(&at.child(field), &json!(count(field)), "cannot be greater than status.replicas");
        }
    }
    if count("availableReplicas") > count("readyReplicas") {
        let available = json!(count("availableReplicas"));
        errors.invalid(&at.child("availableReplicas"), &available, "cannot be greater than readyReplicas");
    }
}

fn not_negative(errors: &mut ErrorList, at: &Path<'_>, status: &Value, fields: &[&str]) {
    for field in fields {
        errors.not_negative(at, status, field);
    }
}

fn not_decremented(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let field = "collisionCount";
    let before = number(old, field);
    let is_less = before.is_some_and(|before| number(new, field).is_none_or(|now| now < before));
    if is_less {
        errors.invalid(&at.child(field), &new[field], "cannot be decremented");
    }
}

/// A namespace is on its way out exactly when it is being deleted.
fn phase_of_namespace(errors: &mut ErrorList, namespace: &Value) {
    let (phase, at) = (&namespace["status"]["phase"], Path::new("status"));
    let (is_allowed, why) = if is_set(&namespace["metadata"], "deletionTimestamp") {
        (phase == "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    } else {
        (phase == "Active", "may only be 'Active' if `deletionTimestamp` is empty")
    };
    if !is_allowed {
        // The name of the field is upstream's.
        errors.invalid(&at.child("Phase"), &json!(phase.as_str().unwrap_or_default()), why);
    }
}

fn pod(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let (before, now) = (&old["status"], &new["status"]);
    pod_conditions(errors, &at.child("conditions"), list(now, "conditions"));
    let nominated = text(now, "nominatedNodeName");
    if !nominated.is_empty() && nominated != text(before, "nominatedNodeName") {
        errors.invalid_text(&at.child("nominatedNodeName"), nominated, subdomain(nominated));
    }
    let class = text(before, "qosClass");
    if !class.is_empty() && text(now, "qosClass") != class {
        errors.immutable(&at.child("qosClass"), false, &json!(text(now, "qosClass")));
    }
    for field in ["containerStatuses", "initContainerStatuses"] {
        stays_ended(errors, &at.child(field), list(before, field), list(now, field), &old["spec"]);
    }
    for (index, address) in list(now, "podIPs").iter().enumerate() {
        let ip = text(address, "ip");
        if ip.parse::<IpAddr>().is_err() && !list(before, "podIPs").contains(address) {
            let at = at.child("podIPs");
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.invalid(&at.index(index), &json!(ip), why);
        }
    }
    pod_address_families(errors, &at.child("podIPs"), list(now, "podIPs"));
}

/// The types of conditions that are not Kubernetes' own are qualified names. The name of the field is upstream's.
fn pod_conditions(errors: &mut ErrorList, at: &Path<'_>, conditions: &[Value]) {
    for (index, condition) in conditions.iter().enumerate() {
        let kind = text(condition, "type");
        if !["PodScheduled", "Ready", "Initialized"].contains(&kind) {
            errors.invalid_text(&at.index(index).child("Type"), kind, qualified_name(kind));
        }
    }
}

/// A pod has one address of each family at most.
fn pod_address_families(errors: &mut ErrorList, at: &Path<'_>, addresses: &[Value]) {
    let parsed: Vec<IpAddr> =
        addresses.iter().filter_map(|address| text(address, "ip").parse().ok()).collect();
    let is_pair = matches!(parsed[..], [one, other] if one.is_ipv4() != other.is_ipv4());
    if addresses.len() < 2 || parsed.len() < addresses.len() || is_pair {
        return;
    }
    let shown: Vec<Value> = addresses.iter().map(|address| json!({"IP": text(address, "ip")})).collect();
    errors.invalid(at, &Value::Array(shown), "may specify no more than one IP for each IP family");
    for (index, address) in addresses.iter().enumerate() {
        if addresses[..index].contains(address) {
            errors.duplicate(&at.index(index), &json!({"IP": text(address, "ip")}));
        }
    }
}

/// What ended and is not to be restarted stays ended.
fn stays_ended(errors: &mut ErrorList, at: &Path<'_>, old: &[Value], new: &[Value], spec: &Value) {
    let policy = text(spec, "restartPolicy");
    if policy == "Always" {
        return;
    }
    for (index, before) in old.iter().enumerate() {
        let end = &before["state"]["terminated"];
        let may_restart = policy == "OnFailure" && number(end, "exitCode").unwrap_or(0) != 0;
        if end.is_null() || may_restart {
            continue;
        }
        let now = new.iter().filter(|now| text(now, "name") == text(before, "name"));
        for _ in now.filter(|now| now["state"]["terminated"].is_null()) {
            let why = "may not be transitioned to non-terminated state";
            errors.forbidden(&at.index(index).child("state"), why);
        }
    }
}
