//! Connections to the agents of nodes, as the API server makes them: TLS with a client certificate of the cluster.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::{Body, NodeEndpoint, NodeError, ProxyDestination, RequestStream};
use gantry_client::{ClientConfig, ClientIdentity, ServerTrust};
use http::{Request, Response, Uri, header};
use tokio_rustls::TlsConnector;

use crate::pki::Pki;
use crate::tls::TransportError;
use crate::upstream;

/// How long an agent may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to kubelets, and to agents with the API of a kubelet.
///
/// The certificates of kubelets are not verified, as in Kubernetes unless configured: most are self-signed. Kubelets
/// verify ours.
#[derive(Clone)]
pub struct KubeletConnector(TlsConnector);

impl KubeletConnector {
    /// A connector with a client certificate of this authority.
    pub fn new(pki: &Pki) -> Result<Self, TransportError> {
        let (certificate, key) = (pki.admin.certificate.clone(), pki.admin.key.clone());
        let config = ClientConfig {
            trust: ServerTrust::Unverified,
            identity: Some(ClientIdentity { certificate: certificate.into(), key: key.into() }),
            ..ClientConfig::new(Uri::default())
        };
        let tls = config.tls().map_err(TransportError::Client)?;
        Ok(Self(TlsConnector::from(Arc::new(tls))))
    }

    /// Sends a request without a body. After `101 Switching Protocols`, its client and the agent are connected with each other.
    pub async fn send(
        &self,
        endpoint: &NodeEndpoint,
        mut request: Request<()>,
    ) -> Result<Response<Body>, String> {
        let host = header::HeaderValue::from_str(&endpoint.host).map_err(|error| error.to_string())?;
        request.headers_mut().insert(header::HOST, host);
        let NodeEndpoint { host, port } = endpoint;
        let failed = |error: NodeError| match error {
            NodeError::Failed(why) => format!("cannot connect to the node at {host}:{port}: {why}"),
            NodeError::NoAgent | NodeError::AddressNotAllowed => {
                format!("the node at {host}:{port} cannot be reached")
            }
        };
        let address = upstream::Address { host, port: *port, timeout: CONNECT_TIMEOUT, only_global: false };
        let response =
            upstream::send_over_tls(&self.0, address, request.map(|()| RequestStream::empty())).await;
        response.map_err(failed)
    }

    /// Sends a proxied request.
    pub async fn proxy(
        &self,
        destination: &ProxyDestination,
        request: Request<RequestStream>,
    ) -> Result<Response<Body>, NodeError> {
        upstream::send_over_tls(&self.0, upstream::Address::proxied(destination), request).await
    }
}

impl fmt::Debug for KubeletConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KubeletConnector")
    }
}
