//! Statuses as controllers write them: counters that add up.

use serde_json::{Value, json};

use super::found::{Found, Path, list, number, text};
use super::metadata;
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
pub(super) fn status(found: &mut Found, kind: &Kind, old: &Value, new: &Value) {
    let at = Path::new("status");
    let status = &new["status"];
    match (kind.group, kind.kind) {
        ("apps", "Deployment") => {
            counters(found, &at, status, &DEPLOYMENT);
            not_decremented(found, &at, &old["status"], status);
        }
        ("apps", "ReplicaSet") | ("", "ReplicationController") => counters(found, &at, status, &REPLICA_SET),
        ("apps", "StatefulSet") => {
            counters(found, &at, status, &STATEFUL_SET);
            not_decremented(found, &at, &old["status"], status);
        }
        ("apps", "DaemonSet") => {
            not_negative(found, &at, status, &DAEMON_SET);
            not_decremented(found, &at, &old["status"], status);
        }
        ("policy", "PodDisruptionBudget") => not_negative(found, &at, status, &DISRUPTION_BUDGET),
        ("", "Pod") => pod(found, &at, &old["status"], status),
        ("", "Namespace") => {
            let spec = Path::new("spec");
            metadata::finalizer_names(found, &spec.child("finalizers"), list(&new["spec"], "finalizers"));
        }
        _ => {}
    }
}

fn counters(found: &mut Found, at: &Path<'_>, status: &Value, counters: &Counters) {
    not_negative(found, at, status, counters.counted);
    let count = |field: &str| number(status, field).unwrap_or(0);
    for field in counters.at_most_replicas {
        if count(field) > count("replicas") {
            found.invalid(&at.child(field), &json!(count(field)), "cannot be greater than status.replicas");
        }
    }
    if count("availableReplicas") > count("readyReplicas") {
        let available = json!(count("availableReplicas"));
        found.invalid(&at.child("availableReplicas"), &available, "cannot be greater than readyReplicas");
    }
}

fn not_negative(found: &mut Found, at: &Path<'_>, status: &Value, fields: &[&str]) {
    for field in fields {
        found.not_negative(at, status, field);
    }
}

fn not_decremented(found: &mut Found, at: &Path<'_>, old: &Value, new: &Value) {
    let field = "collisionCount";
    let before = number(old, field);
    let is_less = before.is_some_and(|before| number(new, field).is_none_or(|now| now < before));
    if is_less {
        found.invalid(&at.child(field), &new[field], "cannot be decremented");
    }
}

fn pod(found: &mut Found, at: &Path<'_>, old: &Value, new: &Value) {
    let before = text(old, "qosClass");
    if !before.is_empty() && text(new, "qosClass") != before {
        found.immutable(&at.child("qosClass"), false, &json!(text(new, "qosClass")));
    }
}
