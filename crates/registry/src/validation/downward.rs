//! Validates the downward API: fields of a pod and resources of containers as variables and files.

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, text};
use super::names::qualified_name;

/// How a value is exposed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exposure {
    /// As an environment variable.
    InVariable,
    /// As a file in a volume.
    InFile,
}

/// Fields that a variable can expose.
const IN_VARIABLE: [&str; 9] = [
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
/// Fields that a file can expose.
const IN_FILE: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
/// Further valid field labels, which neither can expose.
const KNOWN: [&str; 4] = ["spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const BYTE_UNITS: [&str; 13] =
    ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Validates a reference to a field of the pod.
pub(crate) fn field(errors: &mut ErrorList, at: &Path<'_>, field: &Value, shown: Exposure) {
    let (version, path) = (text(field, "apiVersion"), text(field, "fieldPath"));
    if version.is_empty() {
        return errors.required(&at.child("apiVersion"), "");
    }
    if path.is_empty() {
        return errors.required(&at.child("fieldPath"), "");
    }
    if let Some(why) = unknown(version, path) {
        let why = format!("error converting fieldPath: {why}");
        return errors.invalid(&at.child("fieldPath"), &json!(path), why);
    }
    if let Some((map, key)) = subscript(path) {
        let key = if map == "metadata.annotations" { key.to_lowercase() } else { key.to_owned() };
        return errors.invalid_text(at, &key, qualified_name(&key));
    }
    let supported: &[&str] = match shown {
        Exposure::InVariable => &IN_VARIABLE,
        Exposure::InFile => &IN_FILE,
    };
    let path = if path == "spec.host" { "spec.nodeName" } else { path };
    if !supported.contains(&path) {
        errors.unsupported(&at.child("fieldPath"), &json!(path), supported);
    }
}

/// Validates a reference to a resource of a container; a file must name the container.
pub(crate) fn resource(errors: &mut ErrorList, at: &Path<'_>, field: &Value, shown: Exposure) {
    let name = text(field, "resource");
    if shown == Exposure::InFile && text(field, "containerName").is_empty() {
        errors.required(&at.child("containerName"), "");
    } else if name.is_empty() {
        errors.required(&at.child("resource"), "");
    } else if !RESOURCES.contains(&name) && !is_huge_pages(name) {
        errors.unsupported(&at.child("resource"), &json!(name), &RESOURCES);
    }
    divisor(errors, &at.child("divisor"), name, text(field, "divisor"));
}

fn divisor(errors: &mut ErrorList, at: &Path<'_>, name: &str, divisor: &str) {
    if matches!(divisor, "" | "0") {
        return;
    }
    let bytes = |of: &str| {
        format!("only divisor's values {} are supported with the {of} resource", BYTE_UNITS.join(", "))
    };
    let (units, why): (&[&str], _) = match name {
        "limits.cpu" | "requests.cpu" => {
            (&["1m", "1"], "only divisor's values 1m and 1 are supported with the cpu resource".to_owned())
        }
        "limits.memory" | "requests.memory" => (&BYTE_UNITS, bytes("memory")),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (&BYTE_UNITS, bytes("local ephemeral storage"))
        }
        _ if is_huge_pages(name) => (&BYTE_UNITS, bytes("hugepages")),
        _ => return,
    };
    if !units.contains(&divisor) {
        errors.invalid(at, &json!(name), why);
    }
}

fn is_huge_pages(name: &str) -> bool {
    name.starts_with("requests.hugepages-") || name.starts_with("limits.hugepages-")
}

/// Returns the error for an unknown field label.
fn unknown(version: &str, path: &str) -> Option<String> {
    if version != "v1" {
        return Some(format!("unsupported pod version: {version}"));
    }
    match subscript(path) {
        Some(("metadata.labels" | "metadata.annotations", _)) => None,
        Some(_) => Some(format!("field label does not support subscript: {path}")),
        None => {
            let known = IN_VARIABLE.iter().chain(&IN_FILE).chain(&KNOWN).any(|known| *known == path);
            (!known).then(|| format!("field label not supported: {path}"))
        }
    }
}

/// Splits `metadata.labels['app']` into `metadata.labels` and `app`.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let (map, key) = path.strip_suffix("']")?.split_once("['")?;
    (!map.is_empty()).then_some((map, key))
}
