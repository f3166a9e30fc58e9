//! The variables of a container, and where their values come from (K3.3).

use gantry_json::Value;

use super::container::ContainerSource;
use super::resource_list::resource_value;
use crate::field::{at, list, text};

/// The environment of a container.
pub(super) fn render(container: &Value, source_kind: ContainerSource<'_>) -> String {
    let mut out = sources(list(container, "/envFrom"));
    let variables = list(container, "/env");
    if variables.is_empty() {
        return out + "    Environment:\t<none>\n";
    }
    out.push_str("    Environment:\n");
    out.extend(variables.iter().map(|one| variable(one, container, source_kind)));
    out
}

/// ConfigMaps and Secrets of which every key is a variable.
fn sources(sources: &[Value]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let mut out = String::from("    Environment Variables from:\n");
    for source in sources {
        let (kind, reference) = match source.get("configMapRef") {
            Some(map) => ("ConfigMap", map),
            None => ("Secret", at(source, "/secretRef")),
        };
        let prefix = match text(source, "/prefix") {
            "" => String::new(),
            prefix => format!(" with prefix '{prefix}'"),
        };
        let (name, optional) = (text(reference, "/name"), reference["optional"] == true);
        out.push_str(&format!("      {name}\t{kind}{prefix}\tOptional: {optional}\n"));
    }
    out
}

fn variable(variable: &Value, container: &Value, source_kind: ContainerSource<'_>) -> String {
    let name = text(variable, "/name");
    let Some(from) = variable.get("valueFrom") else {
        let value = text(variable, "/value");
        let lines: Vec<&str> = value.split('\n').collect();
        return format!("      {name}:\t{}\n", lines.join("\n      \t"));
    };
    if let Some(field) = from.get("fieldRef") {
        let version = match text(field, "/apiVersion") {
            "" => "v1",
            version => version,
        };
        let path = text(field, "/fieldPath");
        let value = match source_kind {
            ContainerSource::Template => String::new(),
            ContainerSource::Pod { pod, .. } => field_value(pod, path),
        };
        return format!("      {name}:\t{value} ({version}:{path})\n");
    }
    if let Some(field) = from.get("resourceFieldRef") {
        let value = resource_value(container, field);
        return format!("      {name}:\t{value} ({})\n", text(field, "/resource"));
    }
    let (reference, words) = match from.get("secretKeyRef") {
        Some(secret) => (secret, "in secret"),
        None => (at(from, "/configMapKeyRef"), "of config map"),
    };
    format!(
        "      {name}:\t<set to the key '{}' {words} '{}'>\tOptional: {}\n",
        text(reference, "/key"),
        text(reference, "/name"),
        reference["optional"] == true
    )
}

/// The value of a field of a pod: its name or its namespace. kubectl resolves no other fields.
fn field_value(pod: &Value, path: &str) -> String {
    match path {
        "metadata.name" => text(pod, "/metadata/name").to_owned(),
        "metadata.namespace" => text(pod, "/metadata/namespace").to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3.3: a variable is shown with the source of its value, and in a pod with the value, too.
    #[test]
    fn variables_of_a_pod_have_values() {
        let container = json!({"resources": {"limits": {"cpu": "1"}},
            "envFrom": [{"configMapRef": {"name": "cm", "optional": true}}, {"secretRef": {"name": "s"}, "prefix": "P_"}],
            "env": [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "APP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['app']"}}},
                {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]});
        let pod = json!({"metadata": {"name": "web-1", "labels": {"app": "web"}}});
        let sources = "    Environment Variables from:\n      cm\tConfigMap\tOptional: true\n      \
                       s\tSecret with prefix 'P_'\tOptional: false\n    Environment:\n";
        assert_eq!(
            render(&container, ContainerSource::Pod { pod: &pod, statuses: &[] }),
            format!(
                "{sources}      POD:\tweb-1 (v1:metadata.name)\n      APP:\t (v1:metadata.labels['app'])\n      \
                 CPU:\t1 (limits.cpu)\n"
            )
        );
        assert!(render(&container, ContainerSource::Template).contains("POD:\t (v1:metadata.name)\n"));
    }
}
