//! Accepts connections until shutdown; then they have a grace period.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::ApiServer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::connection::Connections;
use crate::stop::Stop;
use crate::tls::Transport;

/// The limits of connections.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// The timeout of a TLS handshake.
    pub handshake: Duration,
    /// The timeout of an idle HTTP/1.1 connection, and of a request's head.
    pub idle: Duration,
    /// The maximum number of concurrent requests of one HTTP/2 connection. A client has all its watches on one.
    pub streams: u32,
    /// The ping period of an idle HTTP/2 connection.
    pub ping_every: Duration,
    /// The timeout of a ping.
    pub ping_timeout: Duration,
    /// How long requests may take to finish after shutdown was requested.
    pub shutdown_grace: Duration,
}

/// A bound socket for the API.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// The delay when the system has no resources for another connection.
const PAUSE: Duration = Duration::from_millis(50);

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            // As in kube-apiserver, for both.
            idle: Duration::from_secs(90),
            // kube-apiserver allows 100; a controller manager has about 60 watches.
            streams: 1000,
            ping_every: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl Listener {
    /// Binds the address. Connections wait until they are served.
    pub async fn on(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address, with the port that the system chose for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the API until shutdown, and returns when the last connection has ended.
    ///
    /// Then no connection is accepted any more, watches end, and requests have [`ConnectionLimits::shutdown_grace`]
    /// to finish.
    pub async fn serve(
        self,
        server: ApiServer,
        transport: Transport,
        limits: ConnectionLimits,
        mut stop: Stop,
    ) {
        let shutdown_grace = limits.shutdown_grace;
        let shared = Arc::new(Connections { server, transport, limits, stop: stop.clone() });
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = stop.wait() => break,
                accepted = self.socket.accept() => match accepted {
                    Ok((socket, _)) => {
                        connections.spawn(Arc::clone(&shared).serve(socket));
                    }
                    Err(error) => refused(&error).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(self.socket);
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(shutdown_grace, all).await.is_err() {
            tracing::warn!(connections = connections.len(), "cut off, they did not finish in time");
            connections.shutdown().await;
        }
    }
}

/// A client that is gone already is ignored; a system without resources needs a moment.
async fn refused(error: &io::Error) {
    if error.kind() != io::ErrorKind::ConnectionAborted {
        tracing::warn!(%error, "cannot accept a connection");
        tokio::time::sleep(PAUSE).await;
    }
}
