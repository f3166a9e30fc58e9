//! Connections to pods, services and nodes. The server makes none: it rejects them after validating the request.

use gantry_json::Value;
use gantry_registry::pods;
use http::Method;
use http::header::{CONNECTION, LOCATION};

use super::super::call::Call;
use crate::error::ApiError;
use crate::objects::ObjectRef;
use crate::response::ApiResponse;

impl Call<'_> {
    /// `exec`, `attach` and `portforward`, which upgrade the connection.
    pub(super) async fn stream(&self, part: &str) -> Result<ApiResponse, ApiError> {
        let pod = self.server.objects.get(self.object_ref()).await?;
        let name = self.object_ref().name;
        if part != "portforward" {
            pods::container(&pod, self.info.query.first("container").unwrap_or_default())?;
        }
        let Some(node) = pods::node(&pod) else {
            return Err(ApiError::bad_request(format!("pod {name} does not have a host assigned")));
        };
        self.check_node(node).await?;
        let connection = self.info.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
        if !connection.into_iter().any(|words| words.to_lowercase().contains("upgrade")) {
            return Err(ApiError::bad_request("Upgrade request required"));
        }
        let message = format!("{part} of pod {name} is not supported: no node agent answers for node {node}");
        Err(ApiError::NotImplemented(message))
    }

    /// `proxy`, for all methods and paths.
    pub(super) async fn proxy(&self) -> Result<ApiResponse, ApiError> {
        let ProxyTarget { name, .. } =
            ProxyTarget::parse(self.object_ref().name).ok_or_else(|| self.invalid_target())?;
        let object_ref = ObjectRef { kind: self.kind, namespace: self.namespace, name };
        let object = self.server.objects.get(object_ref).await?;
        match self.kind.resource {
            "pods" if !is_routable(&object) => return Err(ApiError::bad_request("address not allowed")),
            "services" => {
                return Err(ApiError::Unavailable(format!("no endpoints available for service \"{name}\"")));
            }
            _ => {}
        }
        let path = self.info.uri.path();
        if path.ends_with("/proxy") && matches!(*self.info.method, Method::GET | Method::HEAD) {
            // Relative links of the page need the trailing slash.
            let query = self.info.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            return Ok(ApiResponse::text(301, "").with(LOCATION, format!("{path}/{query}")));
        }
        Err(ApiError::Unavailable(
            "error trying to reach service: this server makes no connections".to_owned(),
        ))
    }

    fn invalid_target(&self) -> ApiError {
        ApiError::bad_request(format!(
            "invalid {} request \"{}\"",
            self.kind.singular,
            self.object_ref().name
        ))
    }
}

/// The target of a proxy request: `name`, `name:port` or `scheme:name:port`.
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
}

/// Whether the pod has an address that may be connected to.
fn is_routable(pod: &Value) -> bool {
    let address = pod["status"]["podIP"].as_str().unwrap_or_default().parse::<std::net::IpAddr>();
    address.is_ok_and(|address| match address {
        std::net::IpAddr::V4(address) => {
            !(address.is_unspecified()
                || address.is_loopback()
                || address.is_multicast()
                || address.is_link_local()
                || address.is_broadcast())
        }
        std::net::IpAddr::V6(address) => {
            !(address.is_unspecified()
                || address.is_loopback()
                || address.is_multicast()
                || address.is_unicast_link_local())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::ProxyTarget;

    /// 8.5: a port and a scheme may be given with the pod's name.
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
