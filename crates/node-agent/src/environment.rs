//! The environment of a container.

use std::collections::BTreeMap;

use k8s_openapi::api::certificates::v1::ClusterTrustBundle;
use k8s_openapi::api::core::v1 as core;

use crate::downward_api::{PodFacts, field_value, resource_value};
use crate::expansion::expand;

/// The objects that a pod refers to, as far as they exist.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceObjects {
    pub(crate) config_maps: BTreeMap<String, core::ConfigMap>,
    pub(crate) secrets: BTreeMap<String, core::Secret>,
    /// All of them, if the pod shows any.
    pub(crate) trust_bundles: Vec<ClusterTrustBundle>,
}

/// Returns the variables of a container in their order. An error has a kubelet's message about the missing object.
pub(crate) fn environment(
    pod: &core::Pod,
    container: &core::Container,
    services: &BTreeMap<String, String>,
    sources: &SourceObjects,
    facts: &PodFacts,
) -> Result<Vec<(String, String)>, String> {
    let mut order: Vec<String> = Vec::new();
    let mut values: BTreeMap<String, String> = services.clone();
    let mut set = |name: String, value: String, values: &mut BTreeMap<String, String>| {
        order.retain(|known| *known != name);
        order.push(name.clone());
        values.insert(name, value);
    };
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        for (name, value) in whole_object(from, sources)? {
            set(format!("{prefix}{name}"), value, &mut values);
        }
    }
    for variable in container.env.iter().flatten() {
        let value = match (&variable.value, &variable.value_from) {
            (_, Some(from)) => single_value(from, pod, container, sources, facts)?,
            (Some(value), None) => Some(expand(value, &values)),
            (None, None) => Some(String::new()),
        };
        if let Some(value) = value {
            set(variable.name.clone(), value, &mut values);
        }
    }
    let from_services: Vec<_> = services.keys().filter(|name| !order.contains(name)).cloned().collect();
    let names = order.into_iter().chain(from_services);
    Ok(names.filter_map(|name| values.get(&name).cloned().map(|value| (name, value))).collect())
}

fn whole_object(
    from: &core::EnvFromSource,
    sources: &SourceObjects,
) -> Result<Vec<(String, String)>, String> {
    if let Some(reference) = &from.config_map_ref {
        return match sources.config_maps.get(&reference.name) {
            Some(map) => Ok(map.data.clone().unwrap_or_default().into_iter().collect()),
            None if reference.optional == Some(true) => Ok(Vec::new()),
            None => Err(format!("configmap \"{}\" not found", reference.name)),
        };
    }
    let Some(reference) = &from.secret_ref else { return Ok(Vec::new()) };
    match sources.secrets.get(&reference.name) {
        Some(secret) => {
            let data = secret.data.iter().flatten();
            Ok(data.map(|(key, value)| (key.clone(), text(&value.0))).collect())
        }
        None if reference.optional == Some(true) => Ok(Vec::new()),
        None => Err(format!("secret \"{}\" not found", reference.name)),
    }
}

/// Returns the value of a variable; `None` if it comes from an optional object or key that does not exist.
fn single_value(
    from: &core::EnvVarSource,
    pod: &core::Pod,
    container: &core::Container,
    sources: &SourceObjects,
    facts: &PodFacts,
) -> Result<Option<String>, String> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    if let Some(field) = &from.field_ref {
        return field_value(&field.field_path, pod, facts).map(Some);
    }
    if let Some(selector) = &from.resource_field_ref {
        let of = selector.container_name.as_deref().unwrap_or(&container.name);
        let named = container_named(pod, of).ok_or_else(|| format!("container {of} not found"))?;
        return resource_value(selector, &named, facts).map(Some);
    }
    if let Some(key) = &from.config_map_key_ref {
        let map = sources.config_maps.get(&key.name);
        let value = map.and_then(|map| map.data.as_ref()?.get(&key.key).cloned());
        return match (value, key.optional == Some(true), map) {
            (Some(value), ..) => Ok(Some(value)),
            (None, true, _) => Ok(None),
            (None, false, None) => Err(format!("configmap \"{}\" not found", key.name)),
            (None, false, Some(_)) => {
                Err(format!("couldn't find key {} in ConfigMap {namespace}/{}", key.key, key.name))
            }
        };
    }
    let Some(key) = &from.secret_key_ref else { return Ok(Some(String::new())) };
    let secret = sources.secrets.get(&key.name);
    let value = secret.and_then(|secret| secret.data.as_ref()?.get(&key.key));
    match (value, key.optional == Some(true), secret) {
        (Some(value), ..) => Ok(Some(text(&value.0))),
        (None, true, _) => Ok(None),
        (None, false, None) => Err(format!("secret \"{}\" not found", key.name)),
        (None, false, Some(_)) => {
            Err(format!("couldn't find key {} in Secret {namespace}/{}", key.key, key.name))
        }
    }
}

/// Returns a container of any type by its name.
pub(crate) fn container_named(pod: &core::Pod, name: &str) -> Option<core::Container> {
    let spec = pod.spec.as_ref()?;
    let all = spec.init_containers.iter().flatten().chain(&spec.containers);
    let ephemeral = spec.ephemeral_containers.iter().flatten();
    all.into_iter().find(|container| container.name == name).cloned().or_else(|| {
        let found = ephemeral.into_iter().find(|container| container.name == name)?;
        Some(gantry_nodes::pod_lifecycle::ephemeral_as_container(found))
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the variables with the addresses of the services of a namespace, in the format of Docker's links.
pub(crate) fn service_variables<'a>(
    services: impl Iterator<Item = &'a core::Service>,
    namespace: &str,
    links: bool,
) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for service in services {
        let (name, of) = (service.metadata.name.as_deref(), service.metadata.namespace.as_deref());
        let is_api = name == Some("kubernetes") && of == Some("default");
        if !(is_api || (links && of == Some(namespace))) {
            continue;
        }
        let Some(spec) = &service.spec else { continue };
        let Some(ip) = spec.cluster_ip.as_deref().filter(|ip| !ip.is_empty() && *ip != "None") else {
            continue;
        };
        let prefix = name.unwrap_or_default().to_uppercase().replace('-', "_");
        let ports = spec.ports.as_deref().unwrap_or_default();
        let Some(first) = ports.first() else { continue };
        variables.insert(format!("{prefix}_SERVICE_HOST"), ip.to_owned());
        variables.insert(format!("{prefix}_SERVICE_PORT"), first.port.to_string());
        for port in ports {
            if let Some(port_name) = port.name.as_deref().filter(|name| !name.is_empty()) {
                let port_name = port_name.to_uppercase().replace('-', "_");
                variables.insert(format!("{prefix}_SERVICE_PORT_{port_name}"), port.port.to_string());
            }
            let protocol = port.protocol.as_deref().unwrap_or("TCP");
            let url = format!("{}://{ip}:{}", protocol.to_lowercase(), port.port);
            let link = format!("{prefix}_PORT_{}_{protocol}", port.port);
            if port.port == first.port {
                variables.insert(format!("{prefix}_PORT"), url.clone());
            }
            variables.insert(format!("{link}_PROTO"), protocol.to_lowercase());
            variables.insert(format!("{link}_PORT"), port.port.to_string());
            variables.insert(format!("{link}_ADDR"), ip.to_owned());
            variables.insert(link, url);
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn pod(container: &Value) -> core::Pod {
        gantry_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"containers": [container]},
        }))
        .unwrap()
    }

    fn built(container: &Value) -> Result<Vec<(String, String)>, String> {
        let pod = pod(container);
        let map: core::ConfigMap =
            gantry_json::from_value(json!({"metadata": {"name": "c"}, "data": {"k": "v", "l": "w"}}))
                .unwrap();
        let sources = SourceObjects {
            config_maps: BTreeMap::from([("c".to_owned(), map)]),
            ..SourceObjects::default()
        };
        let services = BTreeMap::from([("DB_SERVICE_HOST".to_owned(), "10.0.0.1".to_owned())]);
        environment(
            &pod,
            &pod.spec.as_ref().unwrap().containers[0],
            &services,
            &sources,
            &PodFacts::default(),
        )
    }

    #[test]
    fn later_variables_see_and_replace_earlier_ones() {
        let variables = built(&json!({
            "name": "web",
            "envFrom": [{"prefix": "P_", "configMapRef": {"name": "c"}}],
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "value": "$(A)-$(P_k)-$(DB_SERVICE_HOST)"},
                {"name": "P_l", "value": "mine"},
                {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "O", "valueFrom": {"secretKeyRef": {"name": "s", "key": "x", "optional": true}}},
            ],
        }))
        .unwrap();
        let variables: Vec<_> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            variables,
            ["P_k=v", "A=1", "B=1-v-10.0.0.1", "P_l=mine", "N=web", "DB_SERVICE_HOST=10.0.0.1"]
        );
    }

    #[test]
    fn a_missing_key_has_the_kubelets_message() {
        let missing = built(&json!({
            "name": "web",
            "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "no"}}}],
        }));
        assert_eq!(missing, Err("couldn't find key no in ConfigMap shop/c".to_owned()));
    }

    #[test]
    fn services_have_environment_variables() {
        let service: core::Service = gantry_json::from_value(json!({
            "metadata": {"name": "my-db", "namespace": "shop"},
            "spec": {"clusterIP": "10.96.0.7", "ports": [{"name": "sql", "port": 5432}]},
        }))
        .unwrap();
        let variables = service_variables([&service].into_iter(), "shop", true);
        assert_eq!(variables["MY_DB_SERVICE_HOST"], "10.96.0.7");
        assert_eq!(variables["MY_DB_SERVICE_PORT_SQL"], "5432");
        assert_eq!(variables["MY_DB_PORT"], "tcp://10.96.0.7:5432");
        assert_eq!(variables["MY_DB_PORT_5432_TCP_ADDR"], "10.96.0.7");
        assert!(service_variables([&service].into_iter(), "other", true).is_empty());
        assert!(service_variables([&service].into_iter(), "shop", false).is_empty());
    }
}
