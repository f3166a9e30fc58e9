//! Validates environment variables and their sources.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::downward::{self, Exposure};
use super::error_list::{ErrorList, Path, is_set, list, text};
use super::mount::inside_volume;
use super::names::{config_key, label, subdomain, variable_name};

const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/// Validates the variables of a container.
pub(crate) fn variables(errors: &mut ErrorList, at: &Path<'_>, variables: &[Value]) {
    for (index, variable) in variables.iter().enumerate() {
        let at = at.index(index);
        let name = text(variable, "name");
        errors.required_text(&at.child("name"), name, variable_name);
        if is_set(variable, "valueFrom") {
            source(errors, &at.child("valueFrom"), variable);
        }
    }
}

/// Validates `envFrom`.
pub(crate) fn sources(errors: &mut ErrorList, at: &Path<'_>, sources: &[Value]) {
    for (index, source) in sources.iter().enumerate() {
        let one = at.index(index);
        let prefix = text(source, "prefix");
        errors.invalid_text(&one.child("prefix"), prefix, variable_name(prefix));
        let mut named = 0;
        for field in ["configMapRef", "secretRef"] {
            if is_set(source, field) {
                named += 1;
                let (at, name) = (one.child(field), text(&source[field], "name"));
                errors.required_text(&at.child("name"), name, subdomain);
            }
        }
        // The path names the list, as in Kubernetes.
        match named {
            0 => errors.invalid(at, &Value::from(""), "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => errors.invalid(at, &Value::from(""), "may not have more than one field specified at a time"),
        }
    }
}

fn source(errors: &mut ErrorList, at: &Path<'_>, variable: &Value) {
    let from = &variable["valueFrom"];
    let named = SOURCES.iter().filter(|source| is_set(from, source)).count();
    if is_set(from, "fieldRef") {
        downward::field(errors, &at.child("fieldRef"), &from["fieldRef"], Exposure::InVariable);
    }
    if is_set(from, "resourceFieldRef") {
        let (at, field) = (at.child("resourceFieldRef"), &from["resourceFieldRef"]);
        downward::resource(errors, &at, field, Exposure::InVariable);
    }
    for source in ["configMapKeyRef", "secretKeyRef"] {
        if is_set(from, source) {
            let (name, key) = (text(&from[source], "name"), text(&from[source], "key"));
            errors.invalid_text(&at.child(source).child("name"), name, subdomain(name));
            errors.required_text(&at.child(source).child("key"), key, config_key);
        }
    }
    if is_set(from, "fileKeyRef") {
        file_key(errors, &at.child("fileKeyRef"), &from["fileKeyRef"]);
    }
    let why = match named {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        _ if !text(variable, "value").is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.invalid(at, &Value::from(""), why);
}

/// Validates a reference to a variable in a file of a volume.
fn file_key(errors: &mut ErrorList, at: &Path<'_>, file: &Value) {
    let (key, volume, path) = (text(file, "key"), text(file, "volumeName"), text(file, "path"));
    errors.required_text(&at.child("key"), key, variable_name);
    errors.required_text(&at.child("volumeName"), volume, label);
    if path.is_empty() {
        errors.required(&at.child("path"), "");
    } else {
        inside_volume(errors, &at.child("path"), path);
    }
}

/// Validates that the volumes of such files exist.
pub(crate) fn files(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let volumes: BTreeSet<_> = list(spec, "volumes").iter().map(|volume| text(volume, "name")).collect();
    for field in ["containers", "initContainers"] {
        for (index, container) in list(spec, field).iter().enumerate() {
            let at = at.child(field);
            let at = at.index(index);
            for (variable, file) in
                list(container, "env").iter().map(|one| &one["valueFrom"]["fileKeyRef"]).enumerate()
            {
                let name = text(file, "volumeName");
                if !file.is_null() && !volumes.contains(name) {
                    let at = at.child("env");
                    let at = at.index(variable);
                    let at = at.child("valueFrom");
                    errors.not_found(&at.child("fileKeyRef").child("volumeName"), &json!(name));
                }
            }
        }
    }
}

/// Warns about variables that hide others of the same name.
pub(crate) fn hidden(warnings: &mut Vec<String>, at: &Path<'_>, container: &Value) {
    let mut seen = BTreeSet::new();
    for (index, variable) in list(container, "env").iter().enumerate() {
        let name = text(variable, "name");
        if !seen.insert(name) {
            let at = at.child("env");
            warnings.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                at.index(index)
            ));
        }
    }
}
