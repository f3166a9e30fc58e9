//! The common part of the controllers of Endpoints and of EndpointSlices: which pods serve a Service, and where.

mod go_hash;
mod memory;
mod trigger_time;
pub mod triggers;

pub(crate) use go_hash::{core_port, discovery_port, hash};
pub use memory::Memory;
pub use trigger_time::TriggerTimes;
pub(crate) use trigger_time::write_trigger_time;

use gantry_model::{
    ClusterIp, ContainerPort, EndpointPort, EndpointTarget, IpFamily, Pod, Service, ServicePort, TargetPort,
};

/// How many Services are synced concurrently; Kubernetes' number.
pub const WORKERS: usize = 5;

/// Whether endpoints are computed for a Service.
pub fn is_managed(service: &Service) -> bool {
    !service.is_external_name && service.selector.is_some()
}

/// Whether a pod can be an endpoint: it has an address and has not ended. The caller decides whether terminating pods
/// count.
pub(crate) fn is_endpoint(pod: &Pod, with_terminating: bool) -> bool {
    !pod.phase.is_finished() && !pod.network.ips.is_empty() && (with_terminating || !pod.meta.is_deleting())
}

/// The families of addresses that a Service has endpoints of.
pub(crate) fn families(service: &Service) -> Vec<IpFamily> {
    if !service.families.is_empty() {
        return service.families.clone();
    }
    match &service.cluster_ip {
        ClusterIp::Address(address) => vec![IpFamily::of(address)],
        // A headless service of an old server may have endpoints of both.
        ClusterIp::Headless | ClusterIp::Unset => vec![IpFamily::V4, IpFamily::V6],
    }
}

/// The addresses of a pod that belong to this family.
pub(crate) fn addresses_of(pod: &Pod, family: IpFamily) -> Vec<String> {
    pod.network.ips.iter().filter(|ip| IpFamily::of(ip) == family).cloned().collect()
}

/// The ports of a pod by which it serves a Service; a port that it does not have is left out.
pub(crate) fn ports_of(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let found = |port: &ServicePort| {
        Some(EndpointPort {
            name: port.name.clone(),
            port: Some(number_of(port, pod)?),
            protocol: port.protocol.clone(),
            app_protocol: port.app_protocol.clone(),
        })
    };
    service.ports.iter().filter_map(found).collect()
}

/// The number of the container port that a port of a Service refers to.
fn number_of(port: &ServicePort, pod: &Pod) -> Option<i32> {
    match &port.target {
        TargetPort::Number(number) => Some(*number),
        TargetPort::Name(name) => {
            let is_meant =
                |declared: &&ContainerPort| declared.name == *name && declared.protocol == port.protocol;
            pod.network.ports.iter().find(is_meant).map(|declared| declared.number)
        }
    }
}

/// The name of a pod in DNS, if it has one under this Service.
pub(crate) fn hostname_of(service: &Service, pod: &Pod) -> Option<String> {
    let is_under = pod.network.subdomain.as_deref() == Some(service.meta.name.as_str());
    pod.network.hostname.clone().filter(|_| is_under)
}

/// A pod as the target of an endpoint.
pub(crate) fn target_of(pod: &Pod) -> EndpointTarget {
    EndpointTarget {
        kind: "Pod".to_owned(),
        namespace: pod.meta.namespace.clone(),
        name: pod.meta.name.clone(),
        uid: pod.meta.uid.clone(),
    }
}
