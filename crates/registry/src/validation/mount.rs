//! Validates volume mounts and devices of containers.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, text};
use super::volume::Mountable;

const READ_ONLY: [&str; 3] = ["Disabled", "Enabled", "IfPossible"];
const PROPAGATIONS: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];

/// Validates the mounts and devices of a container; `volumes` are those of the pod.
pub(crate) fn mounts(errors: &mut ErrorList, at: &Path<'_>, container: &Value, volumes: &Mountable<'_>) {
    let (mounts_at, devices_at) = (at.child("volumeMounts"), at.child("volumeDevices"));
    let (mounts, devices) = (list(container, "volumeMounts"), list(container, "volumeDevices"));
    let device_names: BTreeSet<_> = devices.iter().map(|device| text(device, "name")).collect();
    let device_paths: BTreeSet<_> = devices.iter().map(|device| text(device, "devicePath")).collect();
    let mut paths = BTreeSet::new();
    for (index, mount) in mounts.iter().enumerate() {
        let at = mounts_at.index(index);
        let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
        place(errors, &at, (name, path), volumes, &mut paths);
        if device_names.contains(name) {
            errors.invalid(&at.child("name"), &json!(name), "must not already exist in volumeDevices");
        }
        if device_paths.contains(path) {
            errors.invalid(
                &at.child("mountPath"),
                &json!(path),
                "must not already exist as a path in volumeDevices",
            );
        }
        sub_path(errors, &mounts_at, &at, mount);
        // The path has no index, as in Kubernetes.
        propagation(errors, &mounts_at, mount, container);
    }
    let mount_names: BTreeSet<_> = mounts.iter().map(|mount| text(mount, "name")).collect();
    let mount_paths: BTreeSet<_> = mounts.iter().map(|mount| text(mount, "mountPath")).collect();
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in devices.iter().enumerate() {
        one_device(errors, &devices_at.index(index), device, volumes, (&mut names, &mut paths));
        overlap(errors, &devices_at.index(index), device, (&mount_names, &mount_paths));
    }
}

/// Validates a path without `..`.
pub(crate) fn no_parent_segments(errors: &mut ErrorList, at: &Path<'_>, path: &str) {
    if path.split('/').any(|part| part == "..") {
        errors.invalid(at, &json!(path), "must not contain '..'");
    }
}

/// Validates a relative path without `..`.
pub(crate) fn relative_path(errors: &mut ErrorList, at: &Path<'_>, path: &str) {
    if path.starts_with('/') {
        errors.invalid(at, &json!(path), "must be a relative path");
    }
    no_parent_segments(errors, at, path);
}

/// Validates the path of a file in a volume; names that start with two dots are reserved for the kubelet.
pub(crate) fn inside_volume(errors: &mut ErrorList, at: &Path<'_>, path: &str) {
    relative_path(errors, at, path);
    if path.starts_with("..") && !path.starts_with("../") && path != ".." {
        errors.invalid(at, &json!(path), "must not start with '..'");
    }
}

fn place<'a>(
    errors: &mut ErrorList,
    at: &Path<'_>,
    (name, path): (&str, &'a str),
    volumes: &Mountable<'_>,
    taken: &mut BTreeSet<&'a str>,
) {
    if name.is_empty() {
        errors.required(&at.child("name"), "");
    }
    if !volumes.contains_key(name) {
        errors.not_found(&at.child("name"), &json!(name));
    }
    if path.is_empty() {
        errors.required(&at.child("mountPath"), "");
    }
    if !taken.insert(path) {
        errors.invalid(&at.child("mountPath"), &json!(path), "must be unique");
    }
}

/// Validates the devices of a container: each is a claim with a unique name and path.
fn one_device<'a>(
    errors: &mut ErrorList,
    at: &Path<'_>,
    device: &'a Value,
    volumes: &Mountable<'_>,
    (names, paths): (&mut BTreeSet<&'a str>, &mut BTreeSet<&'a str>),
) {
    let (name, path) = (text(device, "name"), text(device, "devicePath"));
    let (name_at, path_at) = (at.child("name"), at.child("devicePath"));
    if name.is_empty() {
        errors.required(&name_at, "");
    } else if !names.insert(name) {
        errors.invalid(&name_at, &json!(name), "must be unique");
    }
    match volumes.get(name) {
        Some(volume) if is_set(volume, "persistentVolumeClaim") || is_set(volume, "ephemeral") => {}
        Some(_) => {
            let why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
            errors.invalid(&name_at, &json!(name), why);
        }
        None => errors.not_found(&name_at, &json!(name)),
    }
    if path.is_empty() {
        errors.required(&path_at, "");
    }
    if path.split('/').any(|part| part == "..") {
        errors.invalid(&path_at, &json!(path), "can not contain backsteps ('..')");
    } else if !paths.insert(path) {
        errors.invalid(&path_at, &json!(path), "must be unique");
    }
}

fn overlap(
    errors: &mut ErrorList,
    at: &Path<'_>,
    device: &Value,
    (mount_names, mount_paths): (&BTreeSet<&str>, &BTreeSet<&str>),
) {
    let (name, path) = (text(device, "name"), text(device, "devicePath"));
    if mount_names.contains(name) {
        errors.invalid(&at.child("name"), &json!(name), "must not already exist in volumeMounts");
    }
    if mount_paths.contains(path) {
        let why = "must not already exist as a path in volumeMounts";
        errors.invalid(&at.child("devicePath"), &json!(path), why);
    }
}

/// Validates mount propagation and recursive read-only mounts.
fn propagation(errors: &mut ErrorList, at: &Path<'_>, mount: &Value, container: &Value) {
    let (mode_at, mode) = (at.child("mountPropagation"), text(mount, "mountPropagation"));
    errors.one_of_if_set(&mode_at, &mount["mountPropagation"], &PROPAGATIONS);
    if mode == "Bidirectional" && container["securityContext"]["privileged"].as_bool() != Some(true) {
        let why = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(&mode_at, why);
    }
    let at = at.child("recursiveReadOnly");
    match text(mount, "recursiveReadOnly") {
        "" | "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if mount["readOnly"].as_bool() != Some(true) {
                errors.forbidden(&at, "may only be specified when readOnly is true");
            }
            if !matches!(mode, "" | "None") {
                errors.forbidden(&at, "may only be specified when mountPropagation is None or not specified");
            }
        }
        _ => errors.unsupported(&at, &mount["recursiveReadOnly"], &READ_ONLY),
    }
}

fn sub_path(errors: &mut ErrorList, list_at: &Path<'_>, at: &Path<'_>, mount: &Value) {
    let (plain, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
    // The path has no index, as in Kubernetes.
    relative_path(errors, &list_at.child("subPath"), plain);
    if is_set(mount, "subPathExpr") && !expression.is_empty() {
        if !plain.is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            errors.invalid(&at.child("subPathExpr"), &json!(expression), why);
        }
        relative_path(errors, &list_at.child("subPathExpr"), expression);
    }
}
