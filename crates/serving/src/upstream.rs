//! Requests that the API server sends to agents of nodes, and to pods. Messages are Go's where clients know them.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use gantry_apiserver::{Body, Chunks, NodeError, ProxyDestination, RequestStream, is_global_unicast};
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long the destination of a proxied request may take to accept a connection.
const PROXY_TIMEOUT: Duration = Duration::from_secs(30);

/// Where to connect to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) timeout: Duration,
    /// Whether addresses of this machine and its link are refused.
    pub(crate) only_global: bool,
}

impl<'a> Address<'a> {
    /// The address of a proxied request. Literal addresses were checked before; names are checked when they are resolved.
    pub(crate) fn proxied(destination: &'a ProxyDestination) -> Self {
        let ProxyDestination { host, port, .. } = destination;
        let only_global = host.parse::<std::net::IpAddr>().is_err();
        Self { host, port: *port, timeout: PROXY_TIMEOUT, only_global }
    }

    async fn connect(self) -> Result<TcpStream, NodeError> {
        let resolved = tokio::net::lookup_host((self.host, self.port)).await;
        let addresses: Vec<SocketAddr> = resolved
            .map_err(|error| NodeError::Failed(format!("dial tcp: lookup {}: {error}", self.host)))?
            .collect();
        if self.only_global && !addresses.iter().all(|address| is_global_unicast(address.ip())) {
            return Err(NodeError::AddressNotAllowed);
        }
        let stream = TcpStream::connect(&*addresses).await.map_err(|error| self.dial_error(&error))?;
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn dial_error(self, error: &io::Error) -> NodeError {
        let why = match error.kind() {
            io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
            io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
            io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
            io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
            _ => error.to_string(),
        };
        NodeError::Failed(format!("dial tcp {}: {why}", self.text()))
    }

    fn text(self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    async fn in_time<T>(
        self,
        connecting: impl Future<Output = Result<T, NodeError>>,
    ) -> Result<T, NodeError> {
        let timed_out = || NodeError::Failed(format!("dial tcp {}: i/o timeout", self.text()));
        tokio::time::timeout(self.timeout, connecting).await.map_err(|_| timed_out())?
    }
}

/// Sends a request over a plain connection.
pub(crate) async fn send(
    address: Address<'_>,
    request: Request<RequestStream>,
) -> Result<Response<Body>, NodeError> {
    exchange(address.in_time(address.connect()).await?, request).await
}

/// Sends a request over TLS.
pub(crate) async fn send_over_tls(
    tls: &TlsConnector,
    address: Address<'_>,
    request: Request<RequestStream>,
) -> Result<Response<Body>, NodeError> {
    let connecting = async {
        let name = ServerName::try_from(address.host.to_owned());
        let name = name.map_err(|error| NodeError::Failed(error.to_string()))?;
        let stream = address.connect().await?;
        tls.connect(name, stream).await.map_err(|error| NodeError::Failed(tls_error(&error)))
    };
    exchange(address.in_time(connecting).await?, request).await
}

fn tls_error(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidMessage(_)) => {
            "tls: first record does not look like a TLS handshake".to_owned()
        }
        _ => error.to_string(),
    }
}

async fn exchange<S>(stream: S, request: Request<RequestStream>) -> Result<Response<Body>, NodeError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let response = gantry_client::forward_with_body(stream, request).await.map_err(|error| {
        let text = if error.is_incomplete_message() { "EOF".to_owned() } else { Chain(&error).to_string() };
        NodeError::Failed(text)
    })?;
    let is_upgraded = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    Ok(response.map(|body| {
        if is_upgraded { Body::Whole(None) } else { Body::Stream(Box::pin(IncomingChunks::new(body))) }
    }))
}

/// An error with its causes.
struct Chain<'a>(&'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        self.0.source().map_or(Ok(()), |cause| write!(f, ": {}", Chain(cause)))
    }
}

/// The body of a response.
struct IncomingChunks {
    body: Incoming,
    is_broken_off: bool,
}

impl IncomingChunks {
    fn new(body: Incoming) -> Self {
        Self { body, is_broken_off: false }
    }
}

impl Chunks for IncomingChunks {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Err(_)) => {
                    self.is_broken_off = true;
                    return Poll::Ready(None);
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(data));
                    }
                }
            }
        }
    }

    fn remaining(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }
}
