//! The volumes of a pod or a template, and the sources of PersistentVolumes.

mod sources;

use gantry_json::Value;

use super::container::Indent;
use super::labels_annotations::{annotations, labels};
use super::persistent_volume::{class, size_and_source};
use crate::field::{at, list, members, shown, text};

/// Volumes with their title.
pub(super) fn all(volumes: &[Value], indent: Indent) -> String {
    if volumes.is_empty() {
        return format!("{}Volumes:\t<none>\n", indent.title);
    }
    let mut out = format!("{}Volumes:\n", indent.title);
    for volume in volumes {
        out.push_str(&format!("{}{}:\n", indent.name, text(volume, "/name")));
        out.push_str(&source(volume));
    }
    out
}

/// The source of a PersistentVolume; `spec` is its specification.
pub(super) fn persistent_source(spec: &Value) -> String {
    match spec.get("csi") {
        Some(csi) => container_storage(csi),
        None => sources::persistent(spec).unwrap_or_else(|| line("Type", "<unknown>")),
    }
}

fn source(volume: &Value) -> String {
    if let Some(csi) = volume.get("csi") {
        return container_storage(csi);
    }
    if let Some(template) = volume.pointer("/ephemeral/volumeClaimTemplate") {
        return ephemeral(template);
    }
    if let Some(source) = volume.get("downwardAPI") {
        let items = list(source, "/items").iter().map(item).collect::<String>();
        return line("Type", "DownwardAPI (a volume populated by information about the pod)")
            + "    Items:\n"
            + &items;
    }
    if let Some(source) = volume.get("projected") {
        return projected(source);
    }
    sources::of_pod(volume).unwrap_or_else(|| line("Type", "<unknown>"))
}

fn line(title: &str, value: &str) -> String {
    format!("    {title}:\t{value}\n")
}

/// The content of a file in a volume: a field of the pod, or a resource of a container.
fn item(item: &Value) -> String {
    let path = text(item, "/path");
    match item.get("fieldRef") {
        Some(field) => format!("      {} -> {path}\n", text(field, "/fieldPath")),
        None => format!("      {} -> {path}\n", text(item, "/resourceFieldRef/resource")),
    }
}

fn projected(source: &Value) -> String {
    let mut out = line("Type", "Projected (a volume that contains injected data from multiple sources)");
    for one in list(source, "/sources") {
        if let Some(token) = one.get("serviceAccountToken") {
            out += &line("TokenExpirationSeconds", &shown(at(token, "/expirationSeconds")));
        } else if let Some(map) = one.get("configMap") {
            out += &line("ConfigMapName", text(map, "/name"));
            out += &line("Optional", &(map["optional"] == true).to_string());
        } else if let Some(secret) = one.get("secret") {
            out += &line("SecretName", text(secret, "/name"));
            out += &line("Optional", &(secret["optional"] == true).to_string());
        } else if one.get("downwardAPI").is_some() {
            out += &line("DownwardAPI", "true");
        }
    }
    out
}

/// A claim that is created for the pod; it has no volume yet.
fn ephemeral(template: &Value) -> String {
    let kind =
        "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)";
    let mut out = line("Type", kind) + &line("StorageClass", &class(template)) + &line("Volume", "");
    // Each value is indented like its title.
    for metadata in [
        labels("Labels:", "    ", template, "/metadata/labels"),
        annotations("Annotations:", "    ", template, "/metadata/annotations"),
    ] {
        out += &metadata.replace('\t', "\t    ");
    }
    out + &size_and_source("    ", template)
}

/// A volume of a CSI driver.
fn container_storage(csi: &Value) -> String {
    let mut out = line("Type", "CSI (a Container Storage Interface (CSI) volume source)");
    out += &line("Driver", text(csi, "/driver"));
    out += &line("FSType", text(csi, "/fsType"));
    if let Some(handle) = csi.get("volumeHandle") {
        out += &line("VolumeHandle", &shown(handle));
    }
    out += &line("ReadOnly", &(csi["readOnly"] == true).to_string());
    let attributes = members(csi, "/volumeAttributes").into_iter();
    let attributes: Vec<String> = attributes.map(|(key, value)| format!("{key}={}", shown(value))).collect();
    if attributes.is_empty() {
        return out + &line("VolumeAttributes", "<none>");
    }
    // kubectl indents each attribute like the title.
    out + &format!("    VolumeAttributes:\t    {}\n", attributes.join("\n\t    "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn a_volume_is_described_with_its_source_and_fields() {
        let volume =
            json!({"name": "v", "iscsi": {"targetPortal": "10.0.0.1", "lun": 1, "secretRef": {"name": "s"}}});
        let rendered = all(&[volume, json!({"name": "odd"})], Indent { title: "", name: "  " });
        assert!(rendered.starts_with("Volumes:\n  v:\n    Type:\tISCSI "), "{rendered}");
        assert!(rendered.contains("    Lun:\t1\n    ISCSIInterface\t\n"), "{rendered}");
        assert!(rendered.contains("    SecretRef:\t&LocalObjectReference{Name:s,}\n"), "{rendered}");
        assert!(rendered.ends_with("  odd:\n    Type:\t<unknown>\n"), "{rendered}");
    }
}
