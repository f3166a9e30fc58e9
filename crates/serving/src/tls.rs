//! TLS with certificates on both sides, or, for development, plain HTTP.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};

use crate::client_cert_verifier::AcceptAnyClientCert;
use crate::pki::Pki;

/// The transport of connections.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TLS; a certificate of our CA authenticates its user.
    Tls {
        /// The server's certificate, and the request for client certificates.
        config: Arc<ServerConfig>,
        /// Verifies client certificates with our CA.
        clients: Arc<dyn ClientCertVerifier>,
    },
    /// Plain HTTP/1.1, for development on loopback.
    Plain,
}

/// Why certificates cannot be used.
#[derive(Debug)]
pub enum TransportError {
    /// A PEM text has no certificate or key.
    Pem(pem::Error),
    /// The CA cannot verify clients.
    AcceptAnyClientCert(VerifierBuilderError),
    /// rustls rejects the configuration.
    Tls(rustls::Error),
    /// The certificate cannot be used as a client's.
    Client(gantry_client::ConfigError),
}

impl Transport {
    /// TLS with these certificates, with HTTP/2 or HTTP/1.1, as the client prefers.
    pub fn tls(pki: &Pki) -> Result<Self, TransportError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let authority = certificate(&pki.authority)?;
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone()).map_err(TransportError::Tls)?;
        // A client without a certificate may have a token, or be anonymous.
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(TransportError::AcceptAnyClientCert)?;
        let key = PrivateKeyDer::from_pem_slice(pki.server.key.as_bytes()).map_err(TransportError::Pem)?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TransportError::Tls)?
            .with_client_cert_verifier(Arc::new(AcceptAnyClientCert::of(Arc::clone(&clients))))
            .with_single_cert(vec![certificate(&pki.server.certificate)?], key)
            .map_err(TransportError::Tls)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().map_err(TransportError::Tls)?;
        Ok(Self::Tls { config: Arc::new(config), clients })
    }

    /// The URL scheme.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Tls { .. } => "https",
            Self::Plain => "http",
        }
    }
}

fn certificate(text: &str) -> Result<CertificateDer<'static>, TransportError> {
    CertificateDer::from_pem_slice(text.as_bytes()).map_err(TransportError::Pem)
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pem(_) => "a certificate or key cannot be read",
            Self::AcceptAnyClientCert(_) => "the authority's certificate cannot verify clients",
            Self::Tls(_) | Self::Client(_) => "TLS does not work with these certificates",
        })
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Pem(error) => Some(error),
            Self::AcceptAnyClientCert(error) => Some(error),
            Self::Tls(error) => Some(error),
            Self::Client(error) => Some(error),
        }
    }
}
