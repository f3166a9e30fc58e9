//! The endpoints of a kubelet over HTTPS: health, metrics, statistics, pods, logs, exec, attach, port-forward.
//!
//! Clients have a certificate of the cluster's authority or a token, and must be allowed to use the subresources of the node,
//! as the API server is.

mod access;
mod log_lines;
mod log_stream;
mod routes;
mod stats;
mod streams;

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use gantry_model::Timestamp;
use gantry_nodes::CachedPod;
use gantry_runtime::{Api, Informer, Metrics, Shutdown};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

pub use log_lines::LogSelection;

use crate::agent::Agent;
use access::ClientUser;

/// The port of kubelets.
const PORT: u16 = 10250;

/// The body of a response.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A socket with its certificates.
pub(crate) struct Listener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

/// The state for serving requests.
#[derive(Debug)]
pub(crate) struct NodeServer {
    pub(crate) agent: Arc<Agent>,
    pub(crate) pods: Informer<CachedPod>,
    pub(crate) api: Api,
    pub(crate) metrics: Metrics,
    /// The time that all CPUs were busy at the last measurement, and the time of that.
    pub(crate) last_cpu: Mutex<Option<(Timestamp, u64)>>,
}

impl Listener {
    /// Binds the socket of a node with this address. `authorities` sign the certificates of clients.
    pub(crate) async fn bind(address: &str, port: Option<u16>, authorities: &str) -> Result<Self, String> {
        let ip: IpAddr = address.parse().map_err(|_| format!("{address:?} is not the address of a node"))?;
        let wanted = port.unwrap_or(PORT);
        let listener = match TcpListener::bind((ip, wanted)).await {
            Ok(listener) => listener,
            Err(_) if port.is_none() => TcpListener::bind((ip, 0))
                .await
                .map_err(|error| format!("cannot listen on {address}: {error}"))?,
            Err(error) => return Err(format!("cannot listen on {address}:{wanted}: {error}")),
        };
        let config = tls(address, authorities)?;
        Ok(Self { listener, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Returns its port.
    pub(crate) fn port(&self) -> Option<u16> {
        self.listener.local_addr().ok().map(|address| address.port())
    }

    /// Serves until shutdown.
    pub(crate) async fn serve(self, server: Arc<NodeServer>, shutdown: Shutdown) {
        loop {
            let accepted = tokio::select! {
                () = shutdown.wait() => return,
                accepted = self.listener.accept() => accepted,
            };
            if let Ok((stream, _)) = accepted {
                tokio::spawn(serve_connection(
                    self.acceptor.clone(),
                    stream,
                    server.clone(),
                    shutdown.clone(),
                ));
            }
        }
    }
}

async fn serve_connection(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    server: Arc<NodeServer>,
    shutdown: Shutdown,
) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let certificates = stream.get_ref().1.peer_certificates();
    let user = certificates.and_then(|chain| ClientUser::of_certificate(chain.first()?));
    let service = service_fn(move |request: Request<Incoming>| {
        let (server, user) = (server.clone(), user.clone());
        async move { Ok::<Response<Body>, Infallible>(server.handle(request, user).await) }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A response may take as long as the client reads it.
    let _ = shutdown.unless(connection.with_upgrades()).await;
}

/// Returns the TLS settings: the certificate of the server, and the authorities of client certificates.
fn tls(address: &str, authorities: &str) -> Result<rustls::ServerConfig, String> {
    let text = |error: &dyn std::fmt::Display| format!("cannot prepare the agent's certificates: {error}");
    let own = rcgen::generate_simple_self_signed([address.to_owned()]).map_err(|error| text(&error))?;
    let certificate = own.cert.der().clone();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).map_err(|error| text(&error))?;
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities.as_bytes()) {
        let authority = authority.map_err(|error| text(&error))?;
        roots.add(authority).map_err(|error| text(&error))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .allow_unauthenticated()
        .build()
        .map_err(|error| text(&error))?;
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)
        .map_err(|error| text(&error))
}
