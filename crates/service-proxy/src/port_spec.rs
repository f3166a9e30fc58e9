//! The ports of Services, as far as the proxy routes them.

use std::net::IpAddr;
use std::time::Duration;

use k8s_openapi::api::core::v1 as core;

/// The default timeout of session affinity.
const AFFINITY_TIMEOUT: Duration = Duration::from_hours(3);

gantry_model::text_enum! {
    /// A transport protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Protocol {
        Tcp = "tcp",
        Udp = "udp",
        Sctp = "sctp",
    }

    /// Its name in nftables.
    pub(crate) fn as_str(self) -> &'static str;
}

/// `internalTrafficPolicy` or `externalTrafficPolicy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrafficPolicy {
    /// All endpoints get connections.
    Cluster,
    /// Only endpoints of this node get connections.
    Local,
}

/// One port of a Service, with the addresses at which it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortSpec {
    pub(crate) namespace: String,
    pub(crate) service: String,
    /// The name of the port; empty if it is the only one.
    pub(crate) name: String,
    pub(crate) protocol: Protocol,
    pub(crate) port: u16,
    pub(crate) node_port: Option<u16>,
    pub(crate) cluster_ips: Vec<IpAddr>,
    /// External addresses that the user routes to this node.
    pub(crate) external_ips: Vec<IpAddr>,
    /// Addresses of a load balancer that does not change the destination.
    pub(crate) load_balancer_ips: Vec<IpAddr>,
    /// The networks that may use the addresses of the load balancer; empty for all.
    pub(crate) source_ranges: Vec<String>,
    /// How long a client is bound to its endpoint; `None` without affinity.
    pub(crate) affinity: Option<Duration>,
    pub(crate) internal: TrafficPolicy,
    pub(crate) external: TrafficPolicy,
    /// The port at which the load balancer checks whether this node has endpoints.
    pub(crate) health_check_port: Option<u16>,
}

impl Protocol {
    fn parse(written: Option<&str>) -> Self {
        match written {
            Some("UDP") => Self::Udp,
            Some("SCTP") => Self::Sctp,
            _ => Self::Tcp,
        }
    }

    /// Whether this is the protocol in an endpoint's port.
    pub(crate) fn is(self, written: &str) -> bool {
        Self::parse(Some(written)) == self
    }
}

impl TrafficPolicy {
    fn parse(written: Option<&str>) -> Self {
        if written == Some("Local") { Self::Local } else { Self::Cluster }
    }
}

impl PortSpec {
    /// Returns the ports of a Service; none if it is headless, an alias, or served by another proxy.
    pub(crate) fn of(service: &core::Service) -> Vec<Self> {
        let Some(spec) = &service.spec else { return Vec::new() };
        let is_of_others = service
            .metadata
            .labels
            .as_ref()
            .is_some_and(|labels| labels.contains_key("service.kubernetes.io/service-proxy-name"));
        let single = spec.cluster_ip.clone().map(|ip| vec![ip]).unwrap_or_default();
        let cluster_ips = addresses(spec.cluster_ips.as_ref().unwrap_or(&single));
        if is_of_others || spec.type_.as_deref() == Some("ExternalName") || cluster_ips.is_empty() {
            return Vec::new();
        }
        let common = Self {
            namespace: service.metadata.namespace.clone().unwrap_or_default(),
            service: service.metadata.name.clone().unwrap_or_default(),
            name: String::new(),
            protocol: Protocol::Tcp,
            port: 0,
            node_port: None,
            cluster_ips,
            external_ips: addresses(spec.external_ips.as_deref().unwrap_or_default()),
            load_balancer_ips: load_balancer_ips(service),
            source_ranges: spec.load_balancer_source_ranges.clone().unwrap_or_default(),
            affinity: affinity(spec),
            internal: TrafficPolicy::parse(spec.internal_traffic_policy.as_deref()),
            external: TrafficPolicy::parse(spec.external_traffic_policy.as_deref()),
            health_check_port: spec
                .health_check_node_port
                .filter(|_| spec.external_traffic_policy.as_deref() == Some("Local"))
                .and_then(number),
        };
        let ports = spec.ports.iter().flatten();
        ports.filter_map(|port| common.with_port(port)).collect()
    }

    fn with_port(&self, port: &core::ServicePort) -> Option<Self> {
        Some(Self {
            name: port.name.clone().unwrap_or_default(),
            protocol: Protocol::parse(port.protocol.as_deref()),
            port: number(port.port)?,
            node_port: port.node_port.and_then(number),
            ..self.clone()
        })
    }

    /// Returns the identity of the port in names of chains: `default/web/tcp/http`.
    pub(crate) fn id(&self) -> String {
        let name = if self.name.is_empty() { self.port.to_string() } else { self.name.clone() };
        format!("{}/{}/{}/{name}", self.namespace, self.service, self.protocol.as_str())
    }

    /// Whether it can be reached by other addresses than its cluster IPs.
    pub(crate) fn is_external(&self) -> bool {
        self.node_port.is_some() || !self.external_ips.is_empty() || !self.load_balancer_ips.is_empty()
    }
}

fn number(port: i32) -> Option<u16> {
    u16::try_from(port).ok().filter(|port| *port > 0)
}

/// Parses addresses; `None` of a headless Service is no address.
fn addresses(written: &[String]) -> Vec<IpAddr> {
    written.iter().filter_map(|address| address.parse().ok()).collect()
}

fn load_balancer_ips(service: &core::Service) -> Vec<IpAddr> {
    let status = service.status.iter().filter_map(|status| status.load_balancer.as_ref());
    let ingress = status.flat_map(|balancer| balancer.ingress.iter().flatten());
    let routed = ingress.filter(|ingress| ingress.ip_mode.as_deref() != Some("Proxy"));
    routed.filter_map(|ingress| ingress.ip.as_ref()?.parse().ok()).collect()
}

fn affinity(spec: &core::ServiceSpec) -> Option<Duration> {
    if spec.session_affinity.as_deref() != Some("ClientIP") {
        return None;
    }
    let config = spec.session_affinity_config.as_ref().and_then(|config| config.client_ip.as_ref());
    let seconds = config.and_then(|config| config.timeout_seconds).and_then(|it| u64::try_from(it).ok());
    Some(seconds.map_or(AFFINITY_TIMEOUT, Duration::from_secs))
}
