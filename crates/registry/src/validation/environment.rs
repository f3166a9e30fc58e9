//! Environment variables, and where their values come from.

use serde_json::Value;

use super::found::{Found, Path, is_set, list, text};
use super::names::{config_key, qualified_name, variable_name};

/// Fields of a pod that a variable can show.
const SHOWN: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/// The variables of a container.
pub(super) fn variables(found: &mut Found, at: &Path<'_>, variables: &[Value]) {
    for (index, variable) in variables.iter().enumerate() {
        let at = at.index(index);
        let name = text(variable, "name");
        if name.is_empty() {
            found.required(&at.child("name"), "");
        } else {
            found.invalid_text(&at.child("name"), name, variable_name(name));
        }
        if is_set(variable, "valueFrom") {
            source(found, &at.child("valueFrom"), variable);
        }
    }
}

/// Whole maps that become variables.
pub(super) fn sources(found: &mut Found, at: &Path<'_>, sources: &[Value]) {
    for (index, source) in sources.iter().enumerate() {
        let one = at.index(index);
        let prefix = text(source, "prefix");
        found.invalid_text(&one.child("prefix"), prefix, variable_name(prefix));
        let mut named = 0;
        for field in ["configMapRef", "secretRef"] {
            if is_set(source, field) {
                named += 1;
                if text(&source[field], "name").is_empty() {
                    found.required(&one.child(field).child("name"), "");
                }
            }
        }
        // The place is that of the whole list, as in Kubernetes.
        match named {
            0 => found.invalid(at, &Value::from(""), "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => found.invalid(at, &Value::from(""), "may not have more than one field specified at a time"),
        }
    }
}

fn source(found: &mut Found, at: &Path<'_>, variable: &Value) {
    let from = &variable["valueFrom"];
    let named = SOURCES.iter().filter(|source| is_set(from, source)).count();
    if is_set(from, "fieldRef") {
        field(found, &at.child("fieldRef"), &from["fieldRef"]);
    }
    if is_set(from, "resourceFieldRef") && text(&from["resourceFieldRef"], "resource").is_empty() {
        found.required(&at.child("resourceFieldRef").child("resource"), "");
    }
    for source in ["configMapKeyRef", "secretKeyRef"] {
        if is_set(from, source) {
            let key = text(&from[source], "key");
            if key.is_empty() {
                found.required(&at.child(source).child("key"), "");
            } else {
                found.invalid_text(&at.child(source).child("key"), key, config_key(key));
            }
        }
    }
    let why = match named {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        _ if !text(variable, "value").is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    found.invalid(at, &Value::from(""), why);
}

fn field(found: &mut Found, at: &Path<'_>, field: &Value) {
    let path = text(field, "fieldPath");
    if text(field, "apiVersion").is_empty() {
        return found.required(&at.child("apiVersion"), "");
    }
    if path.is_empty() {
        return found.required(&at.child("fieldPath"), "");
    }
    if let Some((map, key)) = subscript(path) {
        let wrong = if map == "metadata.annotations" {
            qualified_name(&key.to_lowercase())
        } else {
            qualified_name(key)
        };
        return found.invalid_text(at, key, wrong);
    }
    let known = ["metadata.labels", "metadata.annotations"];
    if SHOWN.contains(&path) {
        return;
    }
    if known.contains(&path) {
        return found.unsupported(&at.child("fieldPath"), &field["fieldPath"], &SHOWN);
    }
    let why = format!("error converting fieldPath: field label not supported: {path}");
    found.invalid(&at.child("fieldPath"), &field["fieldPath"], why);
}

/// `metadata.labels['app']` is the label `app`.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let (map, rest) = path.split_once("['")?;
    let key = rest.strip_suffix("']")?;
    matches!(map, "metadata.labels" | "metadata.annotations").then_some((map, key))
}

/// Warnings about variables that hide others of the same name.
pub(super) fn hidden(warnings: &mut Vec<String>, at: &Path<'_>, container: &Value) {
    let variables = list(container, "env");
    for (index, variable) in variables.iter().enumerate() {
        let name = text(variable, "name");
        if variables[..index].iter().any(|earlier| text(earlier, "name") == name) {
            let at = at.child("env");
            warnings.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                at.index(index)
            ));
        }
    }
}
