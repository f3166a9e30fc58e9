//! Opens connections: TCP, TLS, timeouts, and the fence of a lease.
//!
//! Between the check of a request and its first byte on the socket, a request passes queues and tasks of the HTTP
//! client, and the process may be stopped at any of them. So the fence is checked again where bytes are handed to the
//! operating system, in the same call. What remains is a stop between that check and the system call itself, and a
//! network that delivers late: only a server that knows the lease could refuse those.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig as TlsConfig;
use tokio::net::TcpStream;
use tower::Service;

use super::config::{ClientConfig, ConfigError};
use crate::write_fence::WriteFence;

/// Opens connections to a server.
pub(super) type ServerConnector = TimeoutConnector<HttpsConnector<FencedConnector>>;

/// The versions of HTTP that are offered to the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Versions {
    /// One request at a time on each connection.
    Http1,
    /// Also HTTP/2: all requests share a connection, if the server chooses it.
    All,
}

/// Returns the connector of a configuration. While the fence is closed, nothing is written on its connections.
pub(super) fn connector(
    config: &ClientConfig,
    tls: TlsConfig,
    versions: Versions,
    fence: Option<WriteFence>,
) -> Result<ServerConnector, ConfigError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    let builder = match &config.tls_server_name {
        Some(_) => builder.with_server_name_resolver(FixedServerNameResolver::new(config.server_name()?)),
        None => builder,
    };
    let fenced = FencedConnector { http, fence };
    let mut connector = TimeoutConnector::new(match versions {
        Versions::Http1 => builder.enable_http1().wrap_connector(fenced),
        Versions::All => builder.enable_all_versions().wrap_connector(fenced),
    });
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    // The time for a response begins when the request is sent, also on a connection that was idle.
    connector.set_reset_reader_on_write(true);
    Ok(connector)
}

#[derive(Clone)]
pub(super) struct FencedConnector {
    http: HttpConnector,
    fence: Option<WriteFence>,
}

/// A stream on which nothing is written while the fence is closed.
pub(super) struct FencedStream<S> {
    stream: S,
    fence: Option<WriteFence>,
}

type Connecting =
    Pin<Box<dyn Future<Output = Result<FencedStream<TokioIo<TcpStream>>, ConnectError>> + Send>>;
type ConnectError = <HttpConnector as Service<Uri>>::Error;

impl Service<Uri> for FencedConnector {
    type Response = FencedStream<TokioIo<TcpStream>>;
    type Error = ConnectError;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.http.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        let (connecting, fence) = (self.http.call(uri), self.fence.clone());
        Box::pin(async move { Ok(FencedStream { stream: connecting.await?, fence }) })
    }
}

impl<S: Unpin> FencedStream<S> {
    /// The stream, if the fence is open.
    fn open(&mut self) -> io::Result<Pin<&mut S>> {
        match self.fence.as_ref().map(WriteFence::check) {
            None | Some(Ok(_)) => Ok(Pin::new(&mut self.stream)),
            Some(Err(closed)) => Err(io::Error::other(closed)),
        }
    }
}

impl<S: Read + Unpin> Read for FencedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: Write + Unpin> Write for FencedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write_vectored(context, buffers)
    }
}

impl<S: Connection> Connection for FencedStream<S> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use http::Request;
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::ApiTransport;

    /// A server that counts the requests it receives, and responds to each.
    async fn counting_server() -> (String, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let count = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&count);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let counter = Arc::clone(&counter);
                tokio::spawn(async move {
                    let mut bytes = [0; 4096];
                    while stream.read(&mut bytes).await.is_ok_and(|length| length > 0) {
                        counter.fetch_add(1, Ordering::SeqCst);
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
                    }
                });
            }
        });
        (url, count)
    }

    #[tokio::test]
    async fn nothing_reaches_the_server_while_the_fence_is_closed() {
        let (url, count) = counting_server().await;
        let fence = WriteFence::new(|| Duration::from_secs(100));
        let config = ClientConfig::new(url.parse().unwrap());
        let client = ApiTransport::connect_fenced(&config, &fence).unwrap();
        let send = async || client.send(Request::post("/").body(Full::default()).unwrap()).await;
        assert!(send().await.unwrap().status().is_success());
        fence.close();
        // On the connection that is open, and on a new one.
        for _ in 0..3 {
            let error = send().await.unwrap_err();
            assert!(
                crate::error_chain(&error).contains("the lease of this process may have expired"),
                "{error:?}"
            );
        }
        assert_eq!(count.load(Ordering::SeqCst), 1);
        fence.open();
        assert!(send().await.unwrap().status().is_success());
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }
}
