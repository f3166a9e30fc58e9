//! The port to the agents of nodes (kubelets, or Gantry's own) and to the servers of pods. The API server opens no
//! sockets itself.

use std::fmt::Debug;
use std::net::IpAddr;
use std::pin::Pin;

use gantry_json::Value;
use http::{Request, Response};

use crate::request_body::RequestStream;
use crate::response::Body;

/// Connects to the agents of nodes, and to pods.
pub trait NodeConnector: Debug + Send + Sync {
    /// Sends a request without a body to an agent, and returns its response.
    ///
    /// After `101 Switching Protocols`, the client of the request and the agent are connected with each other; the
    /// request has the extensions of the client's request.
    fn send<'a>(&'a self, target: NodeTarget<'a>, request: Request<()>) -> NodeResponse<'a>;

    /// Sends a proxied request to its destination, and returns the response; upgrades are as for `send`.
    fn proxy(&self, destination: ProxyDestination, request: Request<RequestStream>) -> NodeResponse<'_>;
}

/// The future response of an agent.
pub type NodeResponse<'a> = Pin<Box<dyn Future<Output = Result<Response<Body>, NodeError>> + Send + 'a>>;

/// The target of a request to an agent.
#[derive(Clone, Debug)]
pub struct NodeTarget<'a> {
    /// The endpoint of the agent of the pod's node, if the node reports it.
    pub endpoint: Option<NodeEndpoint>,
    /// The pod.
    pub pod: &'a Value,
}

/// The destination of a proxied request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyDestination {
    /// The protocol of the connection.
    pub transport: ProxyTransport,
    /// The address or name.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// The protocol of a connection to the destination of a proxied request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyTransport {
    /// Plain HTTP.
    Http,
    /// TLS, without verifying certificates, which are issued for names and not for the addresses of pods.
    Https,
    /// TLS with the server's client certificate.
    Kubelet,
}

/// Whether the API server may connect to this address for a client: not to itself, and not to addresses that only its
/// own link reaches.
pub fn is_global_unicast(address: IpAddr) -> bool {
    let is_reserved = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => {
            let mapped = address.to_ipv4_mapped();
            address.is_unicast_link_local()
                || mapped.is_some_and(|mapped| !is_global_unicast(IpAddr::V4(mapped)))
        }
    };
    !is_reserved && !is_link_local
}

/// Why there is no response of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeError {
    /// The node has no agent for this.
    NoAgent,
    /// The server does not connect to this address for a client.
    AddressNotAllowed,
    /// The connection failed.
    Failed(String),
}

/// The endpoint of a node's agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEndpoint {
    /// The address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// The types of addresses by which a node is reached, the best first.
const ADDRESS_TYPES: [&str; 3] = ["InternalIP", "Hostname", "ExternalIP"];

impl NodeEndpoint {
    /// Returns the endpoint that a node reports. Simulated nodes report none.
    pub(crate) fn of(node: &Value) -> Option<Self> {
        let port = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"].as_u64()?;
        let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
        let addresses = node["status"]["addresses"].as_array()?;
        let of_type = |wanted: &&str| addresses.iter().find(|address| address["type"] == **wanted);
        let host = ADDRESS_TYPES.iter().find_map(of_type)?["address"].as_str()?.to_owned();
        Some(Self { host, port })
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn only_global_addresses_are_connected_to() {
        for refused in [
            "127.0.0.1",
            "0.0.0.0",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "fe80::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(!is_global_unicast(refused.parse().unwrap()), "{refused}");
        }
        for allowed in ["10.0.0.1", "192.168.0.1", "fd00::1"] {
            assert!(is_global_unicast(allowed.parse().unwrap()), "{allowed}");
        }
    }

    #[test]
    fn a_node_is_reached_by_its_internal_address_and_the_port_it_reports() {
        let addresses =
            json!([{"type": "Hostname", "address": "n1"}, {"type": "InternalIP", "address": "10.0.0.1"}]);
        let node = |port: u64| json!({"status": {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}});
        let endpoint = NodeEndpoint { host: "10.0.0.1".to_owned(), port: 10250 };
        assert_eq!(NodeEndpoint::of(&node(10250)), Some(endpoint));
        assert_eq!(NodeEndpoint::of(&node(0)), None);
        assert_eq!(NodeEndpoint::of(&json!({"status": {"addresses": addresses}})), None);
    }
}
