//! Validates PersistentVolumes.

use gantry_json::{Map, Value, json};

use super::sources::{Holder, device};
use super::{CLASS_ANNOTATION, VOLUME_MODES, access_modes};
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use crate::validation::names::subdomain;
use crate::validation::pod_warnings::node_terms;
use crate::validation::resource_names::parse;
use crate::validation::scheduling::node_selector;
use crate::validation::unified_diff::{on_one_line, unified_diff};
use crate::validation::volume::host_path;
use crate::validation::{mount, semantically_equal};

const MOUNT_ANNOTATION: &str = "volume.beta.kubernetes.io/mount-options";
const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];
/// All sources, in the order in which they are checked.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];
/// Sources that cannot be mounted with options.
const WITHOUT_OPTIONS: [&str; 9] =
    ["hostPath", "flocker", "fc", "flexVolume", "portworxVolume", "scaleIO", "local", "storageos", "csi"];
/// Removed sources, with the version that deprecated them and the first one without them.
const REMOVED: [(&str, &str, &str, &str); 6] = [
    ("cephfs", "cephfs", "v1.28", "v1.31"),
    ("photonPersistentDisk", "photonPersistentDisk", "v1.11", "v1.16"),
    ("scaleIO", "scaleIO", "v1.16", "v1.22"),
    ("storageos", "storageOS", "v1.22", "v1.25"),
    ("glusterfs", "glusterfs", "v1.25", "v1.26"),
    ("rbd", "rbd", "v1.28", "v1.31"),
];

/// Where the spec is: inline ones belong to a VolumeAttachment and have only a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecOf<'a> {
    /// In a PersistentVolume of this name.
    Object(&'a str),
    /// Inline in a VolumeAttachment.
    Inline,
}

/// Validates a PersistentVolume.
pub(crate) fn volume(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    volume_spec(errors, &at, spec, SpecOf::Object(text(&object["metadata"], "name")));
    let has_options = is_set(&object["metadata"]["annotations"], MOUNT_ANNOTATION);
    let takes_options = SOURCES.iter().any(|name| is_set(spec, name) && !WITHOUT_OPTIONS.contains(name));
    if has_options && !takes_options {
        let at = Path::new("metadata");
        let at = at.child("annotations");
        errors.forbidden(&at.child(MOUNT_ANNOTATION), "may not specify mount options for this volume type");
    }
}

/// Validates the spec of a PersistentVolume.
pub(crate) fn volume_spec(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, place: SpecOf<'_>) {
    let is_inline = place == SpecOf::Inline;
    if is_inline {
        only_a_source(errors, at, spec);
    }
    let modes = list(spec, "accessModes");
    if modes.is_empty() {
        errors.required(&at.child("accessModes"), "");
    }
    access_modes(errors, &at.child("accessModes"), modes);
    if !is_inline {
        capacity(errors, &at.child("capacity"), spec);
    }
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    let policy_at = at.child("persistentVolumeReclaimPolicy");
    if is_inline && !matches!(policy, "" | "Retain") {
        errors.forbidden(&policy_at, "may only be Retain in the context of inline volumes");
    } else if !is_inline {
        errors.one_of_if_set(&policy_at, &spec["persistentVolumeReclaimPolicy"], &RECLAIM_POLICIES);
    }
    affinity(errors, &at.child("nodeAffinity"), spec, is_inline);
    sources(errors, at, spec, place);
    if is_root(text(&spec["hostPath"], "path")) && policy == "Recycle" {
        errors.forbidden(&policy_at, "may not be 'recycle' for a hostPath mount of '/'");
    }
    classes_and_mode(errors, at, spec, is_inline);
}

fn only_a_source(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let why = "may not be specified in the context of inline volumes";
    if is_set(spec, "claimRef") {
        errors.forbidden(&at.child("claimRef"), why);
    }
    if members(spec, "capacity").next().is_some() {
        errors.forbidden(&at.child("capacity"), why);
    }
    if !is_set(spec, "csi") {
        errors.required(&at.child("csi"), "has to be specified in the context of inline volumes");
    }
}

fn capacity(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let empty = Map::new();
    let amounts = spec["capacity"].as_object().unwrap_or(&empty);
    if amounts.is_empty() {
        errors.required(at, "");
    }
    if amounts.len() != 1 || !amounts.contains_key("storage") {
        errors.unsupported(at, spec.get("capacity").unwrap_or(&Value::Null), &["storage"]);
    }
    for (name, amount) in amounts {
        let Some(quantity) = parse(amount) else { continue };
        if quantity.billionths() < 0 {
            let whole = quantity.billionths() / 1_000_000_000;
            errors.invalid_formatted(&at.key(name), whole.to_string(), "must be a valid resource quantity");
        }
        if quantity.billionths() <= 0 {
            errors.invalid(&at.key(name), amount, "must be greater than zero");
        }
    }
}

fn affinity(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, is_inline: bool) {
    if !is_set(spec, "nodeAffinity") {
        return;
    }
    if is_inline {
        return errors.forbidden(at, "may not be specified in the context of inline volumes");
    }
    let required = &spec["nodeAffinity"]["required"];
    if required.is_null() {
        errors.required(&at.child("required"), "must specify required node constraints");
    } else {
        node_selector(errors, &at.child("required"), required);
    }
}

fn sources(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, place: SpecOf<'_>) {
    let holder = Holder::Volume(if let SpecOf::Object(name) = place { name } else { "" });
    let mut has_one = false;
    for name in SOURCES.into_iter().filter(|name| is_set(spec, name)) {
        // The names of the fields are upstream's.
        let (again, field) = match name {
            "cephfs" => ("cephFS", name),
            "gcePersistentDisk" => (name, "persistentDisk"),
            _ => (name, name),
        };
        if has_one && name != "flexVolume" {
            errors.forbidden(&at.child(again), "may not specify more than 1 volume type");
            continue;
        }
        has_one = true;
        match name {
            "hostPath" => host_path(errors, &at.child(field), &spec[name]),
            "local" => local(errors, at, spec, place),
            _ => device(errors, &at.child(field), name, &spec[name], holder),
        }
    }
    if !has_one {
        errors.required(at, "must specify a volume type");
    }
}

fn is_root(path: &str) -> bool {
    path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "." | ".."))
}

fn local(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, place: SpecOf<'_>) {
    let path_at = at.child("local");
    match text(&spec["local"], "path") {
        "" => errors.required(&path_at.child("path"), ""),
        path => mount::no_parent_segments(errors, &path_at.child("path"), path),
    }
    if place == SpecOf::Inline || !is_set(spec, "nodeAffinity") {
        errors.required(&at.child("nodeAffinity"), "Local volume requires node affinity");
    }
}

fn classes_and_mode(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, is_inline: bool) {
    let class = text(spec, "storageClassName");
    if !class.is_empty() && is_inline {
        let why = "may not be specified in the context of inline volumes";
        errors.forbidden(&at.child("storageClassName"), why);
    } else if !class.is_empty() {
        errors.invalid_text(&at.child("storageClassName"), class, subdomain(class));
    }
    let (mode_at, mode) = (at.child("volumeMode"), &spec["volumeMode"]);
    match mode.as_str() {
        Some(word) if is_inline && word != "Filesystem" => {
            let why = "may not specify volumeMode other than Filesystem in the context of inline volumes";
            errors.forbidden(&mode_at, why);
        }
        Some(word) if !is_inline && !VOLUME_MODES.contains(&word) => {
            errors.unsupported(&mode_at, mode, &VOLUME_MODES);
        }
        _ => {}
    }
    if let Some(class) = spec["volumeAttributesClassName"].as_str().filter(|_| !is_inline) {
        let class_at = at.child("volumeAttributesClassName");
        if class.is_empty() {
            errors.required(&class_at, "an empty string is disallowed");
        } else {
            errors.invalid_text(&class_at, class, subdomain(class));
        }
        if !is_set(spec, "csi") {
            errors.required(&at.child("csi"), "has to be specified when using volumeAttributesClassName");
        }
    }
}

/// Reports changes of a PersistentVolume's immutable fields: source, volume mode and node affinity.
pub(crate) fn volume_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let spec = Path::new("spec");
    let (before, mut after) = (source_of(old), source_of(new));
    let reference = "controllerExpandSecretRef";
    if is_set(&before, "csi")
        && !is_set(&before["csi"], reference)
        && let Some(driver) = after["csi"].as_object_mut()
    {
        driver.remove(reference);
    }
    if !semantically_equal("core/v1.PersistentVolumeSource", &before, &after) {
        let why = "spec.persistentvolumesource is immutable after creation";
        let lines = unified_diff("core/v1.PersistentVolumeSource", &before, &after);
        errors.forbidden(&spec.child("persistentvolumesource"), format!("{why}\n{lines}"));
    }
    let (old, new) = (&old["spec"], &new["spec"]);
    errors.immutable(&Path::new("volumeMode"), old["volumeMode"] == new["volumeMode"], &new["volumeMode"]);
    let affinity = "core/v1.VolumeNodeAffinity";
    if is_set(old, "nodeAffinity")
        && !semantically_equal(affinity, &old["nodeAffinity"], &new["nodeAffinity"])
    {
        let shown = on_one_line(affinity, &new["nodeAffinity"]);
        let why = "field is immutable, except for updating from beta label to GA";
        errors.invalid_formatted(&Path::new("nodeAffinity"), shown, why);
    }
    let class = "volumeAttributesClassName";
    if is_set(old, class) && !is_set(new, class) {
        errors.forbidden(&spec.child(class), "update from non-nil value to nil is forbidden");
    }
}

fn source_of(volume: &Value) -> Value {
    let source = members(volume, "spec").filter(|(name, _)| SOURCES.contains(&name.as_str()));
    Value::Object(source.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Warns about a PersistentVolume.
pub(crate) fn volume_warnings(warnings: &mut Vec<String>, object: &Value) {
    let spec = &object["spec"];
    let old_annotations =
        [(CLASS_ANNOTATION, "v1.8", "storageClassName"), (MOUNT_ANNOTATION, "v1.31", "mountOptions")];
    for (key, since, instead) in old_annotations {
        if is_set(&object["metadata"]["annotations"], key) {
            warnings.push(format!(
                "metadata.annotations[{key}]: deprecated since {since}; use \"{instead}\" attribute instead"
            ));
        }
    }
    if spec["persistentVolumeReclaimPolicy"] == json!("Recycle") {
        warnings.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning."
                .to_owned(),
        );
    }
    let at = Path::new("spec");
    let at = at.child("nodeAffinity");
    let at = at.child("required");
    let terms = list(&spec["nodeAffinity"]["required"], "nodeSelectorTerms");
    node_terms(warnings, &at.child("nodeSelectorTerms"), terms);
    for (_, field, since, gone) in REMOVED.iter().filter(|(name, ..)| is_set(spec, name)) {
        warnings.push(format!("spec.{field}: deprecated in {since}, non-functional in {gone}+"));
    }
}
