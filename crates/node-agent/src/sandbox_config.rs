//! The configuration of a pod's sandbox.

use gantry_cri::wire;
use k8s_openapi::api::core::v1 as core;

use crate::labels;
use crate::security;

/// The maximum length of a host name.
const HOST_NAME_MAX: usize = 63;

/// The settings of a node for all its sandboxes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SandboxSettings {
    /// The label value of the cluster and the node.
    pub(crate) owner: String,
    /// The node's name.
    pub(crate) node: String,
    /// The directory of the logs of all pods.
    pub(crate) logs: String,
    /// The addresses of the cluster's DNS servers; if empty, pods use those of the node.
    pub(crate) cluster_dns: Vec<String>,
    /// The domain of the cluster.
    pub(crate) cluster_domain: String,
    /// The DNS settings of the node.
    pub(crate) node_dns: wire::DnsConfig,
}

/// Returns the configuration of a pod's sandbox. `attempt` is the number of sandboxes that the pod had before.
pub(crate) fn sandbox_config(
    pod: &core::Pod,
    attempt: u32,
    settings: &SandboxSettings,
) -> wire::PodSandboxConfig {
    let fallback = core::PodSpec::default();
    let (meta, spec) = (&pod.metadata, pod.spec.as_ref().unwrap_or(&fallback));
    wire::PodSandboxConfig {
        metadata: Some(wire::PodSandboxMetadata {
            name: meta.name.clone().unwrap_or_default(),
            uid: meta.uid.clone().unwrap_or_default(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            attempt,
        }),
        // The host's name cannot be changed.
        hostname: if spec.host_network == Some(true) { String::new() } else { host_name(pod, settings) },
        log_directory: log_directory(pod, &settings.logs),
        dns_config: Some(dns(pod, settings)),
        port_mappings: port_mappings(spec),
        labels: labels::sandbox_labels(pod, &settings.owner),
        annotations: meta.annotations.clone().unwrap_or_default(),
        linux: Some(wire::LinuxPodSandboxConfig {
            cgroup_parent: String::new(),
            security_context: Some(security::sandbox(spec)),
            sysctls: security::sysctls(spec),
            resources: None,
        }),
    }
}

/// Returns the directory of a pod's logs.
pub(crate) fn log_directory(pod: &core::Pod, logs: &str) -> String {
    let meta = &pod.metadata;
    let [namespace, name, uid] =
        [&meta.namespace, &meta.name, &meta.uid].map(|part| part.as_deref().unwrap_or_default());
    format!("{logs}/{}", log_directory_name(namespace, name, uid))
}

/// Returns the name of the directory of a pod's logs.
pub(crate) fn log_directory_name(namespace: &str, name: &str, uid: &str) -> String {
    format!("{namespace}_{name}_{uid}")
}

/// Returns the host name of a pod.
pub(crate) fn host_name(pod: &core::Pod, settings: &SandboxSettings) -> String {
    let spec = pod.spec.as_ref();
    if spec.is_some_and(|spec| spec.host_network == Some(true)) {
        return settings.node.clone();
    }
    let own = spec.and_then(|spec| spec.hostname.clone()).filter(|name| !name.is_empty());
    let mut name = own.unwrap_or_else(|| pod.metadata.name.clone().unwrap_or_default());
    name.truncate(HOST_NAME_MAX);
    let name = name.trim_end_matches(['-', '.']).to_owned();
    match full_name(pod, &name, settings) {
        Some(full) if spec.is_some_and(|spec| spec.set_hostname_as_fqdn == Some(true)) => full,
        _ => name,
    }
}

/// Returns the full name of a pod with a subdomain.
pub(crate) fn full_name(pod: &core::Pod, name: &str, settings: &SandboxSettings) -> Option<String> {
    let subdomain = pod.spec.as_ref()?.subdomain.as_deref().filter(|name| !name.is_empty())?;
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    Some(format!("{name}.{subdomain}.{namespace}.svc.{}", settings.cluster_domain))
}

fn dns(pod: &core::Pod, settings: &SandboxSettings) -> wire::DnsConfig {
    let Some(spec) = &pod.spec else { return settings.node_dns.clone() };
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let is_host = spec.host_network == Some(true);
    let uses_cluster = match spec.dns_policy.as_deref() {
        Some("ClusterFirstWithHostNet") => true,
        Some("Default" | "None") => false,
        _ => !is_host,
    };
    let mut config = match spec.dns_policy.as_deref() {
        Some("None") => wire::DnsConfig::default(),
        _ if uses_cluster && !settings.cluster_dns.is_empty() => {
            let domain = &settings.cluster_domain;
            let own = [format!("{namespace}.svc.{domain}"), format!("svc.{domain}"), domain.clone()];
            wire::DnsConfig {
                servers: settings.cluster_dns.clone(),
                searches: own.into_iter().chain(settings.node_dns.searches.clone()).collect(),
                options: vec!["ndots:5".to_owned()],
            }
        }
        _ => settings.node_dns.clone(),
    };
    if let Some(own) = &spec.dns_config {
        let new = own.nameservers.iter().flatten().filter(|server| !config.servers.contains(server));
        config.servers.extend(new.cloned().collect::<Vec<_>>());
        let new = own.searches.iter().flatten().filter(|search| !config.searches.contains(search));
        config.searches.extend(new.cloned().collect::<Vec<_>>());
        for option in own.options.iter().flatten() {
            let name = option.name.clone().unwrap_or_default();
            config.options.retain(|known| known.split(':').next() != Some(name.as_str()));
            config
                .options
                .push(option.value.as_ref().map_or(name.clone(), |value| format!("{name}:{value}")));
        }
    }
    config
}

fn port_mappings(spec: &core::PodSpec) -> Vec<wire::PortMapping> {
    if spec.host_network == Some(true) {
        return Vec::new();
    }
    let containers = spec.init_containers.iter().flatten().chain(&spec.containers);
    let ports = containers.flat_map(|container| container.ports.iter().flatten());
    ports
        .filter(|port| port.host_port.is_some_and(|port| port > 0))
        .map(|port| wire::PortMapping {
            protocol: match port.protocol.as_deref() {
                Some("UDP") => wire::Protocol::Udp,
                Some("SCTP") => wire::Protocol::Sctp,
                _ => wire::Protocol::Tcp,
            } as i32,
            container_port: port.container_port,
            host_port: port.host_port.unwrap_or(0),
            host_ip: port.host_ip.clone().unwrap_or_default(),
        })
        .collect()
}

/// Parses the settings of `/etc/resolv.conf`.
pub(crate) fn parse_resolv_conf(text: &str) -> wire::DnsConfig {
    let mut config = wire::DnsConfig::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("nameserver") => config.servers.extend(words.next().map(str::to_owned)),
            Some("search" | "domain") => config.searches = words.map(str::to_owned).collect(),
            Some("options") => config.options.extend(words.map(str::to_owned)),
            _ => {}
        }
    }
    config
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn config(spec: &Value) -> wire::PodSandboxConfig {
        let pod: core::Pod = gantry_json::from_value(json!({
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "u1"},
            "spec": spec,
        }))
        .unwrap();
        let settings = SandboxSettings {
            node: "n1".to_owned(),
            logs: "/var/log/pods".to_owned(),
            cluster_dns: vec!["10.96.0.10".to_owned()],
            cluster_domain: "cluster.local".to_owned(),
            node_dns: parse_resolv_conf("nameserver 1.1.1.1\nsearch corp.example\noptions timeout:1\n"),
            ..SandboxSettings::default()
        };
        sandbox_config(&pod, 0, &settings)
    }

    #[test]
    fn pods_resolve_names_of_the_cluster_first() {
        let dns = config(&json!({"containers": []})).dns_config.unwrap();
        assert_eq!(dns.servers, ["10.96.0.10"]);
        assert_eq!(
            dns.searches,
            ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"]
        );
        assert_eq!(dns.options, ["ndots:5"]);
        let host = config(&json!({"containers": [], "hostNetwork": true})).dns_config.unwrap();
        assert_eq!((host.servers, host.options), (vec!["1.1.1.1".to_owned()], vec!["timeout:1".to_owned()]));
    }

    #[test]
    fn settings_of_the_pod_are_added() {
        let dns = config(&json!({
            "containers": [], "dnsPolicy": "None",
            "dnsConfig": {"nameservers": ["9.9.9.9"], "options": [{"name": "ndots", "value": "2"}]},
        }));
        let dns = dns.dns_config.unwrap();
        assert_eq!((dns.servers, dns.options), (vec!["9.9.9.9".to_owned()], vec!["ndots:2".to_owned()]));
    }

    #[test]
    fn a_sandbox_has_a_host_name_a_log_directory_and_ports() {
        let config = config(&json!({
            "hostname": "db", "subdomain": "sql", "setHostnameAsFQDN": true,
            "containers": [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 90}]}],
        }));
        assert_eq!(config.hostname, "db.sql.shop.svc.cluster.local");
        assert_eq!(config.log_directory, "/var/log/pods/shop_web-1_u1");
        assert_eq!((config.port_mappings.len(), config.port_mappings[0].host_port), (1, 8080));
    }
}
