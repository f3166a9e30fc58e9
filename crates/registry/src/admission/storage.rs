//! Volumes and claims: a finalizer protects them while they are in use, and a claim names its source of data once.

use serde_json::{Value, json};

const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

/// Protects a new volume until no claim is bound to it.
pub(crate) fn protect_volume(volume: &mut Value) {
    add_finalizer(volume, VOLUME_PROTECTION);
}

/// Protects a new claim until no pod uses it.
pub(crate) fn protect_claim(claim: &mut Value) {
    add_finalizer(claim, CLAIM_PROTECTION);
}

/// Gives a claim the same source in `dataSource`, which older clients know, and in `dataSourceRef`.
///
/// A source in another namespace is dropped, because reading across namespaces is not switched on. So is one of a kind
/// that `dataSource` alone cannot have, unless the stored claim has a source already.
pub(crate) fn unify_data_sources(claim: &mut Value, stored: Option<&Value>) {
    let had = |field: &str| stored.is_some_and(|stored| !stored["spec"][field].is_null());
    let (had_source, had_reference) = (had("dataSource"), had("dataSourceRef"));
    let Some(spec) = claim.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_set = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    let namespace = |reference: Option<&Value>| {
        reference.is_some_and(|reference| !matches!(reference["namespace"].as_str(), None | Some("")))
    };
    if namespace(spec.get("dataSourceRef")) && !had_reference {
        spec.remove("dataSourceRef");
    }
    let refers_now = is_set(spec.get("dataSourceRef"));
    if !had_source && !had_reference && !refers_now && !spec.get("dataSource").is_some_and(is_classic) {
        spec.remove("dataSource");
    }
    match (spec.get("dataSource").cloned(), spec.get("dataSourceRef").cloned()) {
        (Some(source), None | Some(Value::Null)) if !source.is_null() => {
            spec.insert("dataSourceRef".to_owned(), source);
        }
        (None | Some(Value::Null), Some(reference))
            if !reference.is_null() && !namespace(Some(&reference)) =>
        {
            let mut source = reference;
            if let Some(source) = source.as_object_mut() {
                source.remove("namespace");
            }
            spec.insert("dataSource".to_owned(), source);
        }
        _ => {}
    }
}

/// Whether the source is a claim or a snapshot.
fn is_classic(source: &Value) -> bool {
    let group = source["apiGroup"].as_str().unwrap_or("");
    matches!(
        (source["kind"].as_str(), group),
        (Some("PersistentVolumeClaim"), "") | (Some("VolumeSnapshot"), SNAPSHOTS)
    )
}

fn add_finalizer(object: &mut Value, name: &str) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.iter().any(|finalizer| finalizer == name)
    {
        finalizers.push(json!(name));
    }
}
