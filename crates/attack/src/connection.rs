//! A connection to the server, over TLS, on which HTTP/1.1 or anything else is sent.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::case::Message;
use crate::http1::{self, Response};

/// How long a connection may take to be made.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// The address of the server, and the configuration of TLS.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) address: String,
    pub(crate) tls: Arc<ClientConfig>,
}

/// A connection over TLS.
pub(crate) struct Connection {
    stream: BufReader<TlsStream<TcpStream>>,
    host: String,
}

impl Endpoint {
    /// Connects over TLS and requests a protocol: `http/1.1` or `h2`.
    pub(crate) async fn connect(&self, protocol: &[u8]) -> io::Result<TlsStream<TcpStream>> {
        let connecting = async {
            let socket = TcpStream::connect(&self.address).await?;
            let _ = socket.set_nodelay(true);
            let mut config = (*self.tls).clone();
            config.alpn_protocols = vec![protocol.to_vec()];
            TlsConnector::from(Arc::new(config)).connect(self.server_name()?, socket).await
        };
        tokio::time::timeout(CONNECT_LIMIT, connecting)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    fn server_name(&self) -> io::Result<ServerName<'static>> {
        let host = self.address.rsplit_once(':').map_or(self.address.as_str(), |(host, _)| host);
        ServerName::try_from(host.to_owned()).map_err(io::Error::other)
    }
}

impl Connection {
    /// Opens a connection of HTTP/1.1.
    pub(crate) async fn open(endpoint: &Endpoint) -> io::Result<Self> {
        let stream = BufReader::new(endpoint.connect(b"http/1.1").await?);
        Ok(Self { stream, host: endpoint.address.clone() })
    }

    /// Sends a request, with the token unless that is empty, and reads the whole response.
    pub(crate) async fn send(&mut self, message: &Message, token: &str) -> io::Result<Response> {
        self.write(message, token).await?;
        let mut response = self.read_head().await?;
        self.read_body(message.method, &mut response).await?;
        Ok(response)
    }

    /// Sends a request. It is not an error if the server stops reading, because it may have responded.
    pub(crate) async fn write(&mut self, message: &Message, token: &str) -> io::Result<()> {
        let stream = self.stream.get_mut();
        match write_message(stream, message, &self.host, token).await {
            Err(error) if is_closed(&error) => Ok(()),
            written => written,
        }
    }

    pub(crate) async fn read_head(&mut self) -> io::Result<Response> {
        http1::read_head(&mut self.stream).await
    }

    pub(crate) async fn read_body(&mut self, method: &str, response: &mut Response) -> io::Result<()> {
        http1::read_body(&mut self.stream, method, response).await
    }
}

/// Writes a request, with the token unless that is empty.
pub(crate) async fn write_message(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &Message,
    host: &str,
    token: &str,
) -> io::Result<()> {
    stream.write_all(&http1::encode_head(message, host, token)).await?;
    stream.write_all(&message.body).await?;
    stream.flush().await
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
