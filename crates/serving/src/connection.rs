//! One connection: TLS, the user, the HTTP version, and requests until either side closes it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bytes::Bytes;
use gantry_apiserver::{ApiServer, Body, PeerAddress};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use crate::activity::{Activity, IdleTimeouts, Pressure};
use crate::client_cert_verifier::{ClientCertificate, verify};
use crate::first_request_line::FirstRequestLine;
use crate::framing;
use crate::response_body::ResponseBody;
use crate::server::ConnectionLimits;
use crate::stop::Stop;
use crate::tls::Transport;
use crate::upgraded_stream;

#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) server: ApiServer,
    pub(crate) transport: Transport,
    pub(crate) limits: ConnectionLimits,
    pub(crate) stop: Stop,
    pub(crate) pressure: Pressure,
    /// The number of requests in progress.
    pub(crate) requests: Arc<AtomicUsize>,
}

/// A connection with or without TLS, as one type, so that hyper is compiled once.
type Stream = Either<TcpStream, TlsStream<TcpStream>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HttpVersion {
    Http1,
    Http2,
}

impl Connections {
    /// Serves one connection to its end.
    pub(crate) async fn serve(self: Arc<Self>, socket: TcpStream) {
        // Responses are written whole, so delaying them would gain nothing.
        let _ = socket.set_nodelay(true);
        let peer = socket.peer_addr().ok().map(|address| PeerAddress(address.ip()));
        match &self.transport {
            Transport::Plain => {
                self.serve_http(HttpVersion::Http1, Either::Left(socket), ClientCertificate::Nothing, peer)
                    .await;
            }
            Transport::Tls { config, clients } => {
                let (shaking, no_activity) =
                    (TlsAcceptor::from(Arc::clone(config)).accept(socket), Activity::default());
                let timeout = self.limits.handshake;
                let timeouts = IdleTimeouts { first: timeout, next: timeout };
                let shaken = tokio::select! {
                    shaken = shaking => shaken,
                    () = no_activity.is_idle(timeouts, &self.pressure) => {
                        return tracing::debug!("the TLS handshake of a client timed out");
                    }
                };
                let stream = match shaken {
                    Ok(stream) => stream,
                    Err(error) => return tracing::debug!(%error, "a TLS handshake failed"),
                };
                let (_, session) = stream.get_ref();
                let user = verify(&**clients, session.peer_certificates());
                let version = if session.alpn_protocol() == Some(b"h2") {
                    HttpVersion::Http2
                } else {
                    HttpVersion::Http1
                };
                self.serve_http(version, Either::Right(stream), user, peer).await;
            }
        }
    }

    async fn serve_http(
        &self,
        version: HttpVersion,
        stream: Stream,
        user: ClientCertificate,
        peer: Option<PeerAddress>,
    ) {
        let activity = Arc::new(Activity::counted_in(&self.requests));
        let counted = Arc::clone(&activity);
        let service = service_fn(move |mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            let (server, stop, user) = (self.server.clone(), self.stop.clone(), user.clone());
            let upgrade = request.extensions().get::<OnUpgrade>().cloned();
            let in_progress = counted.begin();
            // Boxed so that its memory is freed with the response: an HTTP/2 stream keeps the space of the future that it began
            // with until its body is read, and a client may have hundreds of streams that it does not read.
            Box::pin(async move {
                let mut response = if in_progress.exceeds_share() {
                    too_many_requests()
                } else {
                    answer(&server, user, request).await
                };
                upgraded_stream::detach(&mut response, upgrade, &stop);
                Ok::<_, Infallible>(response.map(|body| ResponseBody::new(body, &stop, in_progress)))
            })
        });
        let timeouts = IdleTimeouts { first: self.limits.first_request, next: self.limits.idle };
        let mut stop = self.stop.clone();
        let ending = async {
            tokio::select! {
                () = stop.wait() => Ending::Stopped,
                () = activity.is_idle(timeouts, &self.pressure) => Ending::Idle,
            }
        };
        // Both arms do the same, but hyper's two connections have no trait in common.
        let ended = match version {
            HttpVersion::Http1 => {
                let connection = http1(&self.limits)
                    .serve_connection(TokioIo::new(FirstRequestLine::new(stream)), service)
                    .with_upgrades();
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    ending = ending => {
                        connection.as_mut().graceful_shutdown();
                        ending.limit(connection).await
                    }
                }
            }
            HttpVersion::Http2 => {
                let connection = http2(&self.limits).serve_connection(TokioIo::new(stream), service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    ending = ending => {
                        connection.as_mut().graceful_shutdown();
                        ending.limit(connection).await
                    }
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection failed");
        }
    }
}

/// Why the server ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The server stops, which limits the time of all connections.
    Stopped,
    /// The connection is idle.
    Idle,
}

/// The time that a client has to close an idle connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

impl Ending {
    /// Awaits the end of a connection that was requested to end.
    async fn limit(self, connection: impl Future<Output = hyper::Result<()>>) -> hyper::Result<()> {
        match self {
            Self::Stopped => connection.await,
            Self::Idle => tokio::time::timeout(CLOSE_TIMEOUT, connection).await.unwrap_or(Ok(())),
        }
    }
}

async fn answer(
    server: &ApiServer,
    user: ClientCertificate,
    mut request: Request<Incoming>,
) -> Response<Body> {
    if let Some(rejection) = framing::rejection(request.version(), request.headers()) {
        return rejection;
    }
    match user {
        ClientCertificate::Nothing => {}
        ClientCertificate::User(user) => {
            request.extensions_mut().insert(user);
        }
        ClientCertificate::Unverified(unverified) => {
            request.extensions_mut().insert(unverified);
        }
    }
    server.serve(request).await
}

/// The response on a connection that has too many requests in progress.
fn too_many_requests() -> Response<Body> {
    let message = "This connection has too many requests in progress, please try again later.\n";
    let mut response = Response::new(Body::Whole(Some(Bytes::from_static(message.as_bytes()))));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn http1(limits: &ConnectionLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.idle).max_buf_size(BUFFER_BYTES);
    builder
}

fn http2(limits: &ConnectionLimits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .keep_alive_interval(limits.ping_every)
        .keep_alive_timeout(limits.ping_timeout)
        .max_header_list_size(HEADER_BYTES)
        .max_send_buf_size(BUFFER_BYTES)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
    builder
}

/// The maximum size of the head of a request, and of a single read or write.
const BUFFER_BYTES: usize = 64 << 10;
const HEADER_BYTES: u32 = 64 << 10;
/// Large enough for most bodies, so that their senders need not wait.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
/// The number of bytes that all requests of a connection may send before any of them is read.
const CONNECTION_WINDOW_BYTES: u32 = 1 << 20;
