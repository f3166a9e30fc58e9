//! The errors of starting a cluster.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use gantry_nodes::InvalidOptions;
use gantry_serving::{PkiError, TransportError};
use gantry_store_embedded::OpenError;

/// Why a cluster did not start.
#[derive(Debug)]
pub enum StartError {
    /// Invalid options for nodes.
    Nodes(InvalidOptions),
    /// The address cannot be served on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The directory cannot be opened.
    Directory(OpenError),
    /// There are no certificates.
    Certificates(PkiError),
    /// The certificates cannot be used.
    Tls(TransportError),
    /// The store fails.
    Store(String),
    /// A component failed before the cluster was ready.
    Failed(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(error) => error.fmt(f),
            Self::Listen { address, .. } => write!(f, "cannot listen on {address}"),
            Self::Directory(error) => error.fmt(f),
            Self::Certificates(error) => error.fmt(f),
            Self::Tls(error) => error.fmt(f),
            Self::Store(message) => write!(f, "the store does not work: {message}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { source, .. } => Some(source),
            // These are printed as they are, so their own sources come next.
            Self::Directory(error) => error.source(),
            Self::Certificates(error) => error.source(),
            Self::Tls(error) => error.source(),
            Self::Nodes(_) | Self::Store(_) | Self::Failed(_) => None,
        }
    }
}
