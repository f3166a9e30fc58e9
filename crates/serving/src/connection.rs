//! One connection: who is at the other end, what is spoken, and requests until either side has had enough.

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

use crate::clients::{Shown, shown};
use crate::lenient::Lenient;
use crate::listening::Limits;
use crate::served::Served;
use crate::stop::Stop;
use crate::tls::Transport;

/// What all connections have in common.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    pub(crate) server: ApiServer,
    pub(crate) transport: Transport,
    pub(crate) limits: Limits,
    pub(crate) stop: Stop,
}

/// The version of HTTP that a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoken {
    Http1,
    Http2,
}

impl Connections {
    /// Serves one connection to its end.
    pub(crate) async fn serve(self: Arc<Self>, socket: TcpStream) {
        // An answer that waits for more to say would wait in vain.
        let _ = socket.set_nodelay(true);
        match &self.transport {
            Transport::Plain => self.speak(Spoken::Http1, socket, Shown::Nothing).await,
            Transport::Tls { config, clients } => {
                let shaking = TlsAcceptor::from(Arc::clone(config)).accept(socket);
                let stream = match tokio::time::timeout(self.limits.handshake, shaking).await {
                    Ok(Ok(stream)) => stream,
                    Ok(Err(error)) => return tracing::debug!(%error, "no TLS handshake"),
                    Err(_) => return tracing::debug!("a client took too long over its TLS handshake"),
                };
                let (_, session) = stream.get_ref();
                let user = shown(&**clients, session.peer_certificates());
                let spoken =
                    if session.alpn_protocol() == Some(b"h2") { Spoken::Http2 } else { Spoken::Http1 };
                self.speak(spoken, stream, user).await;
            }
        }
    }

    async fn speak<S>(&self, spoken: Spoken, stream: S, user: Shown)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(move |request| {
            let (server, stop, user) = (self.server.clone(), self.stop.clone(), user.clone());
            async move { Ok::<_, Infallible>(answer(&server, &stop, user, request).await) }
        });
        let mut stop = self.stop.clone();
        // Both arms look alike, but hyper's two connections have no trait in common.
        let ended = match spoken {
            Spoken::Http1 => {
                let connection =
                    http1(&self.limits).serve_connection(TokioIo::new(Lenient::new(stream)), service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = stop.wait() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                }
            }
            Spoken::Http2 => {
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
    user: Shown,
    mut request: Request<Incoming>,
) -> Response<Served> {
    match user {
        Shown::Nothing => {}
        Shown::User(user) => {
            request.extensions_mut().insert(user);
        }
        Shown::Unverified(unverified) => {
            request.extensions_mut().insert(unverified);
        }
    }
    server.serve(request).await.map(|body| Served::new(body, stop))
}

fn http1(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.idle);
    builder
}

fn http2(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .keep_alive_interval(limits.ping_every)
        .keep_alive_timeout(limits.ping_patience)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
    builder
}

/// Most bodies fit, so that their senders need not wait for more room.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
/// What all requests of a connection may send before any of it is read: four bodies of the largest size.
const CONNECTION_WINDOW_BYTES: u32 = 12 << 20;
