//! Host ports, each of which one pod per node can use.

use k8s_openapi::api::core::v1 as wire;

/// A port on one address of a node, or on all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPort {
    /// `None` means all addresses.
    address: Option<String>,
    protocol: String,
    port: i32,
}

impl HostPort {
    /// The host ports of a pod, those of its sidecars included.
    pub(super) fn parse_all(spec: &wire::PodSpec) -> Vec<Self> {
        let sidecars = spec.init_containers.iter().flatten().filter(|c| c.restart_policy.is_some());
        let containers = spec.containers.iter().chain(sidecars);
        containers.flat_map(|container| container.ports.iter().flatten()).filter_map(Self::parse).collect()
    }

    fn parse(port: &wire::ContainerPort) -> Option<Self> {
        let address = port.host_ip.clone().filter(|ip| !ip.is_empty() && ip != "0.0.0.0");
        let protocol = port.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
        port.host_port.filter(|port| *port > 0).map(|port| Self { address, protocol, port })
    }

    pub(super) fn conflicts_with(&self, other: &Self) -> bool {
        let same_address = self.address.is_none() || other.address.is_none() || self.address == other.address;
        self.port == other.port && self.protocol == other.protocol && same_address
    }
}
