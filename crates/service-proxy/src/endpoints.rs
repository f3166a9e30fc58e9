//! The endpoints of a port of a Service, as far as the proxy routes to them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use gantry_model::{Endpoint, EndpointPort, EndpointSlice};

use crate::port_spec::PortSpec;

/// An endpoint of a port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    pub(crate) state: BackendState,
    /// Whether it is on this node.
    pub(crate) is_local: bool,
    /// The nodes whose connections it should get, by its hints; empty without hints.
    pub(crate) nodes: Vec<String>,
    /// The zones whose connections it should get, by its hints; empty without hints.
    pub(crate) zones: Vec<String>,
}

/// Whether an endpoint gets connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackendState {
    /// It should get connections.
    Ready,
    /// It is being deleted and still serves: it gets connections if there is no other.
    Terminating,
    /// It does not serve.
    NotServing,
}

/// The information about the node.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyNode {
    pub(crate) name: String,
    pub(crate) zone: Option<String>,
    /// The uids of pods of this node that are being deleted or removed. Their endpoints may not be updated yet.
    pub(crate) stopping: BTreeSet<String>,
    /// Services that the node itself serves to its pods, by namespace and name.
    pub(crate) own_services: BTreeMap<(String, String), SocketAddr>,
}

/// Returns the endpoints of a port of a Service, in the order of their addresses.
pub(crate) fn backends<'a>(
    spec: &PortSpec,
    slices: impl Iterator<Item = &'a EndpointSlice>,
    node: &ProxyNode,
) -> Vec<Backend> {
    let mut found = BTreeMap::new();
    for slice in slices.filter(|slice| slice.content.family.is_some()) {
        let is_meant = |port: &&EndpointPort| port.name == spec.name && spec.protocol.is(&port.protocol);
        let ports = slice.content.ports.iter().filter(is_meant).filter_map(|port| port.port);
        for port in ports.filter_map(|port| u16::try_from(port).ok()) {
            for endpoint in &slice.content.endpoints {
                // The addresses of an endpoint are interchangeable; all consumers take the first.
                let address = endpoint.addresses.first().and_then(|it| it.parse::<IpAddr>().ok());
                let Some(address) = address.map(|ip| SocketAddr::new(ip, port)) else { continue };
                let backend = Backend::new(address, endpoint, node);
                // For a moment, an endpoint may be in two slices: then a ready one has precedence.
                let known =
                    found.get(&address).is_some_and(|known: &Backend| known.state == BackendState::Ready);
                if !known {
                    found.insert(address, backend);
                }
            }
        }
    }
    found.into_values().collect()
}

impl Backend {
    fn new(address: SocketAddr, endpoint: &Endpoint, node: &ProxyNode) -> Self {
        let conditions = endpoint.conditions;
        let is_stopping =
            endpoint.target.as_ref().is_some_and(|target| node.stopping.contains(&*target.uid.text()));
        let is_ready = conditions.ready.unwrap_or(true);
        let is_serving = conditions.serving.unwrap_or(is_ready);
        let is_terminating = conditions.terminating.unwrap_or(false) || is_stopping;
        let state = match (is_ready && !is_stopping, is_serving && is_terminating) {
            (true, _) => BackendState::Ready,
            (false, true) => BackendState::Terminating,
            (false, false) => BackendState::NotServing,
        };
        Self {
            address,
            state,
            is_local: endpoint.node.as_ref().is_some_and(|name| name.as_str() == node.name),
            nodes: endpoint.hints.nodes.clone(),
            zones: endpoint.hints.zones.clone(),
        }
    }
}
