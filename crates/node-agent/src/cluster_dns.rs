//! The DNS servers of pods, and the node's own server of the cluster's names.
//!
//! The cluster's server is the Service `kube-dns` in `kube-system`, by convention. If it does not exist, the agent
//! creates it, without endpoints: on each node the service proxy routes its address to the node's own server, so that
//! only pods of the node can reach the server. A Service of another DNS server (CoreDNS) is used as it is.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use gantry_cluster_dns::{DnsOptions, DnsServer};
use gantry_json::{Value, json};
use gantry_model::RefusalKind;
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, NoneIf as _, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use crate::options::AgentOptions;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "kube-dns";
/// The label and the value by which the agent recognizes its own Service.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "gantry");
/// The port of the node's own server; if it is taken, any free port.
const PORT: u16 = 10_053;

/// The DNS servers of a node's pods.
#[derive(Debug)]
pub(crate) struct ClusterDns {
    /// The addresses that pods use; empty for those of the node.
    pub(crate) servers: Vec<String>,
    /// The server that this node runs.
    pub(crate) own_server: Option<DnsServer>,
}

impl ClusterDns {
    /// Finds the cluster's DNS server, or prepares one on this node. Failures are logged, and pods run without it.
    pub(crate) async fn prepare(api: &Api, options: &AgentOptions, upstreams: &[String]) -> Self {
        if !options.cluster_dns.is_empty() {
            return Self { servers: options.cluster_dns.clone(), own_server: None };
        }
        let nothing = Self { servers: Vec::new(), own_server: None };
        let can_serve = options.dns_server && options.service_proxy && {
            let checked = gantry_service_proxy::check().await;
            checked
                .inspect_err(|why| tracing::error!("pods use the DNS servers of this machine: {why}"))
                .is_ok()
        };
        let service = match find_or_create(api, can_serve).await {
            Ok(Some(service)) => service,
            Ok(None) => return nothing,
            Err(failure) => {
                tracing::error!(%failure, "pods use the DNS servers of this machine: there is no Service kube-dns");
                return nothing;
            }
        };
        let address = service.spec.as_ref().and_then(|spec| spec.cluster_ip.clone()).unwrap_or_default();
        let Ok(ip) = address.parse::<IpAddr>() else { return nothing };
        if !is_own(&service) {
            return Self { servers: vec![address], own_server: None };
        }
        if !can_serve {
            return nothing;
        }
        let server =
            DnsOptions { domain: options.cluster_domain.clone(), address: ip, upstreams: upstreams.to_vec() };
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
        match DnsServer::bind(local, server, &options.informers).await {
            Ok(server) => Self { servers: vec![address], own_server: Some(server) },
            Err(error) => {
                tracing::error!(%error, "pods use the DNS servers of this machine: no port is free");
                nothing
            }
        }
    }
}

/// Returns the Service that the node's own server serves, with the server's address.
pub(crate) fn own_service(server: &DnsServer) -> Option<((String, String), SocketAddr)> {
    Some(((NAMESPACE.to_owned(), NAME.to_owned()), server.local_address().ok()?))
}

fn is_own(service: &core::Service) -> bool {
    let labels = service.metadata.labels.as_ref();
    labels.is_some_and(|labels| labels.get(MANAGED_BY.0).is_some_and(|value| value == MANAGED_BY.1))
}

/// Reads the Service of the cluster's DNS server; creates it if `may_create`.
async fn find_or_create(api: &Api, may_create: bool) -> Result<Option<core::Service>, RequestError> {
    let resource = resource_of::<core::Service>();
    let target = ResourcePath::object(&resource, Some(&NAMESPACE.into()), &NAME.into());
    let found = api.get::<core::Service>(&target).await.none_if_absent()?;
    if found.is_some() || !may_create {
        return Ok(found);
    }
    let first = ResourcePath::object(&resource, Some(&"default".into()), &"kubernetes".into());
    let first = api.get::<core::Service>(&first).await.ok().and_then(|service| service.spec?.cluster_ip);
    let usual = first.and_then(|ip| usual_address(&ip));
    let services = ResourcePath::collection(&resource, Some(&NAMESPACE.into()));
    let created = match api.create(&services, &object(usual)).await {
        // The address is taken, or not in the range of this cluster.
        Err(failure) if failure.kind() == RefusalKind::Invalid => api.create(&services, &object(None)).await,
        other => other,
    };
    match created {
        Ok(service) => Ok(Some(service)),
        // The agent of another node was faster.
        Err(failure) if failure.kind() == RefusalKind::AlreadyExists => {
            api.get::<core::Service>(&target).await.map(Some)
        }
        Err(failure) => Err(failure),
    }
}

/// Returns the tenth address of the range, as in other installations: nine after that of the Service `kubernetes`.
fn usual_address(first: &str) -> Option<Ipv4Addr> {
    let first: Ipv4Addr = first.parse().ok()?;
    first.to_bits().checked_add(9).map(Ipv4Addr::from_bits)
}

fn object(address: Option<Ipv4Addr>) -> Value {
    let mut labels = json!({"k8s-app": NAME});
    labels[MANAGED_BY.0] = json!(MANAGED_BY.1);
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
        "spec": {"ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ]},
    });
    if let Some(address) = address {
        service["spec"]["clusterIP"] = json!(address.to_string());
    }
    service
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_has_the_tenth_address_of_the_range() {
        assert_eq!(usual_address("10.96.0.1"), Some(Ipv4Addr::new(10, 96, 0, 10)));
        assert_eq!(usual_address("fd00::1"), None);
        assert_eq!(object(usual_address("10.96.0.1"))["spec"]["clusterIP"], "10.96.0.10");
    }

    #[test]
    fn another_dns_server_is_recognized() {
        let own = gantry_json::from_value(object(None)).unwrap();
        assert!(is_own(&own));
        let others = json!({"metadata": {"name": NAME, "labels": {"k8s-app": NAME}}});
        assert!(!is_own(&gantry_json::from_value(others).unwrap()));
    }
}
