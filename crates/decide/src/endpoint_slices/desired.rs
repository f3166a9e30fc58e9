//! The endpoints that a Service should have, by the ports that they offer.

use std::collections::BTreeMap;

use gantry_model::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, IpFamily, Name, Pod, Service};

use super::Observed;
use crate::services::{addresses_of, discovery_port, hash, hostname_of, is_endpoint, ports_of, target_of};

/// The identity of an endpoint: addresses, name in DNS, and the object that it refers to.
pub(super) type EndpointKey = (Vec<String>, Option<String>, Option<(String, Name)>);
/// Endpoints that offer the same ports.
pub(super) type Endpoints = BTreeMap<EndpointKey, Endpoint>;

/// The endpoints of one family of addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Desired {
    /// By ports, which are in Kubernetes' order.
    pub(super) by_ports: BTreeMap<Vec<EndpointPort>, Endpoints>,
    /// Messages about pods that are left out because their node does not exist.
    pub(super) skipped: Vec<String>,
}

/// Finds the endpoints of one family of addresses.
pub(super) fn desired(observed: &Observed<'_>, family: IpFamily) -> Desired {
    let Observed { service, pods, zones, .. } = observed;
    let mut desired = Desired::default();
    for pod in pods.iter().filter(|pod| is_endpoint(pod, true)) {
        let group = desired.by_ports.entry(in_order(ports_of(service, pod))).or_default();
        let zone = pod.node.as_ref().and_then(|node| zones.get(node));
        if zone.is_none() && !service.publish_not_ready {
            let node = pod.node.as_ref().map_or("", |node| node.as_str());
            desired.skipped.push(format!(
                "skipping Pod {} for Service {}: Node {node} Not Found",
                pod.meta.name,
                service.meta.key()
            ));
            continue;
        }
        let endpoint = endpoint(service, pod, family, zone.cloned().flatten());
        if !endpoint.addresses.is_empty() {
            group.insert(key_of(&endpoint), endpoint);
        }
    }
    desired
}

/// Ports in the order in which Kubernetes writes them, so that equal sets of ports are equal lists.
pub(super) fn in_order(mut ports: Vec<EndpointPort>) -> Vec<EndpointPort> {
    ports.sort_by_cached_key(|port| hash(&format!("(v1.EndpointPort){}", discovery_port(port))));
    ports
}

/// The key by which an endpoint is found in a slice.
pub(super) fn key_of(endpoint: &Endpoint) -> EndpointKey {
    let mut addresses = endpoint.addresses.clone();
    addresses.sort();
    let target = endpoint.target.as_ref().map(|target| (target.namespace.to_string(), target.name.clone()));
    (addresses, endpoint.hostname.clone(), target)
}

fn endpoint(service: &Service, pod: &Pod, family: IpFamily, zone: Option<String>) -> Endpoint {
    let (serving, terminating) = (pod.is_ready(), pod.meta.is_deleting());
    let ready = service.publish_not_ready || (serving && !terminating);
    Endpoint {
        addresses: addresses_of(pod, family),
        conditions: EndpointConditions {
            ready: Some(ready),
            serving: Some(serving),
            terminating: Some(terminating),
        },
        hostname: hostname_of(service, pod),
        node: pod.node.clone(),
        zone,
        target: Some(target_of(pod)),
        hints: EndpointHints::default(),
    }
}
