//! Endpoints and EndpointSlices as the rules need them: the addresses of the pods of a Service.

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::discovery::v1 as discovery;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::draft::nonempty;
use crate::{Annotations, IpFamily, Labels, Meta, Name, Namespace, OwnerReference, ParseError, Uid};

/// An Endpoints object: all addresses of a Service, by the ports that they offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoints {
    /// Its metadata.
    pub meta: Meta,
    /// The addresses.
    pub subsets: Vec<EndpointSubset>,
}

/// Addresses that offer the same ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointSubset {
    /// The ready addresses.
    pub ready: Vec<EndpointAddress>,
    /// The addresses that are not ready.
    pub not_ready: Vec<EndpointAddress>,
    /// The ports.
    pub ports: Vec<EndpointPort>,
}

/// One address of an Endpoints object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointAddress {
    /// The address.
    pub ip: String,
    /// Its name in DNS.
    pub hostname: Option<String>,
    /// The node that it is on.
    pub node: Option<Name>,
    /// The object that it belongs to.
    pub target: Option<EndpointTarget>,
}

/// One port of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointPort {
    /// Its name; empty if the Service has only one.
    pub name: String,
    /// Its number; `None` is all ports.
    pub port: Option<i32>,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    /// Its application protocol, if the Service names one.
    pub app_protocol: Option<String>,
}

/// The object that an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointTarget {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: Name,
    /// Its identity.
    pub uid: Uid,
}

/// An EndpointSlice: some of the endpoints of a Service.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointSlice {
    /// Its metadata.
    pub meta: Meta,
    /// The endpoints and their ports.
    pub content: SliceContent,
}

/// The endpoints of an EndpointSlice, with their ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceContent {
    /// The family of all addresses; `None` if they are host names.
    pub family: Option<IpFamily>,
    /// The ports of all endpoints.
    pub ports: Vec<EndpointPort>,
    /// The endpoints.
    pub endpoints: Vec<Endpoint>,
}

/// One endpoint of an EndpointSlice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its addresses.
    pub addresses: Vec<String>,
    /// Its conditions.
    pub conditions: EndpointConditions,
    /// Its name in DNS.
    pub hostname: Option<String>,
    /// The node that it is on.
    pub node: Option<Name>,
    /// The zone of that node.
    pub zone: Option<String>,
    /// The object that it belongs to.
    pub target: Option<EndpointTarget>,
    /// Which clients should prefer it.
    pub hints: EndpointHints,
}

/// The conditions of an endpoint; `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointConditions {
    /// It should get traffic.
    pub ready: Option<bool>,
    /// It can serve requests, whether or not it is terminating.
    pub serving: Option<bool>,
    /// It is terminating.
    pub terminating: Option<bool>,
}

/// The location of the clients that should prefer an endpoint; empty if it does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointHints {
    /// In these zones.
    pub zones: Vec<String>,
    /// On these nodes.
    pub nodes: Vec<String>,
}

/// An Endpoints object to create, or the new state of an existing one.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointsDraft {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name, which is that of the Service.
    pub name: Name,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Annotations,
    /// The addresses.
    pub subsets: Vec<EndpointSubset>,
}

/// An EndpointSlice to create; the API server completes its name.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointSliceDraft {
    /// Its namespace.
    pub namespace: Namespace,
    /// The prefix of its name.
    pub generate_name: String,
    /// The Service it belongs to.
    pub owner: OwnerReference,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Annotations,
    /// The endpoints and their ports.
    pub content: SliceContent,
}

// === Endpoints ===

impl Endpoints {
    /// Parses an Endpoints object.
    pub fn parse(endpoints: core::Endpoints) -> Result<Self, ParseError> {
        let subsets = endpoints.subsets.into_iter().flatten();
        Ok(Self {
            meta: Meta::parse(endpoints.metadata)?,
            subsets: subsets.map(EndpointSubset::parse).collect(),
        })
    }
}

impl EndpointsDraft {
    /// The object in its wire format, to create it.
    pub fn render(&self) -> core::Endpoints {
        let metadata = ObjectMeta {
            namespace: Some(self.namespace.to_string()),
            name: Some(self.name.to_string()),
            ..ObjectMeta::default()
        };
        self.change(core::Endpoints { metadata, subsets: None })
    }

    /// The stored object with this content, to update it.
    pub fn change(&self, mut stored: core::Endpoints) -> core::Endpoints {
        stored.metadata.labels = nonempty(&self.labels);
        stored.metadata.annotations = nonempty(&self.annotations);
        stored.subsets = Some(self.subsets.iter().map(EndpointSubset::render).collect());
        stored
    }
}

impl EndpointSubset {
    fn parse(subset: core::EndpointSubset) -> Self {
        let addresses = |all: Option<Vec<_>>| all.into_iter().flatten().map(EndpointAddress::parse).collect();
        let port = |port: core::EndpointPort| EndpointPort {
            name: port.name.unwrap_or_default(),
            port: Some(port.port),
            protocol: port.protocol.unwrap_or_else(|| "TCP".to_owned()),
            app_protocol: port.app_protocol,
        };
        Self {
            ready: addresses(subset.addresses),
            not_ready: addresses(subset.not_ready_addresses),
            ports: subset.ports.into_iter().flatten().map(port).collect(),
        }
    }

    fn render(&self) -> core::EndpointSubset {
        let addresses = |all: &[EndpointAddress]| {
            (!all.is_empty()).then(|| all.iter().map(EndpointAddress::render).collect())
        };
        let port = |port: &EndpointPort| core::EndpointPort {
            name: (!port.name.is_empty()).then(|| port.name.clone()),
            port: port.port.unwrap_or(0),
            protocol: Some(port.protocol.clone()),
            app_protocol: port.app_protocol.clone(),
        };
        core::EndpointSubset {
            addresses: addresses(&self.ready),
            not_ready_addresses: addresses(&self.not_ready),
            ports: (!self.ports.is_empty()).then(|| self.ports.iter().map(port).collect()),
        }
    }
}

impl EndpointAddress {
    fn parse(address: core::EndpointAddress) -> Self {
        Self {
            ip: address.ip,
            hostname: address.hostname.filter(|name| !name.is_empty()),
            node: address.node_name.map(Name::from),
            target: address.target_ref.map(EndpointTarget::parse),
        }
    }

    fn render(&self) -> core::EndpointAddress {
        core::EndpointAddress {
            ip: self.ip.clone(),
            hostname: self.hostname.clone(),
            node_name: self.node.as_ref().map(Name::to_string),
            target_ref: self.target.as_ref().map(EndpointTarget::render),
        }
    }
}

impl EndpointTarget {
    fn parse(target: core::ObjectReference) -> Self {
        Self {
            kind: target.kind.unwrap_or_default(),
            namespace: target.namespace.unwrap_or_default().into(),
            name: target.name.unwrap_or_default().into(),
            uid: target.uid.unwrap_or_default().into(),
        }
    }

    fn render(&self) -> core::ObjectReference {
        core::ObjectReference {
            kind: Some(self.kind.clone()),
            namespace: Some(self.namespace.to_string()),
            name: Some(self.name.to_string()),
            uid: Some(self.uid.to_string()),
            ..core::ObjectReference::default()
        }
    }
}

// === EndpointSlices ===

impl EndpointSlice {
    /// Parses an EndpointSlice.
    pub fn parse(slice: discovery::EndpointSlice) -> Result<Self, ParseError> {
        let family = match slice.address_type.as_str() {
            "IPv4" => Some(IpFamily::V4),
            "IPv6" => Some(IpFamily::V6),
            _ => None,
        };
        let port = |port: discovery::EndpointPort| EndpointPort {
            name: port.name.unwrap_or_default(),
            port: port.port,
            protocol: port.protocol.unwrap_or_else(|| "TCP".to_owned()),
            app_protocol: port.app_protocol,
        };
        let content = SliceContent {
            family,
            ports: slice.ports.into_iter().flatten().map(port).collect(),
            endpoints: slice.endpoints.into_iter().flatten().map(Endpoint::parse).collect(),
        };
        Ok(Self { meta: Meta::parse(slice.metadata)?, content })
    }
}

impl EndpointSliceDraft {
    /// The object in its wire format, to create it.
    pub fn render(&self) -> discovery::EndpointSlice {
        let mut slice = discovery::EndpointSlice {
            metadata: ObjectMeta {
                namespace: Some(self.namespace.to_string()),
                generate_name: Some(self.generate_name.clone()),
                owner_references: Some(vec![self.owner.render()]),
                labels: nonempty(&self.labels),
                annotations: nonempty(&self.annotations),
                ..ObjectMeta::default()
            },
            ..discovery::EndpointSlice::default()
        };
        self.content.write(&mut slice);
        slice
    }
}

impl SliceContent {
    /// Writes endpoints and ports into a slice.
    pub fn write(&self, slice: &mut discovery::EndpointSlice) {
        let port = |port: &EndpointPort| discovery::EndpointPort {
            name: Some(port.name.clone()),
            port: port.port,
            protocol: Some(port.protocol.clone()),
            app_protocol: port.app_protocol.clone(),
        };
        if let Some(family) = self.family {
            family.as_str().clone_into(&mut slice.address_type);
        }
        slice.ports = Some(self.ports.iter().map(port).collect());
        slice.endpoints = Some(self.endpoints.iter().map(Endpoint::render).collect());
    }
}

impl Endpoint {
    fn parse(endpoint: discovery::Endpoint) -> Self {
        let conditions = endpoint.conditions.unwrap_or_default();
        let hints = endpoint.hints.unwrap_or_default();
        Self {
            addresses: endpoint.addresses,
            conditions: EndpointConditions {
                ready: conditions.ready,
                serving: conditions.serving,
                terminating: conditions.terminating,
            },
            hostname: endpoint.hostname.filter(|name| !name.is_empty()),
            node: endpoint.node_name.map(Name::from),
            zone: endpoint.zone,
            target: endpoint.target_ref.map(EndpointTarget::parse),
            hints: EndpointHints {
                zones: hints.for_zones.into_iter().flatten().map(|zone| zone.name).collect(),
                nodes: hints.for_nodes.into_iter().flatten().map(|node| node.name).collect(),
            },
        }
    }

    fn render(&self) -> discovery::Endpoint {
        let EndpointConditions { ready, serving, terminating } = self.conditions;
        discovery::Endpoint {
            addresses: self.addresses.clone(),
            conditions: Some(discovery::EndpointConditions { ready, serving, terminating }),
            hostname: self.hostname.clone(),
            node_name: self.node.as_ref().map(Name::to_string),
            zone: self.zone.clone(),
            target_ref: self.target.as_ref().map(EndpointTarget::render),
            hints: self.hints.render(),
            ..discovery::Endpoint::default()
        }
    }
}

impl EndpointHints {
    fn render(&self) -> Option<discovery::EndpointHints> {
        let zone = |name: &String| discovery::ForZone { name: name.clone() };
        let node = |name: &String| discovery::ForNode { name: name.clone() };
        (*self != Self::default()).then(|| discovery::EndpointHints {
            for_zones: (!self.zones.is_empty()).then(|| self.zones.iter().map(zone).collect()),
            for_nodes: (!self.nodes.is_empty()).then(|| self.nodes.iter().map(node).collect()),
        })
    }
}
