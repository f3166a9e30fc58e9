//! Connections are accepted until it is time to stop; then everybody gets a while to finish.

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

/// How patient the server is with its clients.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long an HTTP/1.1 connection may be silent between requests, and how long the head of one may take.
    pub idle: Duration,
    /// How many requests one HTTP/2 connection may have at a time. A client has all its watches on one.
    pub streams: u32,
    /// How often a silent HTTP/2 connection is asked whether anybody is there.
    pub ping_every: Duration,
    /// How long the answer to that may take.
    pub ping_patience: Duration,
    /// How long requests may take to finish once the server stops.
    pub farewell: Duration,
}

/// A socket on which the API will be served.
#[derive(Debug)]
pub struct Listening {
    socket: TcpListener,
    address: SocketAddr,
}

/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            // kube-apiserver's, for both.
            idle: Duration::from_secs(90),
            // kube-apiserver allows 100; a controller manager has about 60 watches.
            streams: 1000,
            ping_every: Duration::from_secs(30),
            ping_patience: Duration::from_secs(15),
            farewell: Duration::from_secs(10),
        }
    }
}

impl Listening {
    /// Takes the address. Connections wait until they are served.
    pub async fn on(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address, with the port that the system chose if it was left to it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the API until it is time to stop, and returns when the last connection has ended.
    ///
    /// Then nobody is accepted any more, watches end, and requests have [`Limits::farewell`] to finish.
    pub async fn serve(self, server: ApiServer, transport: Transport, limits: Limits, mut stop: Stop) {
        let farewell = limits.farewell;
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
        if tokio::time::timeout(farewell, all).await.is_err() {
            tracing::warn!(connections = connections.len(), "cut off, they did not finish in time");
            connections.shutdown().await;
        }
    }
}

/// A client that is gone before it was accepted is nothing; a system without room needs a moment.
async fn refused(error: &io::Error) {
    if error.kind() != io::ErrorKind::ConnectionAborted {
        tracing::warn!(%error, "cannot accept a connection");
        tokio::time::sleep(PAUSE).await;
    }
}
