//! Validates volumes of pods.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Value, json};

use super::downward::{self, Exposure};
use super::error_list::{ErrorList, Path, is_set, list, number, text};
use super::mount::{inside_volume, no_parent_segments};
use super::names::label;
use crate::strategies::storage::validation::{Holder, device};

/// All sources, in the order in which Kubernetes checks them.
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
const HOST_PATH_TYPES: [&str; 8] =
    ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

/// Valid volumes by name.
pub(crate) type Mountable<'a> = BTreeMap<&'a str, &'a Value>;

/// Validates the volumes of a pod and returns those that can be mounted.
pub(crate) fn volumes<'a>(errors: &mut ErrorList, at: &Path<'_>, volumes: &'a [Value]) -> Mountable<'a> {
    let mut names = Mountable::new();
    for (index, volume) in volumes.iter().enumerate() {
        let at = at.index(index);
        let before = errors.all.len();
        source(errors, &at, volume);
        let name = text(volume, "name");
        errors.required_text(&at.child("name"), name, label);
        if names.contains_key(name) {
            errors.duplicate(&at.child("name"), &json!(name));
        }
        if errors.all.len() == before {
            names.insert(name, volume);
        }
    }
    names
}

fn source(errors: &mut ErrorList, at: &Path<'_>, volume: &Value) {
    let mut sources = 0;
    for name in SOURCES.into_iter().filter(|name| is_set(volume, name)) {
        if sources > 0 {
            errors.forbidden(&at.child(name), "may not specify more than 1 volume type");
        } else {
            one_source(errors, &at.child(name), name, &volume[name]);
        }
        sources += 1;
    }
    if sources == 0 {
        errors.required(at, "must specify a volume type");
    }
}

fn one_source(errors: &mut ErrorList, at: &Path<'_>, name: &str, source: &Value) {
    match name {
        "emptyDir" if text(source, "sizeLimit").starts_with('-') => {
            errors.forbidden(&at.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
        }
        "hostPath" => host_path(errors, at, source),
        "secret" => {
            needed(errors, at, source, &["secretName"]);
            files(errors, at, source);
        }
        "configMap" => {
            needed(errors, at, source, &["name"]);
            files(errors, at, source);
        }
        "downwardAPI" => {
            mode(errors, at, source, "defaultMode");
            downward(errors, at, list(source, "items"));
        }
        "projected" => projected(errors, at, source),
        "persistentVolumeClaim" => needed(errors, at, source, &["claimName"]),
        "csi" => needed(errors, at, source, &["driver"]),
        "ephemeral" if !is_set(source, "volumeClaimTemplate") => {
            errors.required(&at.child("volumeClaimTemplate"), "");
        }
        _ => device(errors, at, name, source, Holder::Pod),
    }
}

/// Validates a path on the node.
pub(crate) fn host_path(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let path = text(source, "path");
    if path.is_empty() {
        return errors.required(&at.child("path"), "");
    }
    no_parent_segments(errors, &at.child("path"), path);
    errors.one_of_if_set(&at.child("type"), &source["type"], &HOST_PATH_TYPES);
}

fn projected(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    mode(errors, at, source, "defaultMode");
    let mut taken = BTreeSet::new();
    for (index, projection) in list(source, "sources").iter().enumerate() {
        let one = at.child("sources");
        let one = one.index(index);
        let mut sources = 0;
        for name in ["secret", "configMap"].into_iter().filter(|name| is_set(projection, name)) {
            sources += 1;
            needed(errors, &one.child(name), &projection[name], &["name"]);
            items(errors, &one.child(name), &projection[name]);
            let shown = Some(text(&projection[name], "name"));
            free_paths(errors, at, list(&projection[name], "items"), shown, &mut taken);
        }
        if is_set(projection, "downwardAPI") {
            sources += 1;
            let files = list(&projection["downwardAPI"], "items");
            downward(errors, &one.child("downwardAPI"), files);
            free_paths(errors, at, files, None, &mut taken);
        }
        if is_set(projection, "serviceAccountToken") {
            sources += 1;
            let account = &projection["serviceAccountToken"];
            lifetime(errors, &one.child("serviceAccountToken").child("expirationSeconds"), account);
            // The path names the volume, as in Kubernetes.
            place(errors, at, account);
        }
        if sources > 1 {
            errors.forbidden(&one, "may not specify more than 1 volume type per source");
        }
    }
}

/// Reports a duplicate path; `shown` is the value in the error.
fn free_paths<'a>(
    errors: &mut ErrorList,
    at: &Path<'_>,
    files: &'a [Value],
    shown: Option<&str>,
    taken: &mut BTreeSet<&'a str>,
) {
    for path in files.iter().map(|file| text(file, "path")).filter(|path| !path.is_empty()) {
        if !taken.insert(path) {
            errors.invalid(at, &json!(shown.unwrap_or(path)), "conflicting duplicate paths");
        }
    }
}

fn lifetime(errors: &mut ErrorList, at: &Path<'_>, token: &Value) {
    match number(token, "expirationSeconds") {
        None => errors.required(at, ""),
        Some(seconds) if seconds < 600 => {
            errors.invalid(at, &json!(seconds), "may not specify a duration less than 10 minutes");
        }
        Some(seconds) if seconds > 1 << 32 => {
            errors.invalid(at, &json!(seconds), "may not specify a duration larger than 2^32 seconds");
        }
        Some(_) => {}
    }
}

fn files(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    mode(errors, at, source, "defaultMode");
    items(errors, at, source);
}

fn items(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    for (index, item) in list(source, "items").iter().enumerate() {
        let at = at.child("items");
        let at = at.index(index);
        needed(errors, &at, item, &["key"]);
        target(errors, &at, item);
    }
}

/// Validates files of the downward API. The path of errors names the list, as in Kubernetes.
fn downward(errors: &mut ErrorList, at: &Path<'_>, files: &[Value]) {
    for file in files {
        place(errors, at, file);
        let (field, resource) = (&file["fieldRef"], &file["resourceFieldRef"]);
        match (field.is_null(), resource.is_null()) {
            (false, is_alone) => {
                downward::field(errors, &at.child("fieldRef"), field, Exposure::InFile);
                if !is_alone {
                    let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
                    errors.invalid(at, &json!("resource"), why);
                }
            }
            (true, false) => {
                downward::resource(errors, &at.child("resourceFieldRef"), resource, Exposure::InFile);
            }
            (true, true) => errors.required(at, "one of fieldRef and resourceFieldRef is required"),
        }
        mode(errors, at, file, "mode");
    }
}

fn target(errors: &mut ErrorList, at: &Path<'_>, item: &Value) {
    place(errors, at, item);
    mode(errors, at, item, "mode");
}

/// Validates the path of a file in a volume.
fn place(errors: &mut ErrorList, at: &Path<'_>, item: &Value) {
    needed(errors, at, item, &["path"]);
    inside_volume(errors, &at.child("path"), text(item, "path"));
}

fn mode(errors: &mut ErrorList, at: &Path<'_>, source: &Value, field: &str) {
    if number(source, field).is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        let why = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.invalid(&at.child(field), &source[field], why);
    }
}

fn needed(errors: &mut ErrorList, at: &Path<'_>, source: &Value, fields: &[&str]) {
    for field in fields {
        if text(source, field).is_empty() {
            errors.required(&at.child(field), "");
        }
    }
}
