//! The destination of a proxied request: `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT` of a pod, a service or a node.

use std::net::IpAddr;

use gantry_json::Value;
use gantry_registry::pods;
use gantry_schema::kinds::{Kind, kinds};
use gantry_store::ListRequest;

use super::super::call::Call;
use crate::error::ApiError;
use crate::node_connector::{NodeEndpoint, ProxyDestination, ProxyTransport, is_global_unicast};
use crate::objects::{ObjectRef, Objects};
use crate::storage_codec;

/// The label by which an EndpointSlice belongs to a service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// The target of a proxied request, as in the path.
#[derive(Debug, PartialEq, Eq)]
struct ProxyTarget<'a> {
    scheme: &'a str,
    name: &'a str,
    port: &'a str,
}

impl<'a> ProxyTarget<'a> {
    fn parse(id: &'a str) -> Option<Self> {
        let words: Vec<_> = id.split(':').collect();
        match words.as_slice() {
            [name] => Some(Self { scheme: "", name, port: "" }),
            [name, port] => Some(Self { scheme: "", name, port }),
            [scheme @ ("" | "http" | "https"), name, port] => Some(Self { scheme, name, port }),
            _ => None,
        }
        .filter(|id| !id.name.is_empty())
    }

    fn transport(&self) -> ProxyTransport {
        if self.scheme == "https" { ProxyTransport::Https } else { ProxyTransport::Http }
    }

    /// The destination at this address.
    fn at(&self, host: &str, port: &str) -> Result<ProxyDestination, ApiError> {
        let transport = self.transport();
        let port = match (port, transport) {
            ("", ProxyTransport::Http) => 80,
            ("", ProxyTransport::Https | ProxyTransport::Kubelet) => 443,
            (number, _) => parse_port(number)?,
        };
        Ok(ProxyDestination { transport, host: host.to_owned(), port })
    }
}

/// Parses the number of a port. Names of ports of pods and nodes are not looked up.
fn parse_port(text: &str) -> Result<u16, ApiError> {
    text.parse().map_err(|_| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number {
            format!("address {text}: invalid port")
        } else {
            format!("lookup tcp/{text}: unknown port")
        };
        ApiError::Unavailable(format!("error trying to reach service: dial tcp: {why}"))
    })
}

impl Call<'_> {
    /// Returns the destination of the request.
    pub(super) async fn location(&self) -> Result<ProxyDestination, ApiError> {
        let id = self.object_ref().name;
        let target = ProxyTarget::parse(id).ok_or_else(|| {
            ApiError::bad_request(format!("invalid {} request \"{id}\"", self.kind.singular))
        })?;
        match self.kind.resource {
            "pods" => self.pod_location(&target).await,
            "services" => self.service_location(&target).await,
            _ => self.node_location(&target).await,
        }
    }

    async fn pod_location(&self, target: &ProxyTarget<'_>) -> Result<ProxyDestination, ApiError> {
        let pod = self.server.objects.get(self.object_ref_of(target.name)).await?;
        let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
        let mut ports = containers.filter_map(|container| container["ports"][0]["containerPort"].as_u64());
        let port = match (target.port, ports.next()) {
            ("", Some(port)) => port.to_string(),
            (port, _) => port.to_owned(),
        };
        let host = pod["status"]["podIP"].as_str().unwrap_or_default();
        if !is_allowed(host) {
            return Err(ApiError::bad_request("address not allowed"));
        }
        self.check_agent(&pod).await?;
        target.at(host, &port)
    }

    async fn service_location(&self, target: &ProxyTarget<'_>) -> Result<ProxyDestination, ApiError> {
        let name = target.name;
        let port_name = match target.port.parse::<i64>() {
            Ok(number) => {
                let service = self.server.objects.get(self.object_ref_of(name)).await?;
                let mut ports = service["spec"]["ports"].as_array().into_iter().flatten();
                let port = ports.find(|port| port["port"].as_i64() == Some(number));
                let port = port.ok_or_else(|| {
                    ApiError::Unavailable(format!("no service port {number} found for service \"{name}\""))
                })?;
                port["name"].as_str().unwrap_or_default().to_owned()
            }
            Err(_) => target.port.to_owned(),
        };
        for (host, port, endpoint) in self.ready_endpoints(name, &port_name).await? {
            // Only addresses of pods are connected to, regardless of the addresses in a slice.
            if let Some(pod) = self.pod_of_endpoint(&endpoint, &host).await?
                && is_allowed(&host)
            {
                self.check_agent(&pod).await?;
                return target.at(&host, &port.to_string());
            }
        }
        Err(ApiError::Unavailable(format!("no endpoints available for service \"{name}\"")))
    }

    /// The ready endpoints of a service that serve a port, in random order.
    async fn ready_endpoints(
        &self,
        service: &str,
        port: &str,
    ) -> Result<Vec<(String, u64, Value)>, ApiError> {
        let kind = kind_of("discovery.k8s.io", "endpointslices")?;
        let all = ListRequest::all(Objects::prefix(kind, self.namespace));
        let page = self.server.objects.store.list(all).await?;
        let mut found = Vec::new();
        for item in &page.items {
            let labels = storage_codec::decode_labels(kind, &item.value, item.revision)?;
            if labels["metadata"]["labels"][SERVICE_NAME] != *service {
                continue;
            }
            let slice = storage_codec::decode(kind, &item.value, item.revision)?;
            let ports = slice["ports"].as_array().into_iter().flatten();
            let mut ports = ports.filter(|found| found["name"].as_str().unwrap_or_default() == port);
            let Some(number) = ports.find_map(|port| port["port"].as_u64()) else { continue };
            for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
                let is_ready = endpoint["conditions"]["ready"].as_bool().unwrap_or(true);
                if let (true, Some(host)) = (is_ready, endpoint["addresses"][0].as_str()) {
                    found.push((host.to_owned(), number, endpoint.clone()));
                }
            }
        }
        let start = random_index(&self.server.environment.uid(), found.len());
        found.rotate_left(start);
        // IPv4 first; the sort is stable.
        found.sort_by_key(|(host, ..)| host.contains(':'));
        Ok(found)
    }

    /// The pod that an endpoint refers to, if it has this address.
    async fn pod_of_endpoint(&self, endpoint: &Value, host: &str) -> Result<Option<Value>, ApiError> {
        let target = &endpoint["targetRef"];
        let (Some(name), true) = (target["name"].as_str(), target["namespace"].as_str() == self.namespace)
        else {
            return Ok(None);
        };
        let pod = ObjectRef { kind: kind_of("", "pods")?, namespace: self.namespace, name };
        match self.server.objects.get(pod).await {
            Ok(pod) => {
                let mut addresses = pod["status"]["podIPs"].as_array().into_iter().flatten();
                Ok(addresses.any(|address| address["ip"] == *host).then_some(pod))
            }
            Err(ApiError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn node_location(&self, target: &ProxyTarget<'_>) -> Result<ProxyDestination, ApiError> {
        let node = self.server.objects.get(self.object_ref_of(target.name)).await?;
        if node["status"]["addresses"].as_array().is_none_or(Vec::is_empty) {
            let message = "no preferred addresses found; known addresses: []";
            return Err(ApiError::Unclassified(message.to_owned()));
        }
        let endpoint = NodeEndpoint::of(&node).ok_or_else(|| no_agent(target.name))?;
        // A name is resolved, and its addresses checked, when connecting.
        if endpoint.host.parse::<IpAddr>().is_ok_and(|address| !is_global_unicast(address)) {
            return Err(ApiError::bad_request("address not allowed"));
        }
        if target.port.is_empty() || target.port == endpoint.port.to_string() {
            let NodeEndpoint { host, port } = endpoint;
            return Ok(ProxyDestination { transport: ProxyTransport::Kubelet, host, port });
        }
        target.at(&endpoint.host, target.port)
    }

    /// Returns 503 if the pod's node is simulated: its pods have no network.
    async fn check_agent(&self, pod: &Value) -> Result<(), ApiError> {
        let Some(name) = pods::node(pod) else { return Ok(()) };
        let node = ObjectRef { kind: kind_of("", "nodes")?, namespace: None, name };
        match self.server.objects.get(node).await {
            Ok(node) if NodeEndpoint::of(&node).is_none() => Err(no_agent(name)),
            Ok(_) | Err(ApiError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn no_agent(node: &str) -> ApiError {
    ApiError::Unavailable(format!(
        "error trying to reach service: no node agent answers for node {node}; pods of simulated nodes have no network"
    ))
}

fn kind_of(group: &str, resource: &str) -> Result<&'static Kind, ApiError> {
    kinds().resource(group, "v1", resource).ok_or(ApiError::ResourceNotFound)
}

fn is_allowed(host: &str) -> bool {
    host.parse().is_ok_and(is_global_unicast)
}

/// A random index below `length`, from the digits of a random uid.
fn random_index(uid: &str, length: usize) -> usize {
    let digits = uid.bytes().filter(u8::is_ascii_hexdigit).take(8);
    let number =
        digits.fold(0_usize, |number, digit| number.wrapping_mul(31).wrapping_add(usize::from(digit)));
    number.checked_rem(length).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::ProxyTarget;

    /// A§8.5: a port and a scheme may be given with the pod's name.
    #[test]
    fn a_proxy_target_may_have_port_and_scheme() {
        let id = |text| ProxyTarget::parse(text).map(|id| (id.scheme, id.name, id.port));
        assert_eq!(id("web"), Some(("", "web", "")));
        assert_eq!(id("web:8080"), Some(("", "web", "8080")));
        assert_eq!(id("https:web:443"), Some(("https", "web", "443")));
        assert_eq!(id("ftp:web:21"), None);
        assert_eq!(id(":80"), None);
    }
}
