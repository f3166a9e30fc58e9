//! Endpoints: all addresses of the pods that serve a Service, in one object of the Service's name.
//!
//! ```text
//! pods ─► an address and its ports each ─► repack: by sets of addresses, by ports ─► in order ─► truncate ─► compare
//! ```
//!
//! An object that is up to date is not written.

mod repack;
mod truncate;

use gantry_model::{
    Annotations, ClusterIp, EndpointAddress, Endpoints, EndpointsDraft, Event, IpFamily, Labels, Name, Pod,
    Service, Timestamp, keys,
};

use crate::services::{addresses_of, hostname_of, is_endpoint, ports_of, target_of, write_trigger_time};
use repack::Repack;

pub(crate) use repack::repack;

/// The source of the events.
pub const EVENT_SOURCE: &str = "endpoint-controller";
/// The value of the label `endpoints.kubernetes.io/managed-by`.
const MANAGER: &str = "endpoint-controller";

/// The input of a decision about the Endpoints of a Service.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The Service.
    pub service: &'a Service,
    /// The pods that it selects.
    pub pods: &'a [&'a Pod],
    /// Its Endpoints, if they exist.
    pub current: Option<&'a Endpoints>,
    /// When the change that triggered the sync happened.
    pub triggered: Option<Timestamp>,
}

/// The decision about the Endpoints of a Service.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// They are up to date.
    Nothing,
    /// Create them.
    Create(EndpointsDraft),
    /// Replace the content of the existing ones.
    Update(EndpointsDraft),
}

/// Decides about the Endpoints of one Service.
pub fn decide(observed: &Observed<'_>) -> Decision {
    let Observed { service, pods, current, triggered } = observed;
    let mut repack = Repack::default();
    for pod in pods.iter().filter(|pod| is_endpoint(pod, service.publish_not_ready)) {
        let Some(address) = address_of(service, pod) else { continue };
        let is_ready = service.publish_not_ready || pod.is_ready();
        if service.ports.is_empty() {
            // A headless service need not have any; the API refuses every other one without.
            repack.add(&address, is_ready, None);
        }
        for port in ports_of(service, pod) {
            repack.add(&address, is_ready, Some(port));
        }
    }
    let mut subsets = repack.finish();
    let is_truncated = truncate::truncate(&mut subsets);
    let labels = labels_of(service);
    if let Some(current) = current {
        let was_truncated = current.meta.annotations.contains_key(keys::OVER_CAPACITY);
        if current.subsets == subsets && current.meta.labels == labels && was_truncated == is_truncated {
            return Decision::Nothing;
        }
    }
    let mut annotations = current.map_or_else(Annotations::new, |current| current.meta.annotations.clone());
    write_trigger_time(&mut annotations, *triggered);
    if is_truncated {
        annotations.insert(keys::OVER_CAPACITY.to_owned(), "truncated".to_owned());
    } else {
        annotations.remove(keys::OVER_CAPACITY);
    }
    let (namespace, name) = (service.meta.namespace.clone(), service.meta.name.clone());
    let draft = EndpointsDraft { namespace, name, labels, annotations, subsets };
    if current.is_some() { Decision::Update(draft) } else { Decision::Create(draft) }
}

/// Whether an Endpoints object is the lock of an old leader election, which needs no Service of its name.
pub fn is_lock(endpoints: &Endpoints) -> bool {
    endpoints.meta.annotations.contains_key(keys::LEADER)
}

/// The event about Endpoints that could not be written.
pub fn failed(draft: &EndpointsDraft, is_new: bool, why: &str) -> Event {
    let EndpointsDraft { namespace, name, .. } = draft;
    if is_new {
        let message = format!("Failed to create endpoint for service {namespace}/{name}: {why}");
        Event::warning("FailedToCreateEndpoint", message)
    } else {
        Event::warning(
            "FailedToUpdateEndpoint",
            format!("Failed to update endpoint {namespace}/{name}: {why}"),
        )
    }
}

/// The address by which a pod serves: its first one of the first family of the Service.
fn address_of(service: &Service, pod: &Pod) -> Option<EndpointAddress> {
    let own = pod.network.ips.first().map(|ip| IpFamily::of(ip));
    let family = match (service.families.first(), &service.cluster_ip) {
        (Some(family), _) => *family,
        (None, ClusterIp::Address(address)) => IpFamily::of(address),
        (None, _) => own?,
    };
    Some(EndpointAddress {
        ip: addresses_of(pod, family).into_iter().next()?,
        hostname: hostname_of(service, pod),
        // A pod without a node gets an empty node name, which the API refuses, as on Kubernetes.
        node: Some(pod.node.clone().unwrap_or_else(|| Name::from(""))),
        target: Some(target_of(pod)),
    })
}

fn labels_of(service: &Service) -> Labels {
    let mut labels = service.meta.labels.clone();
    if service.has_address() {
        labels.remove(keys::HEADLESS);
    } else {
        labels.insert(keys::HEADLESS.to_owned(), String::new());
    }
    labels.insert(keys::ENDPOINTS_MANAGED_BY.to_owned(), MANAGER.to_owned());
    labels
}
