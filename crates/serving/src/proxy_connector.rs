//! Connections to the servers of pods and nodes, for proxied requests: plain, or TLS without credentials.

use std::fmt;
use std::sync::Arc;

use gantry_apiserver::{Body, NodeError, ProxyDestination, ProxyTransport, RequestStream};
use gantry_client::{ClientConfig, ServerTrust};
use http::{Request, Response, Uri};
use tokio_rustls::TlsConnector;

use crate::tls::TransportError;
use crate::upstream;

/// Connects to the destinations of proxied requests that need no credentials of ours.
#[derive(Clone)]
pub struct ProxyConnector(TlsConnector);

impl ProxyConnector {
    /// A connector.
    pub fn new() -> Result<Self, TransportError> {
        let config = ClientConfig { trust: ServerTrust::Unverified, ..ClientConfig::new(Uri::default()) };
        let tls = config.tls().map_err(TransportError::Client)?;
        Ok(Self(TlsConnector::from(Arc::new(tls))))
    }

    /// Sends a request. After `101 Switching Protocols`, its client and the destination are connected with each other.
    pub async fn send(
        &self,
        destination: &ProxyDestination,
        request: Request<RequestStream>,
    ) -> Result<Response<Body>, NodeError> {
        let address = upstream::Address::proxied(destination);
        match destination.transport {
            ProxyTransport::Http => upstream::send(address, request).await,
            ProxyTransport::Https => upstream::send_over_tls(&self.0, address, request).await,
            ProxyTransport::Kubelet => Err(NodeError::NoAgent),
        }
    }
}

impl fmt::Debug for ProxyConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyConnector")
    }
}
