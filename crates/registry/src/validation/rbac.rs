//! Roles and bindings.

use serde_json::{Value, json};

use super::found::{Found, Path, list, text};
use super::names::{path_segment, subdomain};
use crate::kinds::{Kind, Scope};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A role or a binding.
pub(super) fn rbac(found: &mut Found, kind: &Kind, object: &Value) {
    match kind.kind {
        "Role" | "ClusterRole" => {
            for (index, one) in list(object, "rules").iter().enumerate() {
                rule(found, &Path::new("rules").index(index), one, kind.scope);
            }
        }
        _ => binding(found, kind.scope, object),
    }
}

/// What a binding grants stays; who it is granted to may change.
pub(super) fn binding_changes(found: &mut Found, old: &Value, new: &Value) {
    let (old, new) = (&old["roleRef"], &new["roleRef"]);
    if old != new {
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            json!(text(new, "apiGroup")),
            json!(text(new, "kind")),
            json!(text(new, "name"))
        );
        found.invalid_shown(&Path::new("roleRef"), shown, "field is immutable");
    }
}

fn rule(found: &mut Found, at: &Path<'_>, rule: &Value, scope: Scope) {
    if list(rule, "verbs").is_empty() {
        found.required(&at.child("verbs"), "");
    }
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

fn binding(found: &mut Found, scope: Scope, object: &Value) {
    let (at, role) = (Path::new("roleRef"), &object["roleRef"]);
    if text(role, "apiGroup") != RBAC {
        found.unsupported(&at.child("apiGroup"), &role["apiGroup"], &[RBAC]);
    }
    let kinds: &[&str] = if scope == Scope::Namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&text(role, "kind")) {
        found.unsupported(&at.child("kind"), &json!(text(role, "kind")), kinds);
    }
    let name = text(role, "name");
    if name.is_empty() {
        found.required(&at.child("name"), "");
    } else {
        found.invalid_text(&at.child("name"), name, path_segment(name));
    }
    for (index, one) in list(object, "subjects").iter().enumerate() {
        subject(found, &Path::new("subjects").index(index), one, scope);
    }
}

fn subject(found: &mut Found, at: &Path<'_>, subject: &Value, scope: Scope) {
    let (name, group) = (text(subject, "name"), text(subject, "apiGroup"));
    if name.is_empty() {
        found.required(&at.child("name"), "");
    }
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
