//! One connection: TLS, the user, the HTTP version, and requests until either side closes it.

use std::convert::Infallible;
use std::sync::Arc;

use gantry_apiserver::ApiServer;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::client_cert_verifier::{ClientCertificate, verify};
use crate::first_request_line::FirstRequestLine;
use crate::response_body::ResponseBody;
use crate::server::ConnectionLimits;
use crate::stop::Stop;
use crate::tls::Transport;

#[derive(Clone, Debug)]
pub(crate) struct Connections {
    pub(crate) server: ApiServer,
    pub(crate) transport: Transport,
    pub(crate) limits: ConnectionLimits,
    pub(crate) stop: Stop,
}

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
        match &self.transport {
            Transport::Plain => self.serve_http(HttpVersion::Http1, socket, ClientCertificate::Nothing).await,
            Transport::Tls { config, clients } => {
                let shaking = TlsAcceptor::from(Arc::clone(config)).accept(socket);
                let stream = match tokio::time::timeout(self.limits.handshake, shaking).await {
                    Ok(Ok(stream)) => stream,
                    Ok(Err(error)) => return tracing::debug!(%error, "no TLS handshake"),
                    Err(_) => return tracing::debug!("a client took too long over its TLS handshake"),
                };
                let (_, session) = stream.get_ref();
                let user = verify(&**clients, session.peer_certificates());
                let version = if session.alpn_protocol() == Some(b"h2") {
                    HttpVersion::Http2
                } else {
                    HttpVersion::Http1
                };
                self.serve_http(version, stream, user).await;
            }
        }
    }

    async fn serve_http<S>(&self, version: HttpVersion, stream: S, user: ClientCertificate)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(move |request| {
            let (server, stop, user) = (self.server.clone(), self.stop.clone(), user.clone());
            async move { Ok::<_, Infallible>(answer(&server, &stop, user, request).await) }
        });
        let mut stop = self.stop.clone();
        // Both arms look alike, but hyper's two connections have no trait in common.
        let ended = match version {
            HttpVersion::Http1 => {
                let connection = http1(&self.limits)
                    .serve_connection(TokioIo::new(FirstRequestLine::new(stream)), service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = stop.wait() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                }
            }
            HttpVersion::Http2 => {
                let connection = http2(&self.limits).serve_connection(TokioIo::new(stream), service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = stop.wait() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke off");
        }
    }
}

async fn answer(
    server: &ApiServer,
    stop: &Stop,
    user: ClientCertificate,
    mut request: Request<Incoming>,
) -> Response<ResponseBody> {
    match user {
        ClientCertificate::Nothing => {}
        ClientCertificate::User(user) => {
            request.extensions_mut().insert(user);
        }
        ClientCertificate::Unverified(unverified) => {
            request.extensions_mut().insert(unverified);
        }
    }
    server.serve(request).await.map(|body| ResponseBody::new(body, stop))
}

fn http1(limits: &ConnectionLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.idle);
    builder
}

fn http2(limits: &ConnectionLimits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .keep_alive_interval(limits.ping_every)
        .keep_alive_timeout(limits.ping_timeout)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
    builder
}

/// Most bodies fit, so that their senders need not wait.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
/// What all requests of a connection may send before any of it is read: four bodies of the largest size.
const CONNECTION_WINDOW_BYTES: u32 = 12 << 20;
