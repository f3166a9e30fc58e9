//! Volumes: exactly one source each.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, number, text};
use super::mount::{no_way_up, way_down};
use super::names::label;

/// Every source, in the order in which Kubernetes looks at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "persistentVolumeClaim",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];
const HOST_PATH_TYPES: [&str; 7] =
    ["BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

/// The volumes of a pod; gives the names of those that can be mounted.
pub(super) fn volumes<'a>(found: &mut Found, at: &Path<'_>, volumes: &'a [Value]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (index, volume) in volumes.iter().enumerate() {
        let at = at.index(index);
        let before = found.errors.len();
        source(found, &at, volume);
        let name = text(volume, "name");
        if name.is_empty() {
            found.required(&at.child("name"), "");
        } else {
            found.invalid_text(&at.child("name"), name, label(name));
        }
        if names.contains(name) {
            found.duplicate(&at.child("name"), &json!(name));
        }
        if found.errors.len() == before {
            names.insert(name);
        }
    }
    names
}

fn source(found: &mut Found, at: &Path<'_>, volume: &Value) {
    let mut sources = 0;
    for name in SOURCES.into_iter().filter(|name| is_set(volume, name)) {
        if sources > 0 {
            found.forbidden(&at.child(name), "may not specify more than 1 volume type");
        } else {
            one_source(found, &at.child(name), name, &volume[name]);
        }
        sources += 1;
    }
    if sources == 0 {
        found.required(at, "must specify a volume type");
    }
}

fn one_source(found: &mut Found, at: &Path<'_>, name: &str, source: &Value) {
    match name {
        "hostPath" => host_path(found, at, source),
        "secret" => {
            needed(found, at, source, &["secretName"]);
            files(found, at, source);
        }
        "configMap" => {
            needed(found, at, source, &["name"]);
            files(found, at, source);
        }
        "downwardAPI" => {
            mode(found, at, source, "defaultMode");
            downward(found, &at.child("items"), list(source, "items"));
        }
        "projected" => projected(found, at, source),
        "persistentVolumeClaim" => needed(found, at, source, &["claimName"]),
        "nfs" => {
            needed(found, at, source, &["server", "path"]);
            let path = text(source, "path");
            if !path.is_empty() && !path.starts_with('/') {
                found.invalid(&at.child("path"), &json!(path), "must be an absolute path");
            }
        }
        "csi" => needed(found, at, source, &["driver"]),
        _ => {}
    }
}

fn host_path(found: &mut Found, at: &Path<'_>, source: &Value) {
    let path = text(source, "path");
    if path.is_empty() {
        return found.required(&at.child("path"), "");
    }
    no_way_up(found, &at.child("path"), path);
    found.one_of_if_set(&at.child("type"), &source["type"], &HOST_PATH_TYPES);
}

fn projected(found: &mut Found, at: &Path<'_>, source: &Value) {
    mode(found, at, source, "defaultMode");
    for (index, projection) in list(source, "sources").iter().enumerate() {
        let at = at.child("sources");
        let at = at.index(index);
        for name in ["secret", "configMap"] {
            if is_set(projection, name) {
                needed(found, &at.child(name), &projection[name], &["name"]);
                items(found, &at.child(name), &projection[name]);
            }
        }
        if is_set(projection, "downwardAPI") {
            let at = at.child("downwardAPI");
            downward(found, &at.child("items"), list(&projection["downwardAPI"], "items"));
        }
        if is_set(projection, "serviceAccountToken") {
            needed(found, &at.child("serviceAccountToken"), &projection["serviceAccountToken"], &["path"]);
        }
    }
}

fn files(found: &mut Found, at: &Path<'_>, source: &Value) {
    mode(found, at, source, "defaultMode");
    items(found, at, source);
}

fn items(found: &mut Found, at: &Path<'_>, source: &Value) {
    for (index, item) in list(source, "items").iter().enumerate() {
        let at = at.child("items");
        let at = at.index(index);
        needed(found, &at, item, &["key"]);
        target(found, &at, item);
    }
}

fn downward(found: &mut Found, at: &Path<'_>, items: &[Value]) {
    for (index, item) in items.iter().enumerate() {
        let at = at.index(index);
        target(found, &at, item);
        if !is_set(item, "fieldRef") && !is_set(item, "resourceFieldRef") {
            found.required(&at, "one of fieldRef and resourceFieldRef is required");
        }
    }
}

fn target(found: &mut Found, at: &Path<'_>, item: &Value) {
    needed(found, at, item, &["path"]);
    let path = text(item, "path");
    way_down(found, &at.child("path"), path);
    if path.starts_with("..") && !path.starts_with("../") && path != ".." {
        found.invalid(&at.child("path"), &json!(path), "must not start with '..'");
    }
    mode(found, at, item, "mode");
}

fn mode(found: &mut Found, at: &Path<'_>, source: &Value, field: &str) {
    if number(source, field).is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        let why = "must be a number between 0 and 0777 (octal), both inclusive";
        found.invalid(&at.child(field), &source[field], why);
    }
}

fn needed(found: &mut Found, at: &Path<'_>, source: &Value, fields: &[&str]) {
    for field in fields {
        if text(source, field).is_empty() {
            found.required(&at.child(field), "");
        }
    }
}
