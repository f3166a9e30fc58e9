//! Which UDP flows lead to a removed endpoint. The kernel keeps the route of each client's first packet for as long as
//! the client sends packets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::port_spec::Protocol;
use crate::ruleset::{Family, Route, Ruleset};

/// The possible destinations of UDP packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UdpRoutes {
    destinations: BTreeMap<SocketAddr, BTreeSet<SocketAddr>>,
    node_ports: BTreeMap<(Family, u16), BTreeSet<SocketAddr>>,
}

impl UdpRoutes {
    pub(crate) fn of(rules: &Ruleset) -> Self {
        let serving = |family: Family, route: &Route| {
            let port = match route {
                Route::Group(id) => &id.port,
                Route::External(external) => &external.port,
                Route::Reject | Route::Drop => return BTreeSet::new(),
            };
            rules.serving.get(&(family, port.clone())).cloned().unwrap_or_default()
        };
        let mut routes = Self::default();
        for ((ip, protocol, port), route) in &rules.destinations {
            if *protocol == Protocol::Udp {
                let endpoints = serving(Family::of(*ip), route);
                routes.destinations.insert(SocketAddr::new(*ip, *port), endpoints);
            }
        }
        for ((family, protocol, port), route) in &rules.node_ports {
            if *protocol == Protocol::Udp {
                routes.node_ports.insert((*family, *port), serving(*family, route));
            }
        }
        routes
    }

    /// Whether packets that were sent to a Service get replies from an address that is not one of its endpoints.
    pub(crate) fn is_stale(&self, sent_to: SocketAddr, reply_from: SocketAddr) -> bool {
        let of_node = || self.node_ports.get(&(Family::of(sent_to.ip()), sent_to.port()));
        let endpoints = self.destinations.get(&sent_to).or_else(of_node);
        endpoints.is_some_and(|endpoints| !endpoints.contains(&reply_from))
    }

    /// Returns the address families of UDP Services.
    pub(crate) fn families(&self) -> BTreeSet<Family> {
        let of_destinations = self.destinations.keys().map(SocketAddr::ip).map(Family::of);
        of_destinations.chain(self.node_ports.keys().map(|(family, _)| *family)).collect()
    }
}

/// Returns an address of a flow.
pub(crate) fn address(ip: &[u8], port: &[u8]) -> Option<SocketAddr> {
    let ip = match ip.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(ip).ok()?),
        16 => IpAddr::from(<[u8; 16]>::try_from(ip).ok()?),
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_be_bytes(port.try_into().ok()?)))
}
