//! Defaults of volumes, claims and persistent volumes.

use gantry_json::{Value, json};

use super::container::value_source;
use super::image::pull_policy;
use super::setting::{Object, child, default, default_text, each, ensure, text};

/// The default mode of files: 0644.
const FILE_MODE: i64 = 0o644;

/// Sets the defaults of a volume of a pod.
pub(crate) fn volume(volume: &mut Object) {
    let has_source = volume.iter().any(|(field, source)| field != "name" && !source.is_null());
    if !has_source {
        default(volume, "emptyDir", json!({}));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(files) = child(volume, source) {
            default(files, "defaultMode", FILE_MODE);
        }
    }
    if let Some(host) = child(volume, "hostPath") {
        default(host, "type", "");
    }
    if let Some(downward) = child(volume, "downwardAPI") {
        downward_files(downward);
    }
    if let Some(projected) = child(volume, "projected") {
        each(projected, "sources").for_each(projection);
    }
    if let Some(image) = child(volume, "image") {
        let policy = pull_policy(text(image, "reference"));
        default_text(image, "pullPolicy", policy);
    }
    if let Some(template) = child(volume, "ephemeral").and_then(|e| child(e, "volumeClaimTemplate")) {
        claim_spec(template);
    }
    devices(volume);
}

/// Sets the defaults of a claim, which may be in a StatefulSet.
pub(crate) fn claim(claim: &mut Object) {
    claim_spec(claim);
    if let Some(status) = ensure(claim, "status") {
        default_text(status, "phase", "Pending");
    }
}

/// Sets the defaults of a persistent volume.
pub(crate) fn persistent_volume(volume: &mut Object) {
    if let Some(spec) = child(volume, "spec") {
        default_text(spec, "persistentVolumeReclaimPolicy", "Retain");
        default(spec, "volumeMode", "Filesystem");
        if let Some(host) = child(spec, "hostPath") {
            default(host, "type", "");
        }
        devices(spec);
    }
    if let Some(status) = ensure(volume, "status") {
        default_text(status, "phase", "Pending");
    }
}

fn claim_spec(claim: &mut Object) {
    if let Some(spec) = ensure(claim, "spec") {
        default(spec, "volumeMode", "Filesystem");
    }
}

fn downward_files(source: &mut Object) {
    each(source, "items").for_each(value_source);
}

fn projection(source: &mut Object) {
    if let Some(token) = child(source, "serviceAccountToken") {
        default(token, "expirationSeconds", 3600);
    }
    if let Some(downward) = child(source, "downwardAPI") {
        downward_files(downward);
    }
}

/// Sets the defaults of volume sources that have a field per storage system.
fn devices(volume: &mut Object) {
    const FIELDS: &[(&str, &[(&str, &str)])] = &[
        ("iscsi", &[("iscsiInterface", "default")]),
        ("rbd", &[("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")]),
        ("azureDisk", &[("cachingMode", "ReadWrite"), ("kind", "Shared"), ("fsType", "ext4")]),
        ("scaleIO", &[("storageMode", "ThinProvisioned"), ("fsType", "xfs")]),
    ];
    for (source, fields) in FIELDS {
        if let Some(found) = child(volume, source) {
            for (field, value) in *fields {
                default_text(found, field, value);
            }
        }
    }
    if let Some(disk) = child(volume, "azureDisk") {
        default(disk, "readOnly", Value::Bool(false));
    }
}
