//! A Service as the rules need it.

use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::{Meta, OwnerReference, ParseError, Requirement, Selector};

/// A Service.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Its metadata.
    pub meta: Meta,
    /// Selects its pods; `None` if its endpoints are written by hand.
    pub selector: Option<Selector>,
    /// Whether it is an alias of a DNS name, which has no endpoints.
    pub is_external_name: bool,
    /// The address of the service inside the cluster.
    pub cluster_ip: ClusterIp,
    /// The families of its addresses, that of the cluster IP first; empty only if an old server stored it.
    pub families: Vec<IpFamily>,
    /// Whether pods count as ready whatever their status.
    pub publish_not_ready: bool,
    /// The ports it offers.
    pub ports: Vec<ServicePort>,
    /// Which endpoints clients should prefer.
    pub traffic: TrafficDistribution,
}

/// `spec.clusterIP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterIp {
    /// It is not set yet.
    Unset,
    /// `None`: the service is headless.
    Headless,
    /// An address.
    Address(String),
}

/// A family of IP addresses, which is also the address type of EndpointSlices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IpFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// One port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// Its name; empty if it is the only one.
    pub name: String,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    /// Its application protocol, if the Service names one.
    pub app_protocol: Option<String>,
    /// The port of the pods.
    pub target: TargetPort,
}

/// The port of a pod that a port of a Service refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetPort {
    /// This number.
    Number(i32),
    /// The container port of this name.
    Name(String),
}

/// `spec.trafficDistribution`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficDistribution {
    /// No preference.
    Anywhere,
    /// `PreferSameZone` and its older name `PreferClose`.
    SameZone,
    /// `PreferSameNode`.
    SameNode,
}

impl Service {
    /// Parses a Service.
    pub fn parse(service: wire::Service) -> Result<Self, ParseError> {
        let meta = Meta::parse(service.metadata)?;
        let spec = service.spec.unwrap_or_default();
        let labels = spec.selector.unwrap_or_default().into_iter();
        let all: Vec<_> = labels.map(|(key, value)| Requirement::Equals(key, value)).collect();
        Ok(Self {
            meta,
            selector: (!all.is_empty()).then_some(Selector::All(all)),
            is_external_name: spec.type_.as_deref() == Some("ExternalName"),
            cluster_ip: ClusterIp::parse(spec.cluster_ip),
            families: spec.ip_families.into_iter().flatten().map(|family| IpFamily::parse(&family)).collect(),
            publish_not_ready: spec.publish_not_ready_addresses.unwrap_or(false),
            ports: spec.ports.into_iter().flatten().map(ServicePort::parse).collect(),
            traffic: TrafficDistribution::parse(spec.traffic_distribution.as_deref()),
        })
    }

    /// Whether it has a cluster IP: it is neither headless nor an external name.
    pub fn has_address(&self) -> bool {
        matches!(self.cluster_ip, ClusterIp::Address(_))
    }

    /// The owner reference of its EndpointSlices.
    pub fn reference(&self) -> OwnerReference {
        OwnerReference::to_controller("v1", "Service", &self.meta)
    }
}

impl ClusterIp {
    fn parse(written: Option<String>) -> Self {
        match written {
            None => Self::Unset,
            Some(address) if address.is_empty() => Self::Unset,
            Some(address) if address == "None" => Self::Headless,
            Some(address) => Self::Address(address),
        }
    }
}

impl IpFamily {
    fn parse(written: &str) -> Self {
        if written == "IPv6" { Self::V6 } else { Self::V4 }
    }

    /// The family of an address.
    pub fn of(address: &str) -> Self {
        if address.contains(':') { Self::V6 } else { Self::V4 }
    }

    /// The value on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }
}

impl ServicePort {
    fn parse(port: wire::ServicePort) -> Self {
        let target = match port.target_port {
            Some(IntOrString::String(name)) => TargetPort::Name(name),
            // The server sets it; an unset one means the same port.
            Some(IntOrString::Int(0)) | None => TargetPort::Number(port.port),
            Some(IntOrString::Int(number)) => TargetPort::Number(number),
        };
        Self {
            name: port.name.unwrap_or_default(),
            protocol: port.protocol.unwrap_or_else(|| "TCP".to_owned()),
            app_protocol: port.app_protocol,
            target,
        }
    }
}

impl TrafficDistribution {
    fn parse(written: Option<&str>) -> Self {
        match written {
            Some("PreferSameZone" | "PreferClose") => Self::SameZone,
            Some("PreferSameNode") => Self::SameNode,
            _ => Self::Anywhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(spec: &gantry_json::Value) -> Service {
        let meta = gantry_json::json!({"name": "s", "namespace": "n", "uid": "u"});
        let service = gantry_json::json!({"metadata": meta, "spec": spec});
        Service::parse(gantry_json::from_value(service).unwrap()).unwrap()
    }

    #[test]
    fn a_service_with_an_empty_selector_has_none() {
        assert_eq!(read(&gantry_json::json!({"selector": {}})).selector, None);
        assert!(read(&gantry_json::json!({"selector": {"app": "web"}})).selector.is_some());
    }

    #[test]
    fn a_headless_service_has_no_address() {
        assert!(!read(&gantry_json::json!({"clusterIP": "None"})).has_address());
        assert!(!read(&gantry_json::json!({})).has_address());
        assert!(read(&gantry_json::json!({"clusterIP": "10.96.0.7"})).has_address());
    }
}
