//! The default roles and bindings, from `rbac.txt`.

use gantry_json::{Value, json};

use super::DefaultObject;
use super::default_objects::object;

use crate::error::ApiError;

const TABLE: &str = include_str!("rbac.txt");
const VERSION: &str = "rbac.authorization.k8s.io/v1";
const GROUP: &str = "rbac.authorization.k8s.io";

/// All default roles and bindings.
pub(super) fn all() -> Result<Vec<DefaultObject>, ApiError> {
    parse(TABLE)
        .map_err(|line| ApiError::unclassified(format!("the table of roles has a malformed line: {line}")))
}

/// Parses the table; the error is the malformed line.
fn parse(table: &str) -> Result<Vec<DefaultObject>, String> {
    let mut found: Vec<(&str, Value)> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let wrong = || line.to_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["cluster-role", name, labels @ ..] => found.push(("ClusterRole", named(None, name, labels))),
            ["role", namespace, name] => found.push(("Role", named(Some(namespace), name, &[]))),
            ["bind", role, subjects @ ..] => {
                found.push((
                    "ClusterRoleBinding",
                    binding(named(None, role, &[]), "ClusterRole", role, subjects),
                ));
            }
            ["bind-in", namespace, name, role, subjects @ ..] => {
                let named = named(Some(namespace), name, &[]);
                found.push(("RoleBinding", binding(named, "Role", role, subjects)));
            }
            ["aggregate", label] => {
                let (_, role) = found.last_mut().ok_or_else(wrong)?;
                let selector = json!({"matchLabels": {(format!("{GROUP}/aggregate-to-{label}")): "true"}});
                role["aggregationRule"] = json!({"clusterRoleSelectors": [selector]});
            }
            _ => {
                let one = rule(&words).ok_or_else(wrong)?;
                let (_, role) = found.last_mut().ok_or_else(wrong)?;
                match &mut role["rules"] {
                    Value::Array(rules) => rules.push(one),
                    rules => *rules = json!([one]),
                }
            }
        }
    }
    Ok(found.into_iter().filter_map(|(kind, role)| object(VERSION, kind, role, &[])).collect())
}

fn named(namespace: Option<&str>, name: &str, labels: &[&str]) -> Value {
    let mut metadata = json!({
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    });
    for (label, value) in labels.iter().filter_map(|label| label.split_once('=')) {
        metadata["labels"][label] = json!(value);
    }
    if let Some(namespace) = namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({"metadata": metadata})
}

fn rule(words: &[&str]) -> Option<Value> {
    let list = |words: &str| -> Vec<String> {
        words.split(',').map(|word| if word == "-" { "" } else { word }.to_owned()).collect()
    };
    match words {
        ["allow", groups, resources, verbs] => {
            Some(json!({"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)}))
        }
        ["allow", groups, resources, verbs, names] => Some(json!({
            "apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs), "resourceNames": list(names),
        })),
        ["path", paths, verbs] => Some(json!({"nonResourceURLs": list(paths), "verbs": list(verbs)})),
        _ => None,
    }
}

fn binding(mut named: Value, role_kind: &str, role: &str, subjects: &[&str]) -> Value {
    named["roleRef"] = json!({"apiGroup": GROUP, "kind": role_kind, "name": role});
    let subjects: Vec<_> = subjects.iter().filter_map(|subject| subject_of(subject)).collect();
    if !subjects.is_empty() {
        named["subjects"] = json!(subjects);
    }
    named
}

fn subject_of(text: &str) -> Option<Value> {
    let (sort, name) = text.split_once(':')?;
    match sort {
        "user" => Some(json!({"apiGroup": GROUP, "kind": "User", "name": name})),
        "group" => Some(json!({"apiGroup": GROUP, "kind": "Group", "name": name})),
        "account" => {
            let (namespace, name) = name.split_once('/')?;
            Some(json!({"kind": "ServiceAccount", "name": name, "namespace": namespace}))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A6.1: every line of the table is valid, and every bound role has rules.
    #[test]
    fn the_table_of_roles_can_be_read() {
        let wanted = parse(TABLE).unwrap();
        let role = |kind: &str, namespace: &Value, name: &Value| {
            let is_meant = |one: &&DefaultObject| {
                let metadata = &one.object["metadata"];
                one.kind.kind == kind && metadata["namespace"] == *namespace && metadata["name"] == *name
            };
            wanted.iter().find(is_meant).map(|one| &one.object)
        };
        for binding in wanted.iter().filter(|one| one.kind.kind.ends_with("Binding")) {
            let reference = &binding.object["roleRef"];
            let namespace = &binding.object["metadata"]["namespace"];
            let role = role(reference["kind"].as_str().unwrap(), namespace, &reference["name"]).unwrap();
            assert!(!role["rules"][0].is_null(), "{reference} is bound and allows nothing");
        }
        assert_eq!(
            parse("cluster-role x\n  forbid everything").err().as_deref(),
            Some("  forbid everything")
        );
    }

    /// A7.9: the rules of admin, edit and view are written by a controller.
    #[test]
    fn aggregated_roles_have_no_rules_of_their_own() {
        let wanted = parse(TABLE).unwrap();
        let aggregated: Vec<_> =
            wanted.iter().filter(|one| !one.object["aggregationRule"].is_null()).collect();
        let names: Vec<_> = aggregated.iter().map(|one| &one.object["metadata"]["name"]).collect();
        assert_eq!(names, ["admin", "edit", "view"]);
        assert!(aggregated.iter().all(|one| one.object["rules"].is_null()));
    }
}
