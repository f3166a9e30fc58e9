//! The configuration of a connection: address, verification of the server, credentials.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, Uri};

use super::credentials::RequestCredentials;

/// How a server is reached.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The address.
    pub server: Uri,
    /// The namespace of requests that name none.
    pub default_namespace: String,
    /// How the certificate of the server is verified.
    pub trust: ServerTrust,
    /// The name that the certificate of the server must have, if not the host of the address.
    pub tls_server_name: Option<String>,
    /// The client certificate.
    pub identity: Option<ClientIdentity>,
    /// The credentials in each request.
    pub credentials: RequestCredentials,
    /// Added to each request.
    pub headers: HeaderMap,
    /// How long opening a connection may take.
    pub connect_timeout: Option<Duration>,
    /// How long a response may take, and how long it may pause.
    pub read_timeout: Option<Duration>,
    /// How long sending may pause.
    pub write_timeout: Option<Duration>,
}

/// How the certificate of a server is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// By the certificate authorities of the operating system.
    System,
    /// By these certificate authorities, in PEM.
    CertificateAuthorities(String),
    /// Not at all.
    Unverified,
}

/// A client certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The certificate chain, in PEM.
    pub certificate: Vec<u8>,
    /// The private key, in PEM.
    pub key: Vec<u8>,
}

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub(super) String);

impl ServerTrust {
    /// The certificate authorities, in PEM, if they are configured.
    pub fn certificate_authorities(&self) -> Option<&str> {
        match self {
            Self::CertificateAuthorities(pem) => Some(pem),
            Self::System | Self::Unverified => None,
        }
    }
}

/// How long opening a connection may take, unless configured.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

impl ClientConfig {
    /// A configuration without credentials.
    pub fn new(server: Uri) -> Self {
        Self {
            server,
            default_namespace: "default".to_owned(),
            trust: ServerTrust::System,
            tls_server_name: None,
            identity: None,
            credentials: RequestCredentials::Anonymous,
            headers: HeaderMap::new(),
            connect_timeout: Some(CONNECT_TIMEOUT),
            read_timeout: None,
            write_timeout: None,
        }
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientIdentity")
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}
