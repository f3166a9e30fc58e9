//! Volumes as containers mount them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, text};

const PROPAGATIONS: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];

/// The mounts and devices of a container; `volumes` are those that are there.
pub(super) fn mounts(found: &mut Found, at: &Path<'_>, container: &Value, volumes: &BTreeSet<&str>) {
    let (mounts_at, devices_at) = (at.child("volumeMounts"), at.child("volumeDevices"));
    let (mounts, devices) = (list(container, "volumeMounts"), list(container, "volumeDevices"));
    let mut paths = BTreeSet::new();
    for (index, mount) in mounts.iter().enumerate() {
        let at = mounts_at.index(index);
        let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
        place(found, &at, ("name", name), ("mountPath", path), volumes, &mut paths);
        if devices.iter().any(|device| text(device, "name") == name) {
            found.invalid(&at.child("name"), &json!(name), "must not already exist in volumeDevices");
        }
        if devices.iter().any(|device| text(device, "devicePath") == path) {
            found.invalid(
                &at.child("mountPath"),
                &json!(path),
                "must not already exist as a path in volumeDevices",
            );
        }
        sub_path(found, &mounts_at, &at, mount);
        found.one_of_if_set(&at.child("mountPropagation"), &mount["mountPropagation"], &PROPAGATIONS);
    }
    let mut device_paths = BTreeSet::new();
    for (index, device) in devices.iter().enumerate() {
        let (name, path) = (text(device, "name"), text(device, "devicePath"));
        place(
            found,
            &devices_at.index(index),
            ("name", name),
            ("devicePath", path),
            volumes,
            &mut device_paths,
        );
    }
}

/// A path that stays below where it starts.
pub(super) fn no_way_up(found: &mut Found, at: &Path<'_>, path: &str) {
    if path.split('/').any(|part| part == "..") {
        found.invalid(at, &json!(path), "must not contain '..'");
    }
}

/// A relative path that stays below where it starts.
pub(super) fn way_down(found: &mut Found, at: &Path<'_>, path: &str) {
    if path.starts_with('/') {
        found.invalid(at, &json!(path), "must be a relative path");
    }
    no_way_up(found, at, path);
}

fn place<'a>(
    found: &mut Found,
    at: &Path<'_>,
    (name_field, name): (&str, &str),
    (path_field, path): (&str, &'a str),
    volumes: &BTreeSet<&str>,
    taken: &mut BTreeSet<&'a str>,
) {
    if name.is_empty() {
        found.required(&at.child(name_field), "");
    }
    if !volumes.contains(name) {
        found.not_found(&at.child(name_field), &json!(name));
    }
    if path.is_empty() {
        found.required(&at.child(path_field), "");
    }
    if !taken.insert(path) {
        found.invalid(&at.child(path_field), &json!(path), "must be unique");
    }
}

fn sub_path(found: &mut Found, list_at: &Path<'_>, at: &Path<'_>, mount: &Value) {
    let (plain, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
    // The place has no index, as in Kubernetes.
    way_down(found, &list_at.child("subPath"), plain);
    if is_set(mount, "subPathExpr") && !expression.is_empty() {
        if !plain.is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            found.invalid(&at.child("subPathExpr"), &json!(expression), why);
        }
        way_down(found, &list_at.child("subPathExpr"), expression);
    }
}
