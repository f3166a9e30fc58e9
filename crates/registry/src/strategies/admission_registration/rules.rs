//! Validates rules (the operations and resources that webhooks and policies match), selectors and match conditions.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, list, text};
use crate::validation::names::qualified_name;
use crate::validation::selector;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTATING_OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
const CONDITIONS_MAX: usize = 64;

/// Validates a rule; mutating policies cannot match deletions.
pub(super) fn validate(errors: &mut ErrorList, at: &Path<'_>, rule: &Value, with_deletions: bool) {
    let allowed: &[&str] = if with_deletions { &OPERATIONS } else { &MUTATING_OPERATIONS };
    let at_operations = at.child("operations");
    only_wildcard(errors, &at_operations, list(rule, "operations"), "operations");
    for (index, operation) in list(rule, "operations").iter().enumerate() {
        if !operation.as_str().is_some_and(|operation| allowed.contains(&operation)) {
            errors.unsupported(&at_operations.index(index), operation, allowed);
        }
    }
    only_wildcard(errors, &at.child("apiGroups"), list(rule, "apiGroups"), "API groups");
    let at_versions = at.child("apiVersions");
    only_wildcard(errors, &at_versions, list(rule, "apiVersions"), "API versions");
    for (index, version) in list(rule, "apiVersions").iter().enumerate() {
        if version == "" {
            errors.required(&at_versions.index(index), "");
        }
    }
    validate_resources(errors, &at.child("resources"), list(rule, "resources"));
    errors.one_of_if_set(&at.child("scope"), &rule["scope"], &SCOPES);
}

/// Reports an empty list, and a `*` next to other elements.
fn only_wildcard(errors: &mut ErrorList, at: &Path<'_>, values: &[Value], what: &str) {
    if values.is_empty() {
        errors.required(at, "");
    }
    if values.len() > 1 && values.iter().any(|value| value == "*") {
        let why = format!("if '*' is present, must not specify other {what}");
        errors.invalid(at, &json!(values), why);
    }
}

fn validate_resources(errors: &mut ErrorList, at: &Path<'_>, resources: &[Value]) {
    if resources.is_empty() {
        errors.required(at, "");
    }
    let (mut all_parts, mut all_resources) = (BTreeSet::new(), BTreeSet::new());
    let (mut has_all, mut has_any, mut has_plain) = (false, false, false);
    for (index, resource) in resources.iter().map(|value| value.as_str().unwrap_or_default()).enumerate() {
        if resource.is_empty() {
            errors.required(&at.index(index), "");
            continue;
        }
        has_all |= resource == "*/*";
        has_any |= resource == "*";
        let Some((name, part)) = resource.split_once('/') else {
            // Kubernetes considers only the last one.
            has_plain = resource != "*";
            continue;
        };
        let mut refuse = |present: String| {
            let why = format!("if '{present}' is present, must not specify {resource}");
            errors.invalid(&at.index(index), &json!(resource), why);
        };
        if all_parts.contains(name) {
            refuse(format!("{name}/*"));
        }
        if all_resources.contains(part) {
            refuse(format!("*/{part}"));
        }
        if part == "*" {
            all_parts.insert(name);
        }
        if name == "*" {
            all_resources.insert(part);
        }
    }
    if resources.len() > 1 && has_all {
        let why = "if '*/*' is present, must not specify other resources";
        errors.invalid(at, &json!(resources), why);
    }
    if has_any && has_plain {
        let why = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(at, &json!(resources), why);
    }
}

/// Validates the selectors of namespaces and objects.
pub(super) fn validate_selectors(errors: &mut ErrorList, at: &Path<'_>, object: &Value) {
    for field in ["namespaceSelector", "objectSelector"] {
        selector::terms(errors, &at.child(field), &object[field]);
    }
}

/// Validates conditions by their form; their expressions are not compiled.
pub(super) fn validate_conditions(errors: &mut ErrorList, at: &Path<'_>, conditions: &[Value]) {
    if conditions.len() > CONDITIONS_MAX {
        return errors.too_many(at, conditions.len(), CONDITIONS_MAX);
    }
    for (index, condition) in conditions.iter().enumerate() {
        let at = at.index(index);
        if text(condition, "expression").trim().is_empty() {
            errors.required(&at.child("expression"), "");
        }
        let name = text(condition, "name");
        if name.is_empty() {
            errors.required(&at.child("name"), "");
        } else if conditions[..index].iter().any(|earlier| text(earlier, "name") == name) {
            errors.duplicate(&at.child("name"), &condition["name"]);
        } else {
            errors.invalid_text(&at.child("name"), name, qualified_name(name));
        }
    }
}
