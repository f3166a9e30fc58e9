//! Validates restart and resize policies of containers.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, text};

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];

/// Validates the restart policy of a container and its rules.
pub(crate) fn policy(errors: &mut ErrorList, at: &Path<'_>, container: &Value) {
    let (policy_at, rules) = (at.child("restartPolicy"), list(container, "restartPolicyRules"));
    if is_set(container, "restartPolicy") {
        if !POLICIES.contains(&text(container, "restartPolicy")) {
            errors.unsupported(&policy_at, &container["restartPolicy"], &POLICIES);
        }
    } else if !rules.is_empty() {
        errors.required(&policy_at, "must specify restartPolicy when restart rules are used");
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = at.child("restartPolicyRules");
        let at = at.index(index);
        if !ACTIONS.contains(&text(rule, "action")) {
            errors.unsupported(&at.child("action"), &json!(text(rule, "action")), &ACTIONS);
        }
        let (at, codes) = (at.child("exitCodes"), &rule["exitCodes"]);
        if codes.is_null() {
            errors.required(&at, "must be specified");
        } else if !OPERATORS.contains(&text(codes, "operator")) {
            errors.unsupported(&at.child("operator"), &json!(text(codes, "operator")), &OPERATORS);
        }
    }
}

/// Validates resize policies. The path of errors names the list, as in Kubernetes.
pub(crate) fn resize(errors: &mut ErrorList, at: &Path<'_>, container: &Value, pod_policy: &str) {
    let mut seen = BTreeSet::new();
    for (index, policy) in list(container, "resizePolicy").iter().enumerate() {
        if !seen.insert(text(policy, "resourceName")) {
            errors.duplicate(&at.index(index), &policy["resourceName"]);
        }
        errors.one_of(at, &policy["resourceName"], &["cpu", "memory"]);
        errors.one_of(at, &policy["restartPolicy"], &["NotRequired", "RestartContainer"]);
        if pod_policy == "Never" && text(policy, "restartPolicy") != "NotRequired" {
            let why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(at, &json!(text(policy, "restartPolicy")), why);
        }
    }
}

/// Validates that init containers do not restart for a resize.
pub(crate) fn resize_before(errors: &mut ErrorList, at: &Path<'_>, container: &Value) {
    for (index, policy) in list(container, "resizePolicy").iter().enumerate() {
        if text(policy, "restartPolicy") == "RestartContainer" {
            let at = at.child("resizePolicy");
            let at = at.index(index);
            let why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            errors.invalid(&at.child("restartPolicy"), &policy["restartPolicy"], why);
        }
    }
}
