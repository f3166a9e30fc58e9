//! Selects the endpoints that get connections: ready ones, near ones if hints request it, and those that are being
//! deleted if there are no others.

use std::net::SocketAddr;

use crate::endpoints::{Backend, BackendState, ProxyNode};

/// The endpoints that get connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// With the policy `Cluster`.
    pub(crate) cluster: Vec<SocketAddr>,
    /// With the policy `Local`: those of this node.
    pub(crate) local: Vec<SocketAddr>,
}

/// Selects the endpoints that get connections.
pub(crate) fn select(backends: &[Backend], node: &ProxyNode) -> Selection {
    let near: Vec<&Backend> =
        backends.iter().filter(|backend| backend.state == BackendState::Ready).collect();
    let near = by_hints(near, node);
    let cluster =
        if near.is_empty() { serving_terminating(backends.iter()) } else { addresses(near.into_iter()) };
    let of_node = || backends.iter().filter(|backend| backend.is_local);
    let ready = addresses(of_node().filter(|backend| backend.state == BackendState::Ready));
    let local = if ready.is_empty() { serving_terminating(of_node()) } else { ready };
    Selection { cluster, local }
}

/// Keeps the ready endpoints that hints name for this node, or for its zone. Hints count only if all endpoints have them and
/// at least one is named.
fn by_hints<'a>(ready: Vec<&'a Backend>, node: &ProxyNode) -> Vec<&'a Backend> {
    let for_node = |backend: &&'a Backend| backend.nodes.contains(&node.name);
    if ready.iter().all(|backend| !backend.nodes.is_empty()) && ready.iter().any(&for_node) {
        return ready.into_iter().filter(for_node).collect();
    }
    let Some(zone) = &node.zone else { return ready };
    let for_zone = |backend: &&'a Backend| backend.zones.contains(zone);
    if ready.iter().all(|backend| !backend.zones.is_empty()) && ready.iter().any(&for_zone) {
        return ready.into_iter().filter(for_zone).collect();
    }
    ready
}

fn serving_terminating<'a>(backends: impl Iterator<Item = &'a Backend>) -> Vec<SocketAddr> {
    addresses(backends.filter(|backend| backend.state == BackendState::Terminating))
}

fn addresses<'a>(backends: impl Iterator<Item = &'a Backend>) -> Vec<SocketAddr> {
    backends.map(|backend| backend.address).collect()
}
