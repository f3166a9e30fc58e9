//! From sockets to the API server: connections, TLS, certificates, kubeconfigs, and the system environment.
//!
//! ```text
//! socket ─► TLS (client certificate) ─► HTTP/1.1 or HTTP/2 ─► ApiServer::serve ─► a response, or a watch
//! ```
//!
//! [`Pki`] creates and stores the certificates, [`kubeconfig`] writes them for clients, [`Listener`] serves until it
//! is stopped, [`KubeletConnector`] connects to the agents of nodes,
//! [`ProxyConnector`] to the servers of pods, and [`SystemEnvironment`] is the real clock and randomness.
//!
//! *Invariant:* this crate has no objects. The meaning of requests and their authorization belong to the API
//! server; here only the user of a client certificate is determined.

mod activity;
mod certificate_user;
mod client_cert_verifier;
mod connection;
mod file;
mod file_descriptors;
mod first_request_line;
mod framing;
pub mod kubeconfig;
mod kubelet_connector;
mod pki;
mod proxy_connector;
mod response_body;
mod runtime;
mod server;
mod stop;
mod system_environment;
mod tls;
mod upgraded_stream;
mod upstream;

pub use file_descriptors::raise_limit as raise_file_descriptor_limit;
pub use kubelet_connector::KubeletConnector;
pub use pki::{Certified, Pki, PkiError, ServerNames};
pub use proxy_connector::ProxyConnector;
pub use runtime::{ConnectionRuntime, build_runtime};
pub use server::{ConnectionLimits, Listener};
pub use stop::{Stop, Stopper};
pub use system_environment::SystemEnvironment;
pub use tls::{Transport, TransportError};
