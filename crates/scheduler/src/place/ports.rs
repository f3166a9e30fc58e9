//! Ports of the node itself that pods take, of which there is one each.

use k8s_openapi::api::core::v1 as wire;

/// A port on one address of a node, or on all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPort {
    /// All addresses if there is none.
    address: Option<String>,
    protocol: String,
    port: i32,
}

impl HostPort {
    /// The ports of the node that a pod takes, those of its sidecars included.
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

    /// Whether both cannot be had at once.
    pub(super) fn clashes(&self, other: &Self) -> bool {
        let same_address = self.address.is_none() || other.address.is_none() || self.address == other.address;
        self.port == other.port && self.protocol == other.protocol && same_address
    }
}
