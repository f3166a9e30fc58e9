//! A server on a free loopback port, and clients that send bytes or whole requests.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gantry_apiserver::{Access, ApiServer, Settings, StaticToken};
use gantry_registry::access::User;
use gantry_serving::{
    Certified, ConnectionLimits, Listener, Pki, ServerNames, Stopper, SystemEnvironment, Transport,
};
use gantry_store::Store;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) pki: Pki,
    stopper: Stopper,
    serving: JoinHandle<()>,
}

pub(crate) type Sender1 = http1::SendRequest<Full<Bytes>>;
pub(crate) type Sender2 = http2::SendRequest<Full<Bytes>>;

impl Running {
    /// A server with these limits.
    pub(crate) async fn with(limits: ConnectionLimits) -> Self {
        Self::over(Arc::new(MemoryStore::new(HistoryLimits::default())), limits).await
    }

    /// A server over this store.
    pub(crate) async fn over(store: Arc<dyn Store>, limits: ConnectionLimits) -> Self {
        Self::started(store, Settings::default(), limits).await
    }

    /// A server with these settings and limits.
    pub(crate) async fn with_settings(settings: Settings, limits: ConnectionLimits) -> Self {
        Self::started(Arc::new(MemoryStore::new(HistoryLimits::default())), settings, limits).await
    }

    async fn started(store: Arc<dyn Store>, settings: Settings, limits: ConnectionLimits) -> Self {
        let access = Access { tokens: vec![known()], ..Access::rbac() };
        let server = ApiServer::new(store, Arc::new(SystemEnvironment), Settings { access, ..settings });
        server.prepare().await.expect("the store is empty and works");
        let pki = Pki::in_memory(&ServerNames::default()).unwrap();
        let listener = Listener::on("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let (stopper, stop) = Stopper::new();
        let transport = Transport::tls(&pki).unwrap();
        let serving = tokio::spawn(listener.serve(server, transport, limits, stop));
        Self { address, pki, stopper, serving }
    }

    /// Stops the server; returns how long it took.
    pub(crate) async fn stop(self) -> Duration {
        let started = tokio::time::Instant::now();
        self.stopper.stop();
        self.serving.await.expect("the server does not panic");
        started.elapsed()
    }

    /// A TLS connection with this protocol and certificate.
    pub(crate) async fn tls(
        &self,
        protocol: &str,
        user: Option<&Certified>,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pki.authority.as_bytes()).unwrap()).unwrap();
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots);
        let mut config = match user {
            None => config.with_no_client_auth(),
            Some(user) => {
                let certificate = CertificateDer::from_pem_slice(user.certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(user.key.as_bytes()).unwrap();
                config.with_client_auth_cert(vec![certificate], key).unwrap()
            }
        };
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let socket = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, socket).await
    }

    /// The administrator over HTTP/1.1.
    pub(crate) async fn http1(&self) -> Sender1 {
        let stream = self.tls("http/1.1", Some(&self.pki.admin)).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender
    }

    /// The administrator over HTTP/2.
    pub(crate) async fn http2(&self) -> Sender2 {
        let stream = self.tls("h2", Some(&self.pki.admin)).await.unwrap();
        let executor = TokioExecutor::new();
        let (sender, connection) = http2::handshake(executor, TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender
    }
}

/// The user of the token `known`.
fn known() -> StaticToken {
    StaticToken { token: "known".to_owned(), user: User { name: "known".to_owned(), ..User::default() } }
}

/// A request for this path with this body.
pub(crate) fn request(method: &str, path: &str, body: impl Into<Bytes>) -> http::Request<Full<Bytes>> {
    let uri = format!("https://localhost{path}");
    let request = http::Request::builder().method(method).uri(uri).header("host", "localhost");
    request.header("content-type", "application/json").body(Full::new(body.into())).unwrap()
}

/// The body of a response.
pub(crate) async fn body(response: http::Response<Incoming>) -> Bytes {
    http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes()
}

/// The body of a response, as JSON.
pub(crate) async fn json(response: http::Response<Incoming>) -> gantry_json::Value {
    gantry_json::from_slice(&body(response).await).unwrap()
}
