//! Roles and bindings.

use serde_json::{Value, json};

use super::found::{Found, Path, list, text};
use super::names::{path_segment, subdomain};
use super::selector::terms;
use crate::kinds::{Kind, Scope};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A role or a binding. What must be there is looked for last, after everything else.
pub(super) fn rbac(found: &mut Found, kind: &Kind, object: &Value) {
    match kind.kind {
        "Role" | "ClusterRole" => {
            role(found, kind, object);
            verbs(found, object);
        }
        _ => {
            role_reference(found, kind.scope, object);
            subjects(found, kind.scope, object);
            names_of_subjects(found, object);
            if text(&object["roleRef"], "name").is_empty() {
                found.required(&Path::new("roleRef").child("name"), "");
            }
        }
    }
}

/// A changed role or binding: what a binding grants stays, who it is granted to may change.
pub(super) fn update(found: &mut Found, kind: &Kind, old: &Value, new: &Value) {
    if matches!(kind.kind, "Role" | "ClusterRole") {
        return rbac(found, kind, new);
    }
    let (before, after) = (&old["roleRef"], &new["roleRef"]);
    role_reference(found, kind.scope, new);
    if text(after, "name").is_empty() {
        found.required(&Path::new("roleRef").child("name"), "");
    }
    subjects(found, kind.scope, new);
    if before != after {
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            json!(text(after, "apiGroup")),
            json!(text(after, "kind")),
            json!(text(after, "name"))
        );
        found.invalid_shown(&Path::new("roleRef"), shown, "field is immutable");
    }
    names_of_subjects(found, new);
}

fn role(found: &mut Found, kind: &Kind, object: &Value) {
    for (index, one) in list(object, "rules").iter().enumerate() {
        rule(found, &Path::new("rules").index(index), one, kind.scope);
    }
    if object["aggregationRule"].is_null() {
        return;
    }
    let at = Path::new("aggregationRule");
    let (at, selectors) =
        (at.child("clusterRoleSelectors"), list(&object["aggregationRule"], "clusterRoleSelectors"));
    if selectors.is_empty() {
        found.required(&at, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    for (index, selector) in selectors.iter().enumerate() {
        let before = found.errors.len();
        terms(found, &at.index(index), selector);
        if found.errors.len() > before {
            found.invalid(&at.index(index), &Value::Null, "invalid label selector.");
        }
    }
}

fn verbs(found: &mut Found, object: &Value) {
    for (index, rule) in list(object, "rules").iter().enumerate() {
        if list(rule, "verbs").is_empty() {
            found.required(&Path::new("rules").index(index).child("verbs"), "");
        }
    }
}

fn rule(found: &mut Found, at: &Path<'_>, rule: &Value, scope: Scope) {
    let urls = list(rule, "nonResourceURLs");
    if !urls.is_empty() {
        if scope == Scope::Namespaced {
            let why = "namespaced rules cannot apply to non-resource URLs";
            found.invalid(&at.child("nonResourceURLs"), &rule["nonResourceURLs"], why);
        }
        if ["apiGroups", "resources", "resourceNames"].iter().any(|field| !list(rule, field).is_empty()) {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            found.invalid(&at.child("nonResourceURLs"), &rule["nonResourceURLs"], why);
        }
        return;
    }
    if list(rule, "apiGroups").is_empty() {
        found.required(&at.child("apiGroups"), "resource rules must supply at least one api group");
    }
    if list(rule, "resources").is_empty() {
        found.required(&at.child("resources"), "resource rules must supply at least one resource");
    }
}

fn role_reference(found: &mut Found, scope: Scope, object: &Value) {
    let (at, role) = (Path::new("roleRef"), &object["roleRef"]);
    if text(role, "apiGroup") != RBAC {
        found.unsupported(&at.child("apiGroup"), &role["apiGroup"], &[RBAC]);
    }
    let kinds: &[&str] = if scope == Scope::Namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&text(role, "kind")) {
        found.unsupported(&at.child("kind"), &json!(text(role, "kind")), kinds);
    }
    let name = text(role, "name");
    if !name.is_empty() {
        found.invalid_text(&at.child("name"), name, path_segment(name));
    }
}

fn subjects(found: &mut Found, scope: Scope, object: &Value) {
    for (index, one) in list(object, "subjects").iter().enumerate() {
        subject(found, &Path::new("subjects").index(index), one, scope);
    }
}

fn names_of_subjects(found: &mut Found, object: &Value) {
    for (index, subject) in list(object, "subjects").iter().enumerate() {
        if text(subject, "name").is_empty() {
            found.required(&Path::new("subjects").index(index).child("name"), "");
        }
    }
}

fn subject(found: &mut Found, at: &Path<'_>, subject: &Value, scope: Scope) {
    let (name, group) = (text(subject, "name"), text(subject, "apiGroup"));
    match text(subject, "kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                found.invalid_text(&at.child("name"), name, subdomain(name));
            }
            if !group.is_empty() {
                found.unsupported(&at.child("apiGroup"), &subject["apiGroup"], &[""]);
            }
            if scope == Scope::Cluster && text(subject, "namespace").is_empty() {
                found.required(&at.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != RBAC {
                found.unsupported(&at.child("apiGroup"), &subject["apiGroup"], &[RBAC]);
            }
        }
        other => {
            found.unsupported(&at.child("kind"), &json!(other), &["ServiceAccount", "User", "Group"]);
        }
    }
}
