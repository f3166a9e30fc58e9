//! PersistentVolumes and the claims on them.

use gantry_json::Value;
use gantry_primitives::Timestamp;

use super::conditions::conditions;
use super::labels_annotations::{annotations, labels};
use super::storage::numbered_term;
use super::{ago, name_labels_annotations, volume};
use crate::field::{at, list, shown, text};

/// A PersistentVolume.
pub(crate) fn persistent_volume(object: &Value, now: Timestamp) -> String {
    let claim = match at(object, "/spec/claimRef") {
        Value::Null => String::new(),
        claim => format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")),
    };
    let mut out = name_labels_annotations(object);
    out += &format!("Finalizers:\t{}\n", finalizers(object));
    out += &format!("StorageClass:\t{}\n", class(object));
    out += &format!("Status:\t{}\n", status(object, now));
    out += &format!("Claim:\t{claim}\n");
    out += &format!("Reclaim Policy:\t{}\n", text(object, "/spec/persistentVolumeReclaimPolicy"));
    out += &format!("Access Modes:\t{}\n", modes(object, "/spec/accessModes"));
    out += &volume_mode(object);
    out += &format!("Capacity:\t{}\n", amount(object, "/spec/capacity/storage"));
    out += &affinity(object);
    out += &format!("Message:\t{}\nSource:\n", text(object, "/status/message"));
    out + &volume::persistent_source(at(object, "/spec"))
}

/// A PersistentVolumeClaim; `pods` are those of its namespace.
pub(crate) fn claim(claim: &Value, pods: &[Value], now: Timestamp) -> String {
    let name = text(claim, "/metadata/name");
    let mut out = format!("Name:\t{name}\nNamespace:\t{}\n", text(claim, "/metadata/namespace"));
    out += &format!("StorageClass:\t{}\n", class(claim));
    out += &format!("Status:\t{}\n", status(claim, now));
    out += &format!("Volume:\t{}\n", text(claim, "/spec/volumeName"));
    out += &labels("Labels:", "", claim, "/metadata/labels");
    out += &annotations("Annotations:", "", claim, "/metadata/annotations");
    out += &format!("Finalizers:\t{}\n", finalizers(claim));
    out += &size_and_source("", claim);
    let users: Vec<&str> =
        pods.iter().filter(|pod| uses(pod, name)).map(|pod| text(pod, "/metadata/name")).collect();
    match users.as_slice() {
        [] => out += "Used By:\t<none>\n",
        users => out += &format!("Used By:\t{}\n", users.join("\n\t")),
    }
    out + &conditions(claim, ("LastProbeTime", "/lastProbeTime"))
}

/// The capacity and access modes of a bound claim, and its data source.
pub(super) fn size_and_source(indent: &str, claim: &Value) -> String {
    let is_bound = !text(claim, "/spec/volumeName").is_empty();
    let capacity = if is_bound { amount(claim, "/status/capacity/storage") } else { String::new() };
    let modes = if is_bound { modes(claim, "/status/accessModes") } else { String::new() };
    let mut out = format!("{indent}Capacity:\t{capacity}\n{indent}Access Modes:\t{modes}\n");
    let mode = volume_mode(claim);
    if !mode.is_empty() {
        out += &format!("{indent}{mode}");
    }
    let Some(source) = claim.pointer("/spec/dataSource") else { return out };
    out += &format!("{indent}DataSource:\n");
    for (title, field) in [("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name")] {
        if let Some(value) = source.get(field).filter(|value| !value.is_null()) {
            out += &format!("{indent}  {title}:\t{}\n", shown(value));
        }
    }
    out
}

/// The storage class of an object; the former annotation has precedence over the field.
pub(super) fn class(object: &Value) -> String {
    let annotations = at(object, "/metadata/annotations");
    let annotated = annotations.get("volume.beta.kubernetes.io/storage-class");
    annotated.map_or_else(|| shown(at(object, "/spec/storageClassName")), shown)
}

/// An amount; Go prints 0 for an absent one.
fn amount(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).map_or_else(|| "0".to_owned(), shown)
}

fn finalizers(object: &Value) -> String {
    let finalizers: Vec<String> = list(object, "/metadata/finalizers").iter().map(shown).collect();
    format!("[{}]", finalizers.join(" "))
}

fn status(object: &Value, now: Timestamp) -> String {
    match object.pointer("/metadata/deletionTimestamp") {
        Some(since) => format!("Terminating (lasts {})", ago(now, since)),
        None => text(object, "/status/phase").to_owned(),
    }
}

fn volume_mode(object: &Value) -> String {
    let mode = object.pointer("/spec/volumeMode");
    mode.map_or_else(String::new, |mode| format!("VolumeMode:\t{}\n", shown(mode)))
}

/// The access modes in short, each once and in kubectl's order.
fn modes(object: &Value, pointer: &str) -> String {
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let given = list(object, pointer);
    let short = known.iter().filter(|(mode, _)| given.iter().any(|one| one == mode));
    short.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

fn affinity(object: &Value) -> String {
    let Some(affinity) = object.pointer("/spec/nodeAffinity") else {
        return "Node Affinity:\t<none>\n".to_owned();
    };
    let Some(required) = affinity.get("required") else {
        return "Node Affinity:\t\n  Required Terms:\t<none>\n".to_owned();
    };
    let mut out = String::from("Node Affinity:\t\n  Required Terms:\t\n");
    for (nth, term) in list(required, "/nodeSelectorTerms").iter().enumerate() {
        let expressions: Vec<String> = list(term, "/matchExpressions").iter().map(expression).collect();
        out += &numbered_term("    ", nth, &expressions);
    }
    out
}

fn expression(one: &Value) -> String {
    let values: Vec<String> = list(one, "/values").iter().map(shown).collect();
    let operator = text(one, "/operator").to_lowercase();
    let values = if values.is_empty() { String::new() } else { format!(" [{}]", values.join(", ")) };
    format!("{} {operator}{values}", text(one, "/key"))
}

/// Whether a pod mounts a claim by its name.
fn uses(pod: &Value, claim: &str) -> bool {
    let named = |volume: &Value| text(volume, "/persistentVolumeClaim/claimName") == claim;
    let made = |volume: &Value| {
        volume.get("ephemeral").is_some()
            && format!("{}-{}", text(pod, "/metadata/name"), text(volume, "/name")) == claim
    };
    list(pod, "/spec/volumes").iter().any(|volume| named(volume) || made(volume))
}
