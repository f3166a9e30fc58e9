//! The fields and resources of a pod that variables and files of the downward API show.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gantry_formats::quantity::parse_billionths;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Facts about a pod that are not in its object.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodFacts {
    /// The addresses of the pod.
    pub(crate) pod_ips: Vec<String>,
    /// The address of the node.
    pub(crate) host_ip: String,
    /// The allocatable resources of the node, which replace limits that are not set.
    pub(crate) allocatable: BTreeMap<String, Quantity>,
}

/// Returns the value of a field of a pod; an error names an unsupported one.
pub(crate) fn field_value(path: &str, pod: &core::Pod, facts: &PodFacts) -> Result<String, String> {
    let (meta, spec) = (&pod.metadata, pod.spec.as_ref());
    let subscript = |name: &str| path.strip_prefix(name)?.strip_prefix("['")?.strip_suffix("']");
    if let Some(key) = subscript("metadata.labels") {
        return Ok(meta.labels.as_ref().and_then(|all| all.get(key)).cloned().unwrap_or_default());
    }
    if let Some(key) = subscript("metadata.annotations") {
        return Ok(meta.annotations.as_ref().and_then(|all| all.get(key)).cloned().unwrap_or_default());
    }
    Ok(match path {
        "metadata.name" => meta.name.clone().unwrap_or_default(),
        "metadata.namespace" => meta.namespace.clone().unwrap_or_default(),
        "metadata.uid" => meta.uid.clone().unwrap_or_default(),
        "metadata.labels" => map_text(meta.labels.as_ref()),
        "metadata.annotations" => map_text(meta.annotations.as_ref()),
        "spec.nodeName" => spec.and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
        "spec.serviceAccountName" => {
            spec.and_then(|spec| spec.service_account_name.clone()).unwrap_or_default()
        }
        "status.hostIP" | "status.hostIPs" => facts.host_ip.clone(),
        "status.podIP" => facts.pod_ips.first().cloned().unwrap_or_default(),
        "status.podIPs" => facts.pod_ips.join(","),
        _ => return Err(format!("unsupported fieldPath: {path}")),
    })
}

/// Formats a map for files of the downward API: one `key="value"` per line.
fn map_text(map: Option<&BTreeMap<String, String>>) -> String {
    let mut text = String::new();
    for (key, value) in map.into_iter().flatten() {
        let newline = if text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{newline}{key}={value:?}");
    }
    text
}

/// Returns the value of a resource of a container, in units of the divisor, rounded up.
pub(crate) fn resource_value(
    selector: &core::ResourceFieldSelector,
    container: &core::Container,
    facts: &PodFacts,
) -> Result<String, String> {
    let unsupported = || format!("unsupported container resource : {}", selector.resource);
    let (list, name) = selector.resource.split_once('.').ok_or_else(unsupported)?;
    let resources = container.resources.as_ref();
    let limit = || resources.and_then(|resources| resources.limits.as_ref()?.get(name));
    let request = || resources.and_then(|resources| resources.requests.as_ref()?.get(name));
    let value = match list {
        "limits" => limit().or_else(|| facts.allocatable.get(name)),
        "requests" => request().or_else(limit),
        _ => return Err(unsupported()),
    };
    let value = value.map_or(Some(0), |value| parse_billionths(&value.0)).ok_or_else(unsupported)?;
    let divisor = selector.divisor.as_ref().map(|divisor| divisor.0.as_str()).unwrap_or_default();
    let divisor = match divisor {
        "" | "0" => 1_000_000_000,
        text => parse_billionths(text).filter(|divisor| *divisor > 0).unwrap_or(1_000_000_000),
    };
    Ok((value / divisor + i128::from(value % divisor > 0)).to_string())
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn fields_of_a_pod_have_values() {
        let pod: core::Pod = gantry_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": "a\"b"}},
            "spec": {"nodeName": "n1", "containers": []},
        }))
        .unwrap();
        let facts = PodFacts { pod_ips: vec!["10.0.0.2".to_owned()], ..PodFacts::default() };
        let value = |path| field_value(path, &pod, &facts);
        assert_eq!(value("metadata.labels['app']"), Ok("web".to_owned()));
        assert_eq!(value("metadata.labels"), Ok("app=\"web\"\ntier=\"a\\\"b\"".to_owned()));
        assert_eq!(value("status.podIP"), Ok("10.0.0.2".to_owned()));
        assert!(value("spec.schedulerName").is_err());
    }

    #[test]
    fn resources_are_rounded_up_in_units_of_the_divisor() {
        let container: core::Container = gantry_json::from_value(json!({
            "name": "web", "resources": {"limits": {"cpu": "250m", "memory": "64Mi"}},
        }))
        .unwrap();
        let facts = PodFacts::default();
        let value = |resource: &str, divisor: &str| {
            let selector = core::ResourceFieldSelector {
                resource: resource.to_owned(),
                divisor: Some(Quantity(divisor.to_owned())),
                container_name: None,
            };
            resource_value(&selector, &container, &facts)
        };
        assert_eq!(value("limits.cpu", "0"), Ok("1".to_owned()));
        assert_eq!(value("requests.cpu", "1m"), Ok("250".to_owned()));
        assert_eq!(value("limits.memory", "1Mi"), Ok("64".to_owned()));
        assert!(value("cpu", "1").is_err());
    }
}
