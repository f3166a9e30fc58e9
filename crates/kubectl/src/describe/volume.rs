//! The volumes of a pod or a template.

use serde_json::Value;

use super::container::Indent;
use crate::field::{at, list, shown, text};

/// Volumes with their title.
pub(super) fn all(volumes: &[Value], indent: Indent) -> String {
    if volumes.is_empty() {
        return format!("{}Volumes:\t<none>\n", indent.title);
    }
    let mut out = format!("{}Volumes:\n", indent.title);
    for volume in volumes {
        out.push_str(&format!("{}{}:\n", indent.name, text(volume, "/name")));
        out.extend(lines(volume).into_iter().map(|(title, value)| format!("    {title}:\t{value}\n")));
        if let Some(source) = volume.get("downwardAPI") {
            out.push_str("    Items:\n");
            out.extend(list(source, "/items").iter().map(item));
        }
    }
    out
}

fn lines(volume: &Value) -> Vec<(&'static str, String)> {
    let optional = |source: &Value| (source["optional"] == true).to_string();
    if let Some(source) = volume.get("emptyDir") {
        let limit = source.get("sizeLimit").map_or_else(|| "<unset>".to_owned(), shown);
        return vec![
            ("Type", "EmptyDir (a temporary directory that shares a pod's lifetime)".to_owned()),
            ("Medium", text(source, "/medium").to_owned()),
            ("SizeLimit", limit),
        ];
    }
    if let Some(source) = volume.get("configMap") {
        return vec![
            ("Type", "ConfigMap (a volume populated by a ConfigMap)".to_owned()),
            ("Name", text(source, "/name").to_owned()),
            ("Optional", optional(source)),
        ];
    }
    if let Some(source) = volume.get("secret") {
        return vec![
            ("Type", "Secret (a volume populated by a Secret)".to_owned()),
            ("SecretName", text(source, "/secretName").to_owned()),
            ("Optional", optional(source)),
        ];
    }
    if let Some(source) = volume.get("hostPath") {
        return vec![
            ("Type", "HostPath (bare host directory volume)".to_owned()),
            ("Path", text(source, "/path").to_owned()),
            ("HostPathType", text(source, "/type").to_owned()),
        ];
    }
    if let Some(source) = volume.get("persistentVolumeClaim") {
        return vec![
            (
                "Type",
                "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"
                    .to_owned(),
            ),
            ("ClaimName", text(source, "/claimName").to_owned()),
            ("ReadOnly", (source["readOnly"] == true).to_string()),
        ];
    }
    if volume.get("downwardAPI").is_some() {
        return vec![("Type", "DownwardAPI (a volume populated by information about the pod)".to_owned())];
    }
    if let Some(source) = volume.get("projected") {
        return projected(source);
    }
    vec![("Type", "<unknown>".to_owned())]
}

/// What a file of a volume holds: a field of the pod, or an amount of a container.
fn item(item: &Value) -> String {
    let path = text(item, "/path");
    match item.get("fieldRef") {
        Some(field) => format!("      {} -> {path}\n", text(field, "/fieldPath")),
        None => format!("      {} -> {path}\n", text(item, "/resourceFieldRef/resource")),
    }
}

fn projected(source: &Value) -> Vec<(&'static str, String)> {
    let mut lines =
        vec![("Type", "Projected (a volume that contains injected data from multiple sources)".to_owned())];
    for one in list(source, "/sources") {
        if let Some(token) = one.get("serviceAccountToken") {
            lines.push(("TokenExpirationSeconds", shown(at(token, "/expirationSeconds"))));
        } else if let Some(map) = one.get("configMap") {
            lines.push(("ConfigMapName", text(map, "/name").to_owned()));
            lines.push(("Optional", (map["optional"] == true).to_string()));
        } else if let Some(secret) = one.get("secret") {
            lines.push(("SecretName", text(secret, "/name").to_owned()));
            lines.push(("Optional", (secret["optional"] == true).to_string()));
        } else if one.get("downwardAPI").is_some() {
            lines.push(("DownwardAPI", "true".to_owned()));
        }
    }
    lines
}
