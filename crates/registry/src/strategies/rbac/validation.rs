//! Validates roles and bindings.

use gantry_json::{Value, json};

use crate::kinds::Scope;
use crate::validation::error_list::{ErrorList, Path, list, text};
use crate::validation::names::{path_segment, subdomain};
use crate::validation::selector::terms;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Validates a role, required fields last.
pub(crate) fn role(errors: &mut ErrorList, scope: Scope, object: &Value) {
    rules(errors, scope, object);
    verbs(errors, object);
}

/// Validates a new binding, required fields last.
pub(crate) fn binding(errors: &mut ErrorList, scope: Scope, object: &Value) {
    role_reference(errors, scope, object);
    subjects(errors, scope, object);
    names_of_subjects(errors, object);
    if text(&object["roleRef"], "name").is_empty() {
        errors.required(&Path::new("roleRef").child("name"), "");
    }
}

/// Validates a changed binding: its subjects may change, its role may not.
pub(crate) fn changed_binding(errors: &mut ErrorList, scope: Scope, old: &Value, new: &Value) {
    let (before, after) = (&old["roleRef"], &new["roleRef"]);
    role_reference(errors, scope, new);
    if text(after, "name").is_empty() {
        errors.required(&Path::new("roleRef").child("name"), "");
    }
    subjects(errors, scope, new);
    if before != after {
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            json!(text(after, "apiGroup")),
            json!(text(after, "kind")),
            json!(text(after, "name"))
        );
        errors.invalid_formatted(&Path::new("roleRef"), shown, "field is immutable");
    }
    names_of_subjects(errors, new);
}

fn rules(errors: &mut ErrorList, scope: Scope, object: &Value) {
    for (index, one) in list(object, "rules").iter().enumerate() {
        rule(errors, &Path::new("rules").index(index), one, scope);
    }
    if object["aggregationRule"].is_null() {
        return;
    }
    let at = Path::new("aggregationRule");
    let (at, selectors) =
        (at.child("clusterRoleSelectors"), list(&object["aggregationRule"], "clusterRoleSelectors"));
    if selectors.is_empty() {
        errors.required(&at, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    for (index, selector) in selectors.iter().enumerate() {
        let before = errors.all.len();
        terms(errors, &at.index(index), selector);
        if errors.all.len() > before {
            errors.invalid(&at.index(index), &Value::Null, "invalid label selector.");
        }
    }
}

fn verbs(errors: &mut ErrorList, object: &Value) {
    for (index, rule) in list(object, "rules").iter().enumerate() {
        if list(rule, "verbs").is_empty() {
            errors.required(&Path::new("rules").index(index).child("verbs"), "");
        }
    }
}

fn rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value, scope: Scope) {
    let urls = list(rule, "nonResourceURLs");
    if !urls.is_empty() {
        if scope == Scope::Namespaced {
            let why = "namespaced rules cannot apply to non-resource URLs";
            errors.invalid(&at.child("nonResourceURLs"), &rule["nonResourceURLs"], why);
        }
        if ["apiGroups", "resources", "resourceNames"].iter().any(|field| !list(rule, field).is_empty()) {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid(&at.child("nonResourceURLs"), &rule["nonResourceURLs"], why);
        }
        return;
    }
    if list(rule, "apiGroups").is_empty() {
        errors.required(&at.child("apiGroups"), "resource rules must supply at least one api group");
    }
    if list(rule, "resources").is_empty() {
        errors.required(&at.child("resources"), "resource rules must supply at least one resource");
    }
}

fn role_reference(errors: &mut ErrorList, scope: Scope, object: &Value) {
    let (at, role) = (Path::new("roleRef"), &object["roleRef"]);
    if text(role, "apiGroup") != RBAC {
        errors.unsupported(&at.child("apiGroup"), &role["apiGroup"], &[RBAC]);
    }
    let kinds: &[&str] = if scope == Scope::Namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&text(role, "kind")) {
        errors.unsupported(&at.child("kind"), &json!(text(role, "kind")), kinds);
    }
    let name = text(role, "name");
    errors.optional_text(&at.child("name"), name, path_segment);
}

fn subjects(errors: &mut ErrorList, scope: Scope, object: &Value) {
    for (index, one) in list(object, "subjects").iter().enumerate() {
        subject(errors, &Path::new("subjects").index(index), one, scope);
    }
}

fn names_of_subjects(errors: &mut ErrorList, object: &Value) {
    for (index, subject) in list(object, "subjects").iter().enumerate() {
        if text(subject, "name").is_empty() {
            errors.required(&Path::new("subjects").index(index).child("name"), "");
        }
    }
}

fn subject(errors: &mut ErrorList, at: &Path<'_>, subject: &Value, scope: Scope) {
    let (name, group) = (text(subject, "name"), text(subject, "apiGroup"));
    match text(subject, "kind") {
        "ServiceAccount" => {
            errors.optional_text(&at.child("name"), name, subdomain);
            if !group.is_empty() {
                errors.unsupported(&at.child("apiGroup"), &subject["apiGroup"], &[""]);
            }
            if scope == Scope::Cluster && text(subject, "namespace").is_empty() {
                errors.required(&at.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != RBAC {
                errors.unsupported(&at.child("apiGroup"), &subject["apiGroup"], &[RBAC]);
            }
        }
        other => {
            errors.unsupported(&at.child("kind"), &json!(other), &["ServiceAccount", "User", "Group"]);
        }
    }
}
