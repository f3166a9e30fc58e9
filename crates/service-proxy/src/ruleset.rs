//! The routing of connections to Services on a node, independent of nftables.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use gantry_model::{EndpointSlice, IpFamily};

use crate::endpoints::{Backend, BackendState, ProxyNode, backends};
use crate::health_checks::HealthCheck;
use crate::port_spec::{PortSpec, Protocol, TrafficPolicy};
use crate::selection::{Selection, select};

/// The routing of connections to Services on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ruleset {
    /// The routes of connections to these addresses and ports.
    pub(crate) destinations: BTreeMap<(IpAddr, Protocol, u16), Route>,
    /// The routes of connections to these ports of the node's own addresses, by family.
    pub(crate) node_ports: BTreeMap<(Family, Protocol, u16), Route>,
    /// The endpoints between which connections are balanced.
    pub(crate) groups: BTreeMap<GroupId, Group>,
    /// The endpoints of UDP ports that would respond, including those that get no new clients.
    pub(crate) serving: BTreeMap<(Family, String), BTreeSet<SocketAddr>>,
    /// All cluster IPs: connections to other ports of them are rejected.
    pub(crate) cluster_ips: BTreeSet<IpAddr>,
    /// The health checks that are served to load balancers at these ports of the node.
    pub(crate) health_checks: BTreeMap<u16, HealthCheck>,
}

/// A family of addresses, in the order of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    V4,
    V6,
}

/// The route of a new connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// It is sent to one of these endpoints.
    Group(GroupId),
    /// It is from outside: the route depends on the client.
    External(External),
    /// It is rejected, because there is no endpoint anywhere.
    Reject,
    /// It is dropped, because no endpoint is on this node.
    Drop,
}

/// The route of a connection to an address that is not a cluster IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct External {
    /// The Service's port.
    pub(crate) port: String,
    /// The networks of clients that are served; empty for all.
    pub(crate) sources: Vec<String>,
    /// `Cluster`: all connections are masqueraded, so that responses come back here. `Local`: only those of the node itself.
    pub(crate) policy: TrafficPolicy,
    /// The endpoints of masqueraded connections.
    pub(crate) masqueraded: Option<GroupId>,
    /// The endpoints of connections of others with the policy `Local`, which preserves the client's address.
    pub(crate) local: Option<GroupId>,
}

/// The name of a group: a port of a Service, and whether the endpoints are limited to this node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId {
    pub(crate) family: Family,
    pub(crate) is_local: bool,
    pub(crate) port: String,
}

/// Endpoints between which connections are balanced; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) protocol: Protocol,
    pub(crate) endpoints: Vec<SocketAddr>,
    /// How long a client is bound to its endpoint.
    pub(crate) affinity: Option<Duration>,
}

impl Family {
    pub(crate) const ALL: [Self; 2] = [Self::V4, Self::V6];

    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    fn slices(self) -> IpFamily {
        match self {
            Self::V4 => IpFamily::V4,
            Self::V6 => IpFamily::V6,
        }
    }
}

impl Ruleset {
    /// Computes the routing of a node from the ports of all Services and their EndpointSlices.
    pub(crate) fn compute<'a>(
        ports: impl Iterator<Item = (PortSpec, Vec<&'a EndpointSlice>)>,
        node: &ProxyNode,
    ) -> Self {
        let mut rules = Self::default();
        for (spec, slices) in ports {
            rules.cluster_ips.extend(&spec.cluster_ips);
            for family in Family::ALL {
                let of_family =
                    slices.iter().copied().filter(|slice| slice.content.family == Some(family.slices()));
                let own = node.own_services.get(&(spec.namespace.clone(), spec.service.clone()));
                let found = backends(&spec, of_family, node);
                rules.add_health_check(&spec, &found);
                if spec.protocol == Protocol::Udp {
                    let serving = found
                        .iter()
                        .filter(|backend| backend.state != BackendState::NotServing)
                        .map(|it| it.address);
                    let serving = serving.chain(own.copied()).collect();
                    rules.serving.insert((family, spec.id()), serving);
                }
                let selection = match own.filter(|address| Family::of(address.ip()) == family) {
                    Some(address) => Selection { cluster: vec![*address], local: vec![*address] },
                    None => select(&found, node),
                };
                rules.add(&spec, family, &selection);
            }
        }
        rules
    }

    /// Whether a Service routes to a loopback address, as that of an API server may.
    pub(crate) fn uses_loopback(&self) -> bool {
        self.groups.values().flat_map(|group| &group.endpoints).any(|endpoint| endpoint.ip().is_loopback())
    }

    fn add_health_check(&mut self, spec: &PortSpec, backends: &[Backend]) {
        let Some(port) = spec.health_check_port else { return };
        let (namespace, service) = (spec.namespace.clone(), spec.service.clone());
        let check = self.health_checks.entry(port).or_insert_with(|| HealthCheck {
            namespace,
            service,
            local: BTreeSet::new(),
        });
        let ready = backends.iter().filter(|it| it.is_local && it.state == BackendState::Ready);
        check.local.extend(ready.map(|backend| backend.address.ip()));
    }

    fn add(&mut self, spec: &PortSpec, family: Family, selection: &Selection) {
        let addresses = |all: &[IpAddr]| -> Vec<IpAddr> {
            all.iter().copied().filter(|ip| Family::of(*ip) == family).collect()
        };
        let cluster_ips = addresses(&spec.cluster_ips);
        if cluster_ips.is_empty() {
            return;
        }
        let has_any = !selection.cluster.is_empty() || !selection.local.is_empty();
        let internal = match spec.internal {
            _ if !has_any => Route::Reject,
            TrafficPolicy::Cluster => {
                self.group(spec, family, selection, false).map_or(Route::Reject, Route::Group)
            }
            TrafficPolicy::Local => {
                self.group(spec, family, selection, true).map_or(Route::Drop, Route::Group)
            }
        };
        for ip in cluster_ips {
            self.destinations.insert((ip, spec.protocol, spec.port), internal.clone());
        }
        if !spec.is_external() {
            return;
        }
        let external = if has_any { self.external(spec, family, selection) } else { Route::Reject };
        for ip in addresses(&spec.external_ips) {
            self.destinations.insert((ip, spec.protocol, spec.port), external.clone());
        }
        for ip in addresses(&spec.load_balancer_ips) {
            self.destinations
                .insert((ip, spec.protocol, spec.port), external.limited_to(&spec.source_ranges));
        }
        if let Some(port) = spec.node_port {
            self.node_ports.insert((family, spec.protocol, port), external);
        }
    }

    fn external(&mut self, spec: &PortSpec, family: Family, selection: &Selection) -> Route {
        let masqueraded = self.group(spec, family, selection, false);
        let local = match spec.external {
            TrafficPolicy::Cluster => None,
            TrafficPolicy::Local => self.group(spec, family, selection, true),
        };
        Route::External(External {
            port: spec.id(),
            sources: Vec::new(),
            policy: spec.external,
            masqueraded,
            local,
        })
    }

    /// Adds the endpoints of a port, or those on this node; `None` if there are none.
    fn group(
        &mut self,
        spec: &PortSpec,
        family: Family,
        selection: &Selection,
        is_local: bool,
    ) -> Option<GroupId> {
        let endpoints = if is_local { &selection.local } else { &selection.cluster };
        if endpoints.is_empty() {
            return None;
        }
        let id = GroupId { family, is_local, port: spec.id() };
        let group = Group { protocol: spec.protocol, endpoints: endpoints.clone(), affinity: spec.affinity };
        self.groups.insert(id.clone(), group);
        Some(id)
    }
}

impl Route {
    /// Limits an external route to clients of these networks.
    fn limited_to(&self, sources: &[String]) -> Self {
        match self {
            Self::External(external) => {
                Self::External(External { sources: sources.to_vec(), ..external.clone() })
            }
            other => other.clone(),
        }
    }
}
