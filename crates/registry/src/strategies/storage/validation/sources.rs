//! Validates the storage systems of volumes, in pods and PersistentVolumes.

use gantry_json::{Value, json};

use super::driver::csi_driver_name;
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, number, text};
use crate::validation::names::{NameValidator, label, subdomain, within};

/// The object that contains the source; in a PersistentVolume, references to secrets need a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder<'a> {
    /// A pod.
    Pod,
    /// A PersistentVolume of this name.
    Volume(&'a str),
}

const CACHING_MODES: [&str; 3] = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS: [&str; 3] = ["Dedicated", "Managed", "Shared"];
const HOST_AND_PORT: &str = "must be a host:port pair or multiple pairs separated by commas";

/// Validates a source of a storage system.
pub(crate) fn device(errors: &mut ErrorList, at: &Path<'_>, name: &str, source: &Value, holder: Holder<'_>) {
    needed(errors, at, source, needed_fields(name));
    match name {
        "gcePersistentDisk" | "awsElasticBlockStore" => partition(errors, at, source),
        "glusterfs" => {
            if let Some(name) = source["endpointsNamespace"].as_str().filter(|_| holder != Holder::Pod) {
                endpoints_namespace(errors, &at.child("endpointsNamespace"), name);
            }
        }
        "flocker" => flocker(errors, at, source),
        "nfs" => {
            let path = text(source, "path");
            if !path.starts_with('/') {
                errors.invalid(&at.child("path"), &json!(path), "must be an absolute path");
            }
        }
        "quobyte" => quobyte(errors, at, source),
        "iscsi" => iscsi(errors, at, source, holder),
        "cinder" => secret(errors, at, source, holder),
        "fc" => fibre_channel(errors, at, source),
        "flexVolume" => options(errors, &at.child("options"), source),
        "azureFile" if is_set(source, "secretNamespace") && holder != Holder::Pod => {
            needed(errors, at, source, &["secretNamespace"]);
        }
        "azureDisk" => azure_disk(errors, at, source),
        "storageos" => {
            for field in ["volumeName", "volumeNamespace"] {
                let name = text(source, field);
                errors.optional_text(&at.child(field), name, label);
            }
            secret(errors, at, source, holder);
        }
        "csi" if holder != Holder::Pod => csi(errors, at, source),
        _ => {}
    }
}

fn needed_fields(name: &str) -> &'static [&'static str] {
    match name {
        "gcePersistentDisk" => &["pdName"],
        "awsElasticBlockStore" | "cinder" | "portworxVolume" => &["volumeID"],
        "glusterfs" => &["endpoints", "path"],
        "nfs" => &["server", "path"],
        "rbd" => &["monitors", "image"],
        "cephfs" => &["monitors"],
        "flexVolume" => &["driver"],
        "azureFile" => &["secretName", "shareName"],
        "azureDisk" => &["diskName", "diskURI"],
        "vsphereVolume" => &["volumePath"],
        "photonPersistentDisk" => &["pdID"],
        "scaleIO" => &["gateway", "system", "volumeName"],
        "storageos" => &["volumeName"],
        _ => &[],
    }
}

fn needed(errors: &mut ErrorList, at: &Path<'_>, source: &Value, fields: &[&str]) {
    for field in fields {
        if text(source, field).is_empty() && list(source, field).is_empty() {
            errors.required(&at.child(field), "");
        }
    }
}

fn partition(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let partition = number(source, "partition").unwrap_or(0);
    if !(0..=255).contains(&partition) {
        let why = "must be between 1 and 255, inclusive";
        errors.invalid(&at.child("partition"), &json!(partition), why);
    }
}

fn endpoints_namespace(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        let why = "if the endpointnamespace is set, it must be a valid namespace name";
        return errors.invalid(at, &json!(name), why);
    }
    errors.invalid_text(at, name, label(name));
}

fn flocker(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let (name, id) = (text(source, "datasetName"), text(source, "datasetUUID"));
    if name.is_empty() && id.is_empty() {
        errors.required(at, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !id.is_empty() {
        let why = "datasetName and datasetUUID can not be specified simultaneously";
        errors.invalid(at, &json!("resource"), why);
    }
    if name.contains('/') {
        errors.invalid(&at.child("datasetName"), &json!(name), "must not contain '/'");
    }
}

fn quobyte(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let registry = text(source, "registry");
    if registry.is_empty() {
        errors.required(&at.child("registry"), HOST_AND_PORT);
    } else if text(source, "tenant").len() >= 65 {
        let why = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&at.child("tenant"), why);
    } else {
        for _ in registry.split(',').filter(|pair| !is_host_and_port(pair)) {
            errors.invalid(&at.child("registry"), &json!(registry), HOST_AND_PORT);
        }
    }
    needed(errors, at, source, &["volume"]);
}

fn is_host_and_port(pair: &str) -> bool {
    let host = pair.rsplit_once(':').map(|(host, _)| host);
    host.is_some_and(|host| {
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        bracketed.map_or(!host.contains([':', '[', ']']), |host| !host.contains(['[', ']']))
    })
}

fn iscsi(errors: &mut ErrorList, at: &Path<'_>, source: &Value, holder: Holder<'_>) {
    needed(errors, at, source, &["targetPortal"]);
    let portal = text(source, "targetPortal");
    if let Holder::Volume(name) = holder
        && is_set(source, "initiatorName")
        && name.len() + 1 + portal.len() > 64
    {
        let why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is \
                   specified.";
        errors.invalid(&at.child("targetportal"), &json!(portal), why);
    }
    match text(source, "iqn") {
        "" => errors.required(&at.child("iqn"), ""),
        name => iscsi_name(errors, &at.child("iqn"), name, holder),
    }
    let unit = number(source, "lun").unwrap_or(0);
    for why in within(unit, 0, 255) {
        errors.invalid(&at.child("lun"), &json!(unit), why);
    }
    let is_authenticated =
        ["chapAuthDiscovery", "chapAuthSession"].iter().any(|field| source[*field] == true);
    if is_authenticated && !is_set(source, "secretRef") {
        errors.required(&at.child("secretRef"), "");
    }
    if holder != Holder::Pod && is_set(source, "secretRef") {
        needed(errors, &at.child("secretRef"), &source["secretRef"], &["name"]);
    }
    if let Some(name) = source["initiatorName"].as_str() {
        iscsi_name(errors, &at.child("initiatorname"), name, holder);
    }
}

fn iscsi_name(errors: &mut ErrorList, at: &Path<'_>, name: &str, holder: Holder<'_>) {
    let is_known = ["iqn", "eui", "naa"].iter().any(|prefix| name.starts_with(prefix));
    let has_letters = |count: usize| {
        let rest: Vec<char> = name.chars().skip(3).collect();
        rest.len() == count + 1 && rest[1..].iter().all(char::is_ascii_alphanumeric)
    };
    let is_right = match name.get(..3) {
        Some("eui") => has_letters(16),
        Some("naa") => has_letters(32),
        _ => is_iqn(name),
    };
    if !is_known && holder == Holder::Pod {
        errors.invalid(at, &json!(name), "must be valid format starting with iqn, eui, or naa");
    } else if !is_known || !is_right {
        errors.invalid(at, &json!(name), "must be valid format");
    }
}

/// Names such as `iqn.2001-04.com.example:storage`.
fn is_iqn(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("iqn.") else { return false };
    let Some((date, rest)) = rest.split_at_checked(7) else { return false };
    let is_date =
        date.char_indices().all(|(index, c)| if index == 4 { c == '-' } else { c.is_ascii_digit() });
    let Some((authority, unit)) = rest.strip_prefix('.').and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    let is_authority = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    is_date
        && !authority.is_empty()
        && authority.chars().all(is_authority)
        && !unit.is_empty()
        && !unit.contains(|c: char| ",;*&$|".contains(c) || c.is_ascii_whitespace())
}

fn secret(errors: &mut ErrorList, at: &Path<'_>, source: &Value, holder: Holder<'_>) {
    if !is_set(source, "secretRef") {
        return;
    }
    let fields: &[&str] = if holder == Holder::Pod { &["name"] } else { &["name", "namespace"] };
    needed(errors, &at.child("secretRef"), &source["secretRef"], fields);
}

fn fibre_channel(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let names_at = at.child("targetWWNs");
    let (has_names, has_ids) = (!list(source, "targetWWNs").is_empty(), !list(source, "wwids").is_empty());
    if !has_names && !has_ids {
        errors.required(&names_at, "must specify either targetWWNs or wwids, but not both");
    }
    if has_names && has_ids {
        let why = "targetWWNs and wwids can not be specified simultaneously";
        errors.invalid(&names_at, &source["targetWWNs"], why);
    }
    if !has_names {
        return;
    }
    match number(source, "lun") {
        None => errors.required(&at.child("lun"), "lun is required if targetWWNs is specified"),
        Some(unit) => {
            for why in within(unit, 0, 255) {
                errors.invalid(&at.child("lun"), &json!(unit), why);
            }
        }
    }
}

fn options(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    for (key, _) in members(source, "options") {
        let domain = key.split_once('/').map_or(key.as_str(), |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let why = "kubernetes.io and k8s.io namespaces are reserved";
            errors.invalid(&at.key(key), &json!(key), why);
        }
    }
}

fn azure_disk(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    for (field, known) in [("cachingMode", &CACHING_MODES), ("kind", &DISK_KINDS)] {
        if source[field].as_str().is_some_and(|word| !known.contains(&word)) {
            errors.unsupported(&at.child(field), &source[field], known);
        }
    }
    let address = text(source, "diskURI");
    let (start, known) = match source["kind"].as_str() {
        None => return,
        Some("Managed") => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        Some(_) => {
            ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
        }
    };
    if !address.starts_with(start) {
        errors.unsupported(&at.child("diskURI"), &json!(address), &[known]);
    }
}

fn csi(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    csi_driver_name(errors, &at.child("driver"), text(source, "driver"));
    needed(errors, at, source, &["volumeHandle"]);
    for field in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        if is_set(source, field) {
            secret_of_driver(errors, &at.child(field), &source[field]);
        }
    }
}

fn secret_of_driver(errors: &mut ErrorList, at: &Path<'_>, secret: &Value) {
    for (field, rule) in [("name", subdomain as NameValidator), ("namespace", label)] {
        match text(secret, field) {
            "" => errors.required(&at.child(field), ""),
            name => errors.invalid_text(&at.child(field), name, rule(name)),
        }
    }
}
