//! The administrator's connections: with little overhead, so that the numbers are the server's.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A client.
pub(crate) struct Client {
    address: String,
    config: ClientConfig,
}

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    One,
    Two,
}

/// A connection.
pub(crate) enum Connection {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Client {
    /// The administrator of the server with this directory.
    pub(crate) fn of(directory: &Path, address: &str) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let file = |name: &str| directory.join("pki").join(name);
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(file("ca.crt")).unwrap()).unwrap();
        let certificate = CertificateDer::from_pem_file(file("admin.crt")).unwrap();
        let key = PrivateKeyDer::from_pem_file(file("admin.key")).unwrap();
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config =
            config.with_root_certificates(roots).with_client_auth_cert(vec![certificate], key).unwrap();
        Self { address: address.to_owned(), config }
    }

    pub(crate) async fn sender(&self, kind: Sender) -> Connection {
        let mut config = self.config.clone();
        config.alpn_protocols = vec![if kind == Sender::One { b"http/1.1".to_vec() } else { b"h2".to_vec() }];
        let socket = TcpStream::connect(&self.address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap();
        match kind {
            Sender::One => {
                let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
                tokio::spawn(connection);
                Connection::One(sender)
            }
            Sender::Two => {
                let executor = TokioExecutor::new();
                let (sender, connection) = http2::handshake(executor, TokioIo::new(stream)).await.unwrap();
                tokio::spawn(connection);
                Connection::Two(sender)
            }
        }
    }

    /// Opens so many HTTP/1.1 connections.
    pub(crate) async fn senders(&self, count: usize) -> Vec<Connection> {
        let mut senders = Vec::new();
        for _ in 0..count {
            senders.push(self.sender(Sender::One).await);
        }
        senders
    }
}

impl Connection {
    /// Sends a request and reads the whole response; returns its status and its length.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: impl Into<Bytes>) -> (u16, usize) {
        let response = self.begin(method, path, body).await;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.unwrap().into_data().map_or(0, |data| data.len());
        }
        (status, length)
    }

    /// Sends a request and returns the head of the response.
    pub(crate) async fn begin(
        &mut self,
        method: &str,
        path: &str,
        body: impl Into<Bytes>,
    ) -> http::Response<Incoming> {
        let request = http::Request::builder().method(method).header("content-type", "application/json");
        let body = Full::new(body.into());
        match self {
            Self::One(sender) => {
                sender.ready().await.unwrap();
                let request = request.uri(path).header("host", "localhost").body(body).unwrap();
                sender.send_request(request).await.unwrap()
            }
            Self::Two(sender) => {
                sender.ready().await.unwrap();
                let request = request.uri(format!("https://localhost{path}")).body(body).unwrap();
                sender.send_request(request).await.unwrap()
            }
        }
    }
}
